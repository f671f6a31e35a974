"""Store of the installs of packs: opened with all of their imports or not at all, and ended with all of them.

While an install runs, the imports of its members are ``install_queued`` and wait for their sagas; so each of these can
still be undone after it has installed.
"""

from datetime import datetime

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_record import RetryKind, SkillImportState
from contracts.imports.import_work import ImportCommand, ImportOrder, SkillImport, WorkDone, WorkSettled
from contracts.imports.pack_install import (
    PackCancel,
    PackInstall,
    PackOrder,
    PackOutcome,
    PackProgress,
    PackReceipt,
    PackSettled,
    PackStep,
    PackStepState,
)
from contracts.imports.pack_members import PackMember, PackMemberState, StoredPack
from contracts.imports.packs import MOST_MEMBERS
from contracts.learning.install import SagaState
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import pack_install_workflow_id
from domain.imports.pack_plan import PackPlan
from stores.imports.import_tables import IMPORTS
from stores.imports.imports import command_within, settle_within
from stores.imports.pack_plans import plan_of
from stores.imports.pack_tables import PACK_INSTALLS, PACKS, skill_pack_installs
from stores.imports.packs import refuse_other_version
from stores.platform.answers import recalled, remember
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, JournalEntries, append

ROLLED_BACK = "PACK_ROLLED_BACK"
"""The last error of an import that would have been installed, had another member of its pack not failed."""


_GOING_ON = skill_pack_installs.c.state.in_((SagaState.RUNNING.value, SagaState.COMPENSATING.value))


