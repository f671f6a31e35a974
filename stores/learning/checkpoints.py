"""Store of checkpoint verifications: receipts, live events, effects on ability health, progress.

DOC3 §0C.9B; decisions "Checkpoints".
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, Connection, select
from uuid_utils import uuid7

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.capability_health import CapabilityOutcome, OutcomeKind
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.checkpoints import (
    CheckpointProgressResponse,
    CheckpointStatus,
    CheckpointVerificationReceipt,
    FrictionEvent,
    RepairCandidate,
    VerifyCheckpointRequest,
)
from contracts.learning.interpretation import Checkpoint
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.learning.responses import LearnCheckpointReceiptsResponse
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import ability_workflow_id, learn_session_id, mcp_dispatch_id
from domain.abilities.availability import checkpoint_health
from domain.abilities.capability_health import failure_fingerprint, progress
from domain.abilities.execution_traces import captures_traces, checkpoint_trace
from domain.learning.redaction.redaction import redact
from stores.abilities.ability_reads import visible
from stores.abilities.ability_rows import (
    ABILITIES,
    manifest_of,
    newest_statuses,
    put_standing,
    standing_of,
)
from stores.abilities.capability_health import HealthEntries, apply_outcome, hold_ability, settle_ability
from stores.learning.drafts import planned_of_ability, planned_of_session
from stores.learning.learning_tables import SESSIONS
from stores.platform.answers import answered_within
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import document_page
from stores.platform.journal.journal import (
    CHECKPOINT_RECEIPTS,
    TRACES,
    JournalDraft,
    JournalEntries,
    JournalFilter,
    append,
    read_entries,
)
from stores.platform.tables import journal

FRICTION_EVENTS = "system/learning/friction_events"
REPAIR_CANDIDATES = "system/learning/repair_candidates"


def aggregate_of(receipt: CheckpointVerificationReceipt) -> str:
    """The chain that a receipt belongs to: the dispatch's, else the session's, else the ability's."""
    if receipt.dispatch_id is not None:
        return mcp_dispatch_id(receipt.dispatch_id)
    if receipt.learn_session_id is not None:
        return learn_session_id(receipt.learn_session_id)
    return ability_workflow_id(str(receipt.ability_id))


def entries_of(
    receipt: CheckpointVerificationReceipt,
    reporter: str,
    correlation_id: str,
    session: LearnSessionAggregate | None,
) -> tuple[JournalDraft, ...]:
    """The receipt; the session's live event; a friction event or a repair candidate where there is cause."""
    entries = JournalEntries(
        aggregate_of(receipt),
        reporter,
        correlation_id,
        receipt.created_at,
        receipt.learn_session_id,
        session.session.proposal_id if session is not None else None,
        receipt.ability_id,
    )
    entries.add(CHECKPOINT_RECEIPTS, receipt)
    if session is not None:
        # ``checkpoint.reached``, ``.skipped`` or ``.failed`` (DOC3 L1632); the session's state stays what it is.
        shown = {"receipt_id", "checkpoint_id", "evidence", "reason", "dispatch_id", "ability_id"}
        payload = receipt.model_dump(mode="json", exclude_none=True, include=shown)
        # In the session's chain, and in the same list of drafts.
        in_session = replace(entries, aggregate=learn_session_id(session.session.learn_session_id))
        in_session.event(f"checkpoint.{receipt.status.value}", payload)
    if receipt.status is CheckpointStatus.SKIPPED:
        friction = FrictionEvent(friction_event_id=str(uuid7()), **_shared(receipt))
        entries.add(FRICTION_EVENTS, friction)
    if receipt.status is CheckpointStatus.FAILED:
        candidate = RepairCandidate(
            repair_candidate_id=str(uuid7()),
            failure_fingerprint=failure_fingerprint(receipt.checkpoint_id),
            **_shared(receipt),
        )
        entries.add(REPAIR_CANDIDATES, candidate)
    return tuple(entries.drafts)


def _shared(receipt: CheckpointVerificationReceipt) -> dict[str, Any]:
    return receipt.model_dump(exclude={"status", "control_surface", "schema_version"})


def receipts_of_session(connection: Connection, session_id: str) -> tuple[CheckpointVerificationReceipt, ...]:
    """The newest checkpoint reports of a session, newest first."""
    wanted = JournalFilter(streams=(CHECKPOINT_RECEIPTS,), session_id=session_id)
    entries = read_entries(connection, wanted, newest_first=True)
    return tuple(CheckpointVerificationReceipt.model_validate(entry.document) for entry in entries)


_RUNS = UUID("5f0c1d0e-5f63-5d52-9d7c-5f1d1a3c2b77")


