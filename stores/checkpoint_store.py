"""Checkpoints that agents verify, kept with all that follows from them (decisions "Checkpoints")."""

from datetime import UTC, datetime

from sqlalchemy import Connection, select
from uuid_utils import uuid7

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommitKey, LearnSessionAggregate
from contracts.learning.checkpoint import CheckpointVerificationReceipt, VerifyCheckpointRequest
from contracts.learning.interpretation import Checkpoint
from domain.learning.redaction import redact
from stores import tables
from stores.ability_store import visible
from stores.answers import answered_within
from stores.capability_health_effects import hold_ability
from stores.checkpoint_effects import ability_effects
from stores.checkpoint_entries import entries_of
from stores.checkpoint_plan import planned_of_ability, planned_of_session
from stores.database import Database
from stores.journal import append


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
    sessions = tables.learn_sessions
    row = connection.execute(
        select(sessions.c.aggregate, sessions.c.owner).where(
            sessions.c.session_id == request.learn_session_id
        )
    ).one_or_none()
    if row is None or row.owner != caller:
        raise Refusal(
            ErrorCode.LEARN_SESSION_NOT_FOUND,
            f"There is no session {request.learn_session_id} of yours; name one, or leave it out.",
        )
    return LearnSessionAggregate.model_validate_json(row.aggregate)


def _ability(connection: Connection, ability_id: str, caller: str) -> AbilityAvailabilityEntry:
    entry = hold_ability(connection, ability_id)
    if entry is None or not visible(entry, caller):
        raise Refusal(
            ErrorCode.ABILITY_NOT_FOUND,
            "There is no such ability that you may see; list them with GET /api/abilities/availability.",
        )
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
