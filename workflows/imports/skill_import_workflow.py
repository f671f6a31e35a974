"""One import of a skill bundle: scanned, staged, parked for review, decided (DOC3 §0C.20)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.imports.import_activities import ImportActivities
    from contracts.base import rfc3339
    from contracts.errors import ErrorCode
    from contracts.imports.import_record import RetryKind
    from contracts.imports.import_record import SkillImportState as S
    from contracts.imports.import_rules import WORKING, allowed_commands, objection
    from contracts.imports.import_work import (
        ImportCommand,
        ImportEnd,
        ImportOrder,
        ImportOutcome,
        ImportStart,
        ImportWork,
        SkillImport,
        WorkDone,
        WorkSettled,
    )
    from contracts.workflow_ids import LOOK
    from workflows.imports.import_install import install_import, tried
    from workflows.platform.presets import IMPORT_WORK, STORE_CALL
    from workflows.platform.refusals import application_error_in, refused
    from workflows.platform.search_attributes import STATE_ATTRIBUTE

KIND = "skill_import"

EXPIRED = WorkDone(
    error_code=ErrorCode.SKILL_IMPORT_UPLOAD_EXPIRED.value,
    error="The upload expired before its scan ended.",
    expired=True,
)


@workflow.defn(name="SkillImportWorkflow")
class SkillImportWorkflow:
    """Takes commands as updates, does the work that they begin, and ends with the import.

    The store has the last word: every change is one commit there, and the run takes the standing that it answers.
    A review is parked without a deadline; an upload that expires during its scan ends the import.
    """

    @workflow.init
    def __init__(self, start: ImportStart) -> None:
        self._start = start
        self._present: SkillImport | None = None
        self._read = False
        self._behind = False
        self._commands = 0
        self._turn = asyncio.Lock()
        self._show()

    @workflow.run
    async def run(self, start: ImportStart) -> ImportEnd:
        """Lives until the import is over and everybody who asked has been answered."""
        seen = await workflow.execute_local_activity_method(
            ImportActivities.read_import, start, summary="read", **STORE_CALL
        )
        self._take(seen.present)
        self._read = True
        while not self._is_over():
            kind = self._work_to_do()
            if self._behind:
                await self._look()
            elif kind is not None:
                await self._work(kind)
            else:
                await self._rest()
        await workflow.wait_condition(workflow.all_handlers_finished)
        return ImportEnd(import_id=start.import_id, state=self._present.state if self._present else None)

    def _work_to_do(self) -> RetryKind | None:
        """The step that is under way; the install of a pack's member is its pack's."""
        present = self._present
        if present is None or (present.state is S.INSTALL_QUEUED and present.pack_install_id is not None):
            return None
        return WORKING.get(present.state)

    async def _look(self) -> None:
        self._behind = False
        seen = await workflow.execute_local_activity_method(
            ImportActivities.read_import, self._start, summary="read again", **STORE_CALL
        )
        self._take(seen.present)

    def _is_over(self) -> bool:
        if self._present is None:
            # A run that was opened by a command that the store refused has nothing to wait for.
            return self._read and self._commands == 0 and workflow.all_handlers_finished()
        return self._present.is_over

    # ---- what others say ----

    @workflow.signal(name=LOOK, description="The store may know more: a pack has installed it, or given up")
    def look(self) -> None:
        self._behind = True

    @workflow.update(description="Take a command: scan, stage, approve, reject, install, discard, retry")
    async def command(self, order: ImportOrder) -> ImportOutcome:
        """Answers when the work that the command begins has ended."""
        self._commands += 1
        try:
            await workflow.wait_condition(lambda: self._read)
            async with self._turn:
                outcome = await self._commit(order.changed(at=workflow.now()))
            await workflow.wait_condition(lambda: self._present is None or self._present.state not in WORKING)
            assert self._present is not None, "what was committed is there"
            return outcome.changed(present=self._present)
        finally:
            self._commands -= 1

    @command.validator
    def _may_be_taken(self, order: ImportOrder) -> None:
        if (order.import_id, order.owner_user_id) != (self._start.import_id, self._start.owner_user_id):
            raise refused(ErrorCode.SKILL_IMPORT_NOT_FOUND, "There is no such import of yours.")
        self._refuse_state(order)

    def _refuse_state(self, order: ImportOrder) -> None:
        """Refuses what the state forbids before it is in the history; repeats are answered by the gateway."""
        present = self._present
        if present is None or order.command is ImportCommand.SCAN:
            return
        refusal = objection(present, order, workflow.now())
        if refusal is not None:
            raise refused(refusal.code, refusal.message, refusal.extra)

    async def _commit(self, order: ImportOrder) -> ImportOutcome:
        try:
            outcome = await workflow.execute_local_activity_method(
                ImportActivities.command_import, order, summary=order.command.value, **STORE_CALL
            )
        except FailureError as error:
            raise application_error_in(error) from None
        self._take(outcome.present)
        return outcome

    # ---- the work ----

    async def _work(self, kind: RetryKind) -> None:
        present = self._there()
        work = ImportWork(import_id=present.import_id, at=workflow.now())
        if kind is RetryKind.SCAN:
            left = present.upload_expires_at - workflow.now()
            done = await self._within(left, lambda: self._scan(work))
        elif kind is RetryKind.STAGE:
            done = await tried(lambda: self._stage(work))
        else:
            done = await tried(lambda: install_import(work))
        settled = WorkSettled(import_id=present.import_id, kind=kind, done=done, at=workflow.now())
        async with self._turn:
            self._take(
                await workflow.execute_local_activity_method(
                    ImportActivities.settle_import, settled, summary=f"{kind.value} ended", **STORE_CALL
                )
            )

    async def _within(self, left: timedelta, act: Callable[[], Awaitable[WorkDone]]) -> WorkDone:
        """The work, or that the upload expired before it had ended."""
        if left <= timedelta():
            return EXPIRED
        working = asyncio.create_task(tried(act))
        try:
            await workflow.wait_condition(working.done, timeout=left, timeout_summary="the upload expires")
        except TimeoutError:
            working.cancel()
            with suppress(FailureError, asyncio.CancelledError):
                await working
            return EXPIRED
        return working.result()

    async def _scan(self, work: ImportWork) -> WorkDone:
        return await workflow.execute_activity_method(
            ImportActivities.scan_bundle, work, summary="unpack, read, scan", **IMPORT_WORK
        )

    async def _stage(self, work: ImportWork) -> WorkDone:
        return await workflow.execute_activity_method(
            ImportActivities.stage_bundle, work, summary="keep its files for review", **IMPORT_WORK
        )

    async def _rest(self) -> None:
        """Waits for the next command; when the upload expires, the details say so."""
        version = self._present.version if self._present is not None else None

        def changed() -> bool:
            now = self._present.version if self._present is not None else None
            return now != version or self._behind or self._is_over()

        left = self._left()
        try:
            await workflow.wait_condition(changed, timeout=left, timeout_summary="the upload expires")
        except TimeoutError:
            self._show()

    def _left(self) -> timedelta | None:
        if self._present is None or self._present.state is not S.SCAN_COMPLETE:
            return None
        left = self._present.upload_expires_at - workflow.now()
        return left if left > timedelta() else None

    # ---- what is known ----

    def _there(self) -> SkillImport:
        assert self._present is not None, "there is work only on an import that exists"
        return self._present

    def _take(self, present: SkillImport | None) -> None:
        if present is None or (self._present is not None and present.version < self._present.version):
            return
        before, self._present = self._present, present
        if before is None or before.state is not present.state:
            workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
                [STATE_ATTRIBUTE.value_set(present.state.value)]
            )
        self._show()

    def _show(self) -> None:
        present = self._present
        if present is None:
            workflow.set_current_details(f"**Import** `{self._start.import_id}`: not opened yet")
            return
        record = present.record
        takes = ", ".join(allowed_commands(present.state)) or "nothing more"
        lines = [
            f"**{record.skill_name}** from {record.original_filename or record.source.value}",
            f"- state: **{present.state.value}** since {rfc3339(record.updated_at)}",
            f"- takes: {takes}",
        ]
        if record.last_error_code is not None:
            lines.append(f"- last error: {record.last_error_code}")
        if present.state in (S.SCANNING, S.SCAN_FAILED, S.SCAN_COMPLETE, S.STAGE_FAILED):
            gone = present.upload_expires_at <= workflow.now()
            lines.append(f"- upload {'expired' if gone else 'expires'} {rfc3339(present.upload_expires_at)}")
        workflow.set_current_details("\n".join(lines))