class PackInstalls:
    """The installs of all users. Safe to share between threads; every change may be tried again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, pack_install_id: str) -> PackInstall | None:
        """An install of any owner; None before it was opened."""
        with self._database.read() as connection:
            return PACK_INSTALLS.find(connection, pack_install_id)

    def owned(self, pack_install_id: str, owner: str) -> PackInstall:
        """The owner's install.

        Raises:
            Refusal: ``SKILL_PACK_INSTALL_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return PACK_INSTALLS.owned(connection, pack_install_id, owner)

    def not_over(self) -> tuple[PackInstall, ...]:
        """Every install that has not ended, for the worker to start the workflows that Temporal has lost."""
        table = skill_pack_installs.c
        with self._database.read() as connection:
            return PACK_INSTALLS.all(connection, _GOING_ON, order_by=(table.pack_install_id,))

    def recall(self, key: CommitKey) -> PackOutcome | None:
        """What an earlier command with this key came to, with the install as it stands.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            return _recalled(connection, key)

    def open(self, order: PackOrder) -> PackOutcome:
        """Opens an install: every import of it is queued, or none.

        Raises:
            Refusal: ``SKILL_PACK_NOT_FOUND``, ``CONFLICT`` for another version or while it is being installed,
                ``SKILL_PACK_TOO_LARGE``,
                ``SKILL_PACK_MEMBER_UNAVAILABLE``, ``SKILL_DEPENDENCY_MISSING``, ``SKILL_PACK_DEPENDENCY_CYCLE``,
                ``UNPROVED_NOT_ACCEPTED``, and what an import refuses.
        """
        assert order.at is not None, "the workflow sets the time"
        with self._database.write() as connection:
            known = _recalled(connection, order.commit_key)
            if known is not None:
                return known
            pack = PACKS.get(connection, (order.owner_user_id, order.pack_id), lock=True)
            refuse_other_version(pack, order.expected_version)
            _refuse_second(connection, pack)
            plan = plan_of(connection, pack)
            _refuse(plan, order)
            entries = _entries(order.pack_install_id, order.owner_user_id, order.correlation_id, order.at)
            drafts: list[JournalDraft] = []
            steps: list[PackStep] = []
            for member in plan.members:
                queued = _queued(connection, member, order, order.at, drafts)
                steps.append(_step(member, queued))
            present = _opened(order, pack, tuple(steps), order.at)
            PACK_INSTALLS.add(connection, present)
            said = f"{pack.pack_id}, version {pack.version}: {', '.join(one.skill for one in steps)}"
            receipt = _receipt(entries, Receipt.PACK_INSTALL_REQUESTED, said)
            append(connection, (*drafts, *entries.drafts))
            kept = PackReceipt(pack_install_id=present.pack_install_id, receipt_id=receipt)
            remember(connection, order.commit_key, kept, order.at)
            return PackOutcome(receipt=kept, present=present)

    def cancel(self, order: PackCancel) -> PackOutcome:
        """Notes that the install is given up; its workflow undoes it.

        Raises:
            Refusal: ``SKILL_PACK_INSTALL_NOT_FOUND``; ``CONFLICT`` where it has ended or is being undone.
        """
        assert order.at is not None, "the workflow sets the time"
        with self._database.write() as connection:
            known = _recalled(connection, order.commit_key)
            if known is not None:
                return known
            owner = order.commit_key.owner_user_id
            before = PACK_INSTALLS.owned(connection, order.pack_install_id, owner, lock=True)
            refuse_over(before)
            entries = _entries(before.pack_install_id, owner, order.correlation_id, order.at)
            receipt = _receipt(entries, Receipt.PACK_INSTALL_CANCELLED, order.reason or before.pack_id)
            append(connection, entries.drafts)
            present = _written(connection, before, before.changed(cancel_asked=True), order.at)
            kept = PackReceipt(pack_install_id=present.pack_install_id, receipt_id=receipt)
            remember(connection, order.commit_key, kept, order.at)
            return PackOutcome(receipt=kept, present=present)

    def note(self, progress: PackProgress) -> PackInstall:
        """Notes how far the install has come; nothing where it has ended."""
        with self._database.write() as connection:
            before = PACK_INSTALLS.get(connection, progress.pack_install_id, lock=True)
            after = before if before.is_over else _noted(before, progress)
            return before if after == before else _written(connection, before, after, progress.at)

    def settle(self, settled: PackSettled) -> PackInstall:
        """Ends the install, and with it each of its imports: installed, or failed.

        Raises:
            Refusal: ``CONFLICT`` where it was to be installed and was given up meanwhile.
        """
        with self._database.write() as connection:
            before = PACK_INSTALLS.get(connection, settled.pack_install_id, lock=True)
            if before.is_over:
                return before
            installed = settled.state is SagaState.INSTALLED
            if installed and (before.cancel_asked or before.state is not SagaState.RUNNING):
                raise Refusal(ErrorCode.CONFLICT, "The install was given up meanwhile.", retryable=False)
            drafts = _settle_imports(connection, before, settled)
            entries = _entries(
                before.pack_install_id, before.owner_user_id, before.correlation_id, settled.at
            )
            kind = Receipt.PACK_INSTALLED if installed else Receipt.PACK_INSTALL_FAILED
            entries.receipt(kind, f"{before.pack_id}: {before.error or 'all of it'}")
            append(connection, (*drafts, *entries.drafts))
            return _written(connection, before, before.changed(state=settled.state), settled.at)


def refuse_over(present: PackInstall) -> None:
    """Refuses a command to an install that takes none.

    Raises:
        Refusal: ``CONFLICT``.
    """
    if present.state is not SagaState.RUNNING:
        raise Refusal(
            ErrorCode.CONFLICT,
            f"The install is {present.state.value}; it takes no command any more.",
            current_state=present.state.value,
            retryable=False,
        )


def _refuse_second(connection: Connection, pack: StoredPack) -> None:
    """Refuses a second install of a pack: it would take older imports of the members that the first one installs."""
    installs = skill_pack_installs.c
    of_pack = (installs.owner == pack.owner_user_id, installs.pack_id == pack.pack_id)
    running = PACK_INSTALLS.first(connection, *of_pack, _GOING_ON)
    if running is not None:
        raise Refusal(
            ErrorCode.CONFLICT,
            f"The pack is being installed ({running.pack_install_id}); wait for its end or give it up, then read it.",
            pack_install_id=running.pack_install_id,
            retryable=False,
        )


def _refuse(plan: PackPlan, order: PackOrder) -> None:
    if plan.problems:
        first = plan.problems[0]
        raise Refusal(
            ErrorCode(first.code),
            first.message,
            skills=list(first.skills),
            limit=MOST_MEMBERS,
            problems=[one.model_dump(mode="json") for one in plan.problems],
        )
    digest = plan.unproved_digest
    if digest is None or (order.accept_unproved and order.unproved_digest in (None, digest)):
        return
    raise Refusal(
        ErrorCode.UNPROVED_NOT_ACCEPTED,
        "What is not proved has changed since it was read; read the pack again."
        if order.accept_unproved
        else "Nothing has shown that these skills work. Read the pack, then send accept_unproved, or install it with "
        "`packs install --accept-unproved`.",
        unproved=[step.model_dump(mode="json") for one in plan.members for step in one.unproved],
        unproved_digest=digest,
    )


def _queued(
    connection: Connection, member: PackMember, order: PackOrder, now: datetime, drafts: list[JournalDraft]
) -> SkillImport | None:
    """Queues the import of a member; an install of it that has failed before is retried by its kind."""
    if member.state is not PackMemberState.READY or member.import_id is None:
        return None
    again = IMPORTS.get(connection, member.import_id, lock=True).state is SkillImportState.INSTALL_FAILED
    asked = ImportOrder(
        import_id=member.import_id,
        command=ImportCommand.RETRY if again else ImportCommand.INSTALL,
        retry_kind=RetryKind.INSTALL if again else None,
        commit_key=order.commit_key,
        correlation_id=order.correlation_id,
        note=f"install of the pack {order.pack_id}",
        target_scope=order.target_scope,
        override=order.override,
        accept_unproved=True,
        pack_install_id=order.pack_install_id,
    )
    try:
        queued, entries, _ = command_within(connection, asked, now)
    except Refusal as refusal:
        said = clipped(f"{member.skill}: {refusal.message}", 240)
        raise Refusal(refusal.code, said, **refusal.extra) from None
    drafts.extend(entries.drafts)
    return queued


def _step(member: PackMember, queued: SkillImport | None) -> PackStep:
    if queued is None:
        return PackStep(skill=member.skill, state=PackStepState.KEPT)
    return PackStep(
        skill=member.skill,
        state=PackStepState.PENDING,
        import_id=queued.import_id,
        saga_id=queued.saga_id,
    )


def _opened(order: PackOrder, pack: StoredPack, steps: tuple[PackStep, ...], now: datetime) -> PackInstall:
    return PackInstall(
        pack_install_id=order.pack_install_id,
        pack_id=pack.pack_id,
        pack_version=pack.version,
        owner_user_id=order.owner_user_id,
        target_scope=order.target_scope,
        state=SagaState.RUNNING,
        members=steps,
        workflow_id=pack_install_workflow_id(order.pack_install_id),
        correlation_id=order.correlation_id,
        started_at=now,
        updated_at=now,
    )


def _noted(before: PackInstall, progress: PackProgress) -> PackInstall:
    done = progress.done
    after = before
    if progress.skill is not None and progress.state is not None:
        after = after.with_member(progress.skill, progress.state, done.error if done else None)
    if progress.undoing and after.state is SagaState.RUNNING:
        after = after.changed(state=SagaState.COMPENSATING)
    if done is not None:
        after = after.changed(error_code=done.error_code, error=done.error)
    return after


def _settle_imports(connection: Connection, before: PackInstall, settled: PackSettled) -> list[JournalDraft]:
    drafts: list[JournalDraft] = []
    for step in before.members:
        if step.import_id is None:
            continue
        done = WorkDone()
        if settled.state is not SagaState.INSTALLED:
            own = step.error is not None and before.error_code is not None
            code = before.error_code if own else ROLLED_BACK
            why = step.error or f"The pack {before.pack_id} was not installed: {before.error or ''}"
            done = WorkDone(error_code=code, error=clipped(why, 240))
        one = WorkSettled(import_id=step.import_id, kind=RetryKind.INSTALL, done=done, at=settled.at)
        _, entries = settle_within(connection, one)
        drafts.extend(entries.drafts)
    return drafts


def _written(connection: Connection, before: PackInstall, after: PackInstall, now: datetime) -> PackInstall:
    written = after.changed(version=before.version + 1, updated_at=now)
    PACK_INSTALLS.compare_and_set(connection, written, before.version)
    return written


def _recalled(connection: Connection, key: CommitKey) -> PackOutcome | None:
    known = recalled(connection, key, PackReceipt)
    if known is None:
        return None
    return PackOutcome(receipt=known, present=PACK_INSTALLS.get(connection, known.pack_install_id))


def _entries(pack_install_id: str, owner: str, correlation_id: str, now: datetime) -> JournalEntries:
    return JournalEntries(pack_install_workflow_id(pack_install_id), owner, correlation_id, now)


def _receipt(entries: JournalEntries, kind: Receipt, reason: str) -> str:
    """Collects a receipt; its id."""
    entries.receipt(kind, reason)
    receipt_id: str = entries.drafts[-1].document["receipt_id"]
    return receipt_id
