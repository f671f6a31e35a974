"""Installs a pack of skills as a saga of the install sagas of its members: all of them, or none (DOC3 §0C.20)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.imports.pack_activities import PackActivities
    from contracts.base import rfc3339
    from contracts.errors import ErrorCode
    from contracts.imports.import_work import ImportWork, WorkDone
    from contracts.imports.pack_install import (
        PackCancel,
        PackEnd,
        PackInstall,
        PackOrder,
        PackOutcome,
        PackProgress,
        PackSettled,
        PackStart,
        PackStep,
        PackStepState,
    )
    from contracts.learning.install import InstallSagaInput, SagaState
    from workflows.imports.import_install import install_import, prepare, tried
    from workflows.learning.install_saga_workflow import CompensationStack, undo_saga_of
    from workflows.platform.presets import RELEASE_CALL, STORE_CALL
    from workflows.platform.refusals import application_error_in, refused
    from workflows.platform.search_attributes import STATE_ATTRIBUTE

KIND = "pack_install"

CANCELLED = WorkDone(error_code="CANCELLED", error="The install was given up.")

BEGUN = frozenset({PackStepState.INSTALLING, PackStepState.INSTALLED, PackStepState.FAILED})
"""Members whose saga may have done something, as the store has them."""


class Failure(NamedTuple):
    """Why the pack is not installed, and for which of its members where it is one of them."""

    done: WorkDone
    skill: str | None = None


class Begun(NamedTuple):
    """A member whose saga may have done something."""

    skill: str
    saga: InstallSagaInput


@workflow.defn(name="PackInstallWorkflow")
class PackInstallWorkflow:
    """Installs the members one after another, in the order of their dependencies.

    Each member goes the way of a single import: draft, checks, saga. Its undo is registered before its saga runs. Where
    one fails, or the install is given up, the sagas of those before it are undone in reverse; what was here before the
    install stays. All imports change their state in the one transaction that ends the install.
    """

    @workflow.init
    def __init__(self, start: PackStart) -> None:
        self._start = start
        self._present: PackInstall | None = None
        self._read = False
        self._commands = 0
        self._turn = asyncio.Lock()
        self._undo = CompensationStack(self._undo_member)
        self._show()

    @workflow.run
    async def run(self, start: PackStart) -> PackEnd:
        """Lives until the install has ended and everybody who asked has been answered."""
        seen = await workflow.execute_local_activity_method(
            PackActivities.read_pack_install, start, summary="read", **STORE_CALL
        )
        self._take(seen.present)
        self._read = True
        await workflow.wait_condition(lambda: self._present is not None or self._has_nothing_to_do())
        cancelled = False
        if self._present is not None and not self._present.is_over:
            cancelled = await self._install()
        await workflow.wait_condition(workflow.all_handlers_finished)
        if cancelled:
            raise asyncio.CancelledError
        return PackEnd(
            pack_install_id=start.pack_install_id, state=self._present.state if self._present else None
        )

    def _has_nothing_to_do(self) -> bool:
        """Whether the run was opened by a command that the store refused."""
        return self._commands == 0 and workflow.all_handlers_finished()

    # ---- what others say ----

    @workflow.update(description="Open the install: its imports are queued, all of them or none")
    async def open(self, order: PackOrder) -> PackOutcome:
        """Answers when the install is open; read it to see what comes of it."""
        return await self._commit(
            lambda: workflow.execute_local_activity_method(
                PackActivities.open_pack_install,
                order.changed(at=workflow.now()),
                summary=f"open {order.pack_id}",
                **STORE_CALL,
            )
        )

    @open.validator
    def _may_be_opened(self, order: PackOrder) -> None:
        self._refuse_other(order.pack_install_id, order.owner_user_id)

    @workflow.update(description="Give the install up: what it did is undone")
    async def cancel(self, order: PackCancel) -> PackOutcome:
        """Answers when it is noted; the undo follows."""
        return await self._commit(
            lambda: workflow.execute_local_activity_method(
                PackActivities.cancel_pack_install,
                order.changed(at=workflow.now()),
                summary="give up",
                **STORE_CALL,
            )
        )

    @cancel.validator
    def _may_be_cancelled(self, order: PackCancel) -> None:
        self._refuse_other(order.pack_install_id, order.commit_key.owner_user_id)
        present = self._present
        if present is not None and present.state is not SagaState.RUNNING:
            raise refused(
                ErrorCode.CONFLICT,
                f"The install is {present.state.value}; it takes no command any more.",
                {"current_state": present.state.value, "retryable": False},
            )

    def _refuse_other(self, pack_install_id: str, owner: str) -> None:
        if (pack_install_id, owner) != (self._start.pack_install_id, self._start.owner_user_id):
            raise refused(
                ErrorCode.SKILL_PACK_INSTALL_NOT_FOUND, "There is no such install of a pack of yours."
            )

    async def _commit(self, act: Callable[[], Awaitable[PackOutcome]]) -> PackOutcome:
        self._commands += 1
        try:
            await workflow.wait_condition(lambda: self._read)
            async with self._turn:
                outcome = await act()
            self._take(outcome.present)
            return outcome
        except FailureError as error:
            raise application_error_in(error) from None
        finally:
            self._commands -= 1

    # ---- the work ----

    async def _install(self) -> bool:
        """Installs the pack or undoes it; whether the workflow itself was cancelled."""
        failure, cancelled = await self._members_installed()
        if failure is not None:
            undoing = asyncio.create_task(self._roll_back(failure))
            while not undoing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.shield(undoing)
            undoing.result()
        await workflow.execute_activity_method(
            PackActivities.tell_imports, self._there(), summary="have its imports look", **RELEASE_CALL
        )
        return cancelled

    async def _members_installed(self) -> tuple[Failure | None, bool]:
        """Why the members are not installed; None where they are. And whether the workflow was cancelled."""
        cancelled = False
        working = asyncio.create_task(self._each_member())
        try:
            await workflow.wait_condition(lambda: working.done() or self._there().cancel_asked)
        except asyncio.CancelledError:
            cancelled = True
        if not working.done():
            working.cancel()
        try:
            failure = await working
        except (FailureError, asyncio.CancelledError) as error:
            if not is_cancelled_exception(error):
                raise
            failure = Failure(CANCELLED)
        if failure is not None and (cancelled or self._there().cancel_asked):
            # A saga that is cancelled ends as one that has failed.
            failure = Failure(CANCELLED)
        return failure, cancelled

    async def _each_member(self) -> Failure | None:
        await self._remember_begun()
        if self._there().state is SagaState.COMPENSATING:
            present = self._there()
            return Failure(WorkDone(error_code=present.error_code, error=present.error))
        for step in self._there().members:
            if step.state is not PackStepState.KEPT:
                failure = await self._member(step)
                if failure is not None:
                    return failure
        try:
            await self._settle(SagaState.INSTALLED)
        except FailureError as error:
            if application_error_in(error).type != ErrorCode.CONFLICT:
                raise
            return Failure(CANCELLED)
        return None

    async def _remember_begun(self) -> None:
        """Registers the undos of a run that Temporal has lost."""
        for step in self._there().members:
            if step.state in BEGUN and step.import_id is not None:
                prepared = await prepare(ImportWork(import_id=step.import_id, at=workflow.now()))
                self._undo.push(Begun(step.skill, prepared.saga))

    async def _member(self, step: PackStep) -> Failure | None:
        assert step.import_id is not None, "a member that is not kept is an import"
        await self._note(step.skill, PackStepState.INSTALLING)
        work = ImportWork(import_id=step.import_id, at=workflow.now())

        def before_saga(saga: InstallSagaInput) -> None:
            self._undo.push(Begun(step.skill, saga))

        done = await tried(lambda: install_import(work, before_saga))
        if done.error_code is None:
            await self._note(step.skill, PackStepState.INSTALLED)
            return None
        return Failure(done, step.skill)

    async def _roll_back(self, failure: Failure) -> None:
        state = PackStepState.FAILED if failure.skill is not None else None
        await self._note(failure.skill, state, failure.done, undoing=True)
        if self._there().is_over:
            return
        stuck = await self._undo.unwind()
        await self._settle(SagaState.ROLLBACK_FAILED if stuck else SagaState.ROLLED_BACK)

    async def _undo_member(self, begun: Begun) -> None:
        undone = await undo_saga_of(begun.saga, f"The pack {self._there().pack_id} was not installed.")
        if not undone:
            await self._note(begun.skill, PackStepState.ROLLBACK_FAILED)
            raise refused(ErrorCode.INTERNAL_ERROR, f"{begun.skill} could not be undone.")
        if self._state_of(begun.skill) is not PackStepState.FAILED:
            await self._note(begun.skill, PackStepState.ROLLED_BACK)

    def _state_of(self, skill: str) -> PackStepState:
        return next(one.state for one in self._there().members if one.skill == skill)

    async def _note(
        self,
        skill: str | None,
        state: PackStepState | None,
        done: WorkDone | None = None,
        *,
        undoing: bool = False,
    ) -> None:
        progress = PackProgress(
            pack_install_id=self._start.pack_install_id,
            at=workflow.now(),
            skill=skill,
            state=state,
            undoing=undoing,
            done=done,
        )
        self._take(
            await workflow.execute_local_activity_method(
                PackActivities.note_pack_progress,
                progress,
                summary=f"{skill or 'the pack'}: {state.value if state else 'undo'}",
                **STORE_CALL,
            )
        )

    async def _settle(self, state: SagaState) -> None:
        settled = PackSettled(pack_install_id=self._start.pack_install_id, at=workflow.now(), state=state)
        self._take(
            await workflow.execute_local_activity_method(
                PackActivities.settle_pack_install, settled, summary=state.value, **STORE_CALL
            )
        )

    # ---- what is known ----

    def _there(self) -> PackInstall:
        assert self._present is not None, "there is work only on an install that is open"
        return self._present

    def _take(self, present: PackInstall | None) -> None:
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
            workflow.set_current_details(f"**Pack install** `{self._start.pack_install_id}`: not opened yet")
            return
        lines = [
            f"**{present.pack_id}**, version {present.pack_version} → `{present.target_scope.value}`",
            f"- state: **{present.state.value}** since {rfc3339(present.updated_at)}",
        ]
        if present.cancel_asked:
            lines.append("- was given up")
        if present.error is not None:
            lines.append(f"- not installed: {present.error}")
        lines += ["", "| skill | state |", "|---|---|"]
        lines += [f"| {one.skill} | {one.state.value} |" for one in present.members]
        workflow.set_current_details("\n".join(lines))