def ability_effects(
    connection: Connection,
    ability: AbilityAvailabilityEntry,
    receipt: CheckpointVerificationReceipt,
    reporter: str,
    correlation_id: str,
) -> tuple[JournalDraft, ...]:
    """Settles the ability before its receipt is appended; returns its journal entries.

    The ability's row must be held. A failed checkpoint is a failure of the ability's capability, counted once
    a run and checkpoint: an agent that tries ten times in one run has met one failure.
    """
    entries = HealthEntries(ability.ability_id, reporter, correlation_id, receipt.created_at)
    if _counted(connection, ability.ability_id, receipt):
        entries.receipt(
            LearningReceiptKind.USED_LATER, f"{ability.title} was used; a checkpoint was reported."
        )
    manifest = manifest_of(connection, ability.ability_id)
    if manifest is not None and captures_traces(manifest):
        entries.add(TRACES, checkpoint_trace(manifest, receipt))
    drafts = tuple(entries.drafts)
    if receipt.status is CheckpointStatus.FAILED and ability.primary_capability_id is not None:
        outcome = _outcome(ability.primary_capability_id, receipt, reporter)
        drafts += apply_outcome(connection, outcome, correlation_id)
    present = hold_ability(connection, ability.ability_id) or ability
    statuses = (receipt.status, *newest_statuses(connection, ability.ability_id))
    quarantined = present.install_lane is InstallLane.QUARANTINED
    settle_ability(
        connection,
        present,
        standing_of(connection, ability_id=ability.ability_id),
        receipt.created_at,
        checkpoint_health=checkpoint_health(statuses, quarantined=quarantined),
    )
    return drafts


def _counted(connection: Connection, ability_id: str, receipt: CheckpointVerificationReceipt) -> bool:
    """Counts the receipt; whether it is the first of its run, and so one more use."""
    first = _is_first_of_its_run(connection, ability_id, receipt)
    standing = standing_of(connection, ability_id=ability_id)
    if standing is None:
        return first
    record = standing.record
    counter = f"checkpoints_{receipt.status.value}"
    changes: dict[str, object] = {counter: getattr(record, counter) + 1, "last_used_at": receipt.created_at}
    if first:
        changes["uses"] = record.uses + 1
    put_standing(connection, standing, standing.status, record.changed(**changes))
    return first


def _is_first_of_its_run(
    connection: Connection, ability_id: str, receipt: CheckpointVerificationReceipt
) -> bool:
    """Whether nothing was reported before of this dispatch or session; of neither, nothing tells runs apart."""
    if receipt.dispatch_id is None and receipt.learn_session_id is None:
        return False
    earlier = connection.scalar(
        select(journal.c.seq)
        .where(
            journal.c.aggregate == aggregate_of(receipt),
            journal.c.stream == CHECKPOINT_RECEIPTS,
            journal.c.ability_id == ability_id,
        )
        .limit(1)
    )
    return earlier is None


def _outcome(capability_id: str, receipt: CheckpointVerificationReceipt, reporter: str) -> CapabilityOutcome:
    in_a_run = receipt.dispatch_id is not None or receipt.learn_session_id is not None
    run = aggregate_of(receipt) if in_a_run else receipt.receipt_id
    return CapabilityOutcome(
        outcome_id=str(uuid5(_RUNS, f"{run}/{capability_id}/{receipt.checkpoint_id}")),
        capability_id=capability_id,
        kind=OutcomeKind.CHECKPOINT,
        success=False,
        failure_fingerprint=failure_fingerprint(receipt.checkpoint_id),
        summary=clipped(receipt.reason or receipt.evidence, 500) or None,
        reported_by=reporter,
        happened_at=receipt.created_at,
    )


class CheckpointStore:
    """The writing half of checkpoint verification.

    A report is one SQL transaction and passes no workflow, as observations do not: nothing is decided that a later
    command could contradict, so there is no state for a workflow to guard, while a long task would fill
    its history with evidence texts. The transaction holds the ability's row, which orders reports with
    the ability's other changes; the idempotency key is claimed in it, which makes a repeated report one.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def verify(
        self, request: VerifyCheckpointRequest, caller: str, key: CommitKey | None, correlation_id: str
    ) -> CheckpointVerificationReceipt:
        """Keeps the report and answers its receipt; durable when it returns.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND``, ``ABILITY_NOT_FOUND``; ``VALIDATION_FAILED`` when the
                session or the ability has checkpoints and this is none of them; ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.write() as connection:

            def act() -> str:
                return _kept(connection, request, caller, correlation_id).model_dump_json()

            body = answered_within(connection, key, act) if key is not None else act()
        return CheckpointVerificationReceipt.model_validate_json(body)


def _kept(
    connection: Connection, request: VerifyCheckpointRequest, caller: str, correlation_id: str
) -> CheckpointVerificationReceipt:
    session = _session(connection, request, caller)
    ability_id = request.ability_id or (session.session.ability_id if session is not None else None)
    ability = _ability(connection, ability_id, caller) if ability_id is not None else None
    _refuse_unplanned(connection, request.checkpoint_id, session, ability)
    receipt = CheckpointVerificationReceipt(
        receipt_id=str(uuid7()),
        checkpoint_id=request.checkpoint_id,
        learn_session_id=request.learn_session_id,
        dispatch_id=request.dispatch_id,
        ability_id=ability_id,
        status=request.status,
        evidence=_masked(request.evidence, 1000),
        reason=_masked(request.reason, 500) if request.reason is not None else None,
        control_surface=request.control_surface,
        created_at=datetime.now(UTC),
    )
    entries = entries_of(receipt, caller, correlation_id, session)
    if ability is not None:
        entries = (*entries, *ability_effects(connection, ability, receipt, caller, correlation_id))
    append(connection, entries)
    return receipt


