"""Gateway to the workflows of pack installs: open one, give it up, start those that were lost."""

from uuid import UUID

from temporalio.client import Client, WithStartWorkflowOperation
from uuid_utils import uuid7

from contracts.imports.pack_install import PackCancel, PackEnd, PackOrder, PackOutcome, PackStart
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import pack_install_workflow_id
from gateways.platform.updates import (
    ANSWER_WITHIN,
    Message,
    Recall,
    StartOptions,
    Update,
    id_of_key,
    start_options,
    start_or_join,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from stores.imports.pack_installs import PackInstalls
from workflows.imports.pack_install_workflow import KIND, PackInstallWorkflow

_INSTALLS = UUID("2f6c61c5-2f0a-4d0e-8d3c-6a2e0b7f4c19")
"""The UUID namespace of installs that were asked for with an idempotency key."""

_CONFLICT = "The install is changing too fast; repeat the command."


def pack_install_id_for(key: CommitKey) -> str:
    """The id of the install that a request under this key opens: the same key, the same install."""
    return id_of_key(_INSTALLS, key) or str(uuid7())


def _options(pack_install_id: str, owner: str, task_queue: str) -> StartOptions:
    return start_options(
        pack_install_workflow_id(pack_install_id),
        task_queue,
        kind=KIND,
        owner=owner,
        summary=f"install of a skill pack by {owner}"[:200],
    )


async def run_pack_install(client: Client, task_queue: str, pack_install_id: str, owner: str) -> None:
    """Starts the workflow of an install that the store has; one that runs stays.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; nothing was started.
    """
    start = PackStart(pack_install_id=pack_install_id, owner_user_id=owner)
    await start_or_join(client, PackInstallWorkflow.run, start, _options(pack_install_id, owner, task_queue))


class PackInstallGateway:
    """Sends commands to installs of packs; every failure is raised as a ``Refusal``."""

    def __init__(self, client: Client, task_queue: str, installs: PackInstalls) -> None:
        self._client = client
        self._task_queue = task_queue
        self._installs = installs

    async def open(self, order: PackOrder) -> PackOutcome:
        """Opens an install, and answers when its imports are queued. A repeated key is answered from the store.

        Raises:
            Refusal: as ``PackInstalls.open``; ``TEMPORAL_UNAVAILABLE``.
        """
        return await self._sent(
            PackInstallWorkflow.open, order, order.pack_install_id, order.commit_key, order.owner_user_id
        )

    async def cancel(self, order: PackCancel) -> PackOutcome:
        """Gives an install up, and answers when that is noted; what it did is undone then.

        Raises:
            Refusal: as ``PackInstalls.cancel``; ``TEMPORAL_UNAVAILABLE``.
        """
        owner = order.commit_key.owner_user_id
        return await self._sent(
            PackInstallWorkflow.cancel, order, order.pack_install_id, order.commit_key, owner
        )

    async def _sent(
        self,
        update: Update[Message, PackOutcome],
        order: Message,
        pack_install_id: str,
        key: CommitKey,
        owner: str,
    ) -> PackOutcome:
        async def attempt() -> PackOutcome:
            return await update_with_start(
                self._client,
                self._start(pack_install_id, owner),
                update,
                order,
                update_id=update_id_of(key),
                within=ANSWER_WITHIN,
            )

        return await update_or_recall(
            attempt,
            workflow_id=pack_install_workflow_id(pack_install_id),
            conflict=_CONFLICT,
            recall=Recall(key, self._installs.recall, tell=self._make_known),
        )

    def _start(
        self, pack_install_id: str, owner: str
    ) -> WithStartWorkflowOperation[PackInstallWorkflow, PackEnd]:
        return WithStartWorkflowOperation(
            PackInstallWorkflow.run,
            PackStart(pack_install_id=pack_install_id, owner_user_id=owner),
            **_options(pack_install_id, owner, self._task_queue),
        )

    async def _make_known(self, outcome: PackOutcome) -> None:
        present = outcome.present
        if not present.is_over:
            await run_pack_install(
                self._client, self._task_queue, present.pack_install_id, present.owner_user_id
            )
