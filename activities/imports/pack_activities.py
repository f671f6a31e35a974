"""Activities of pack installs: open, note progress, give up, end; and have the imports look at what came of them."""

from collections.abc import Callable

from temporalio import activity
from temporalio.service import RPCError, RPCStatusCode

from activities.platform.context import heartbeats
from activities.platform.refusals import refusing
from contracts.imports.pack_install import (
    PackCancel,
    PackInstall,
    PackOrder,
    PackOutcome,
    PackProgress,
    PackSeen,
    PackSettled,
    PackStart,
)
from contracts.workflow_ids import LOOK, skill_import_workflow_id
from stores.imports.pack_installs import PackInstalls


class PackActivities:
    """Each is one transaction of the store; a repeated one answers what the first came to."""

    def __init__(self, installs: PackInstalls, written: Callable[[], None]) -> None:
        """``written`` is called after each commit, to have the files projected."""
        self._installs = installs
        self._written = written

    @activity.defn
    @refusing
    def read_pack_install(self, start: PackStart) -> PackSeen:
        """The install as the store has it."""
        return PackSeen(present=self._installs.find(start.pack_install_id))

    @activity.defn
    @refusing
    def open_pack_install(self, order: PackOrder) -> PackOutcome:
        """Opens the install and queues its imports."""
        outcome = self._installs.open(order)
        self._written()
        return outcome

    @activity.defn
    @refusing
    def cancel_pack_install(self, order: PackCancel) -> PackOutcome:
        """Notes that the install is given up."""
        outcome = self._installs.cancel(order)
        self._written()
        return outcome

    @activity.defn
    @refusing
    def note_pack_progress(self, progress: PackProgress) -> PackInstall:
        """Notes how far the install has come."""
        return self._installs.note(progress)

    @activity.defn
    @refusing
    def settle_pack_install(self, settled: PackSettled) -> PackInstall:
        """Ends the install and its imports."""
        present = self._installs.settle(settled)
        self._written()
        return present

    @activity.defn
    async def tell_imports(self, present: PackInstall) -> int:
        """Has the workflows of the install's imports look at the store; how many run."""
        told = 0
        client = activity.client()
        async with heartbeats():
            for step in present.members:
                if step.import_id is None:
                    continue
                handle = client.get_workflow_handle(skill_import_workflow_id(step.import_id))
                try:
                    await handle.signal(LOOK)
                except RPCError as error:
                    # One that does not run reads the store when it is opened again.
                    if error.status is not RPCStatusCode.NOT_FOUND:
                        raise
                else:
                    told += 1
        return told