def _session(
    connection: Connection, request: VerifyCheckpointRequest, caller: str
) -> LearnSessionAggregate | None:
    if request.learn_session_id is None:
        return None
    return SESSIONS.owned(connection, request.learn_session_id, caller)


def _ability(connection: Connection, ability_id: str, caller: str) -> AbilityAvailabilityEntry:
    entry = hold_ability(connection, ability_id)
    if entry is None or not visible(entry, caller):
        raise ABILITIES.not_found()
    return entry


def _refuse_unplanned(
    connection: Connection,
    checkpoint_id: str,
    session: LearnSessionAggregate | None,
    ability: AbilityAvailabilityEntry | None,
) -> None:
    planned: tuple[Checkpoint, ...] = ()
    if session is not None:
        planned = planned_of_session(connection, session)
    if ability is not None:
        planned += planned_of_ability(connection, ability.ability_id)
    known = sorted({one.checkpoint_id for one in planned})
    if known and checkpoint_id not in known:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            f"There is no checkpoint {checkpoint_id} here; there are {', '.join(known)}."[:240],
            fields=[{"path": "body.checkpoint_id", "problem": "not a checkpoint of this skill"}],
        )


def _masked(text: str, limit: int) -> str:
    return clipped(redact(text).text, limit)


MOST_RECEIPTS = 500
"""How many of the newest receipts a progress is made of: far more than a skill has checkpoints."""

_RECEIPTS = select(journal.c.document).where(journal.c.stream == CHECKPOINT_RECEIPTS)


class CheckpointReads:
    """The reading half of checkpoint verification."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_dispatch(
        self, dispatch_id: str, owner: str, wanted: PageRequest
    ) -> LearnCheckpointReceiptsResponse:
        """The receipts that the owner's agents gave for a dispatch, newest first.

        Raises:
            Refusal: ``NOT_FOUND`` when there are none: a dispatch is known here by its receipts.
        """
        with self._database.read() as connection:
            found = receipts_page(connection, wanted, *_of_dispatch(dispatch_id, owner))
        if found.total == 0:
            raise _no_dispatch(dispatch_id)
        return found

    def of_ability(
        self, ability_id: str, reader: str, owner: str, wanted: PageRequest
    ) -> LearnCheckpointReceiptsResponse:
        """The receipts of an ability, newest first: its owner sees all of them, other users their own."""
        own = () if reader == owner else (journal.c.owner == reader,)
        with self._database.read() as connection:
            return receipts_page(connection, wanted, journal.c.ability_id == ability_id, *own)

    def session_progress(self, session: LearnSessionAggregate) -> CheckpointProgressResponse:
        """The checkpoints of the session's proposal with what was reported of each."""
        of_session = journal.c.session_id == session.session.learn_session_id
        with self._database.read() as connection:
            return progress(planned_of_session(connection, session), _newest(connection, of_session))

    def dispatch_progress(self, dispatch_id: str, owner: str) -> CheckpointProgressResponse:
        """The checkpoints of the ability that a dispatch used with what was reported of each.

        Raises:
            Refusal: ``NOT_FOUND``, as ``of_dispatch``.
        """
        with self._database.read() as connection:
            receipts = _newest(connection, *_of_dispatch(dispatch_id, owner))
            if not receipts:
                raise _no_dispatch(dispatch_id)
            ability_id = next((one.ability_id for one in receipts if one.ability_id is not None), None)
            planned = planned_of_ability(connection, ability_id) if ability_id is not None else ()
        return progress(planned, receipts)


def receipts_page(
    connection: Connection, wanted: PageRequest, *where: ColumnElement[bool]
) -> LearnCheckpointReceiptsResponse:
    """One page of the checkpoint receipts that match, newest first."""
    query = _RECEIPTS.where(*where).order_by(journal.c.seq.desc())
    found = document_page(connection, query, wanted, CheckpointVerificationReceipt)
    return LearnCheckpointReceiptsResponse(receipts=found.documents, **found.counts)


def _of_dispatch(dispatch_id: str, owner: str) -> tuple[ColumnElement[bool], ...]:
    return journal.c.aggregate == mcp_dispatch_id(dispatch_id), journal.c.owner == owner


def _newest(connection: Connection, *where: ColumnElement[bool]) -> tuple[CheckpointVerificationReceipt, ...]:
    rows = connection.scalars(_RECEIPTS.where(*where).order_by(journal.c.seq.desc()).limit(MOST_RECEIPTS))
    return tuple(CheckpointVerificationReceipt.model_validate_json(document) for document in rows)


def _no_dispatch(dispatch_id: str) -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND, f"No checkpoint was reported to you for a dispatch {dispatch_id}; check its id."
    )
