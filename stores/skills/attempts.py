"""The attempts of an invocation: begun right before the handler runs, ended with its outcome, repeated or not.

An attempt that was begun and never ended is told apart from one that never began: only the second, and a skill that
may be repeated, is tried again by itself (X-14).
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.errors import ErrorCode, Refusal
from contracts.inbox.items import SentState
from contracts.learning.observation import ToolEffect
from contracts.skills.errors import AWAITING_ANSWER, AWAITING_TIME
from contracts.skills.invocation import (
    OPEN_INVOCATION_STATUSES,
    InvocationAttempt,
    InvocationStatus,
    Isolation,
    SkillOutcome,
)
from contracts.skills.invocation_work import (
    AskOrder,
    AttemptEnd,
    AttemptOrder,
    ConfirmationAnswer,
    Confirmed,
    ConfirmOrder,
    GiveUpCause,
    GiveUpOrder,
    InspectAttempt,
    InvocationRecord,
    InvocationStanding,
)
from domain.skills.outcomes import error_of
from domain.skills.retrying import attempts_allowed, delay_ms, may_repeat
from stores.platform.answers import answered
from stores.platform.blobs import get_blob
from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.skills.invocation_rows import (
    StoredInvocation,
    audit,
    change_invocation,
    end_invocation,
    entries_of,
    read_invocation,
    retries_of,
    view_of,
)
from stores.skills.services.questions import close_question, open_question

MOST_WAITS = 20
"""How many attempts of an invocation may end with a question to its user, or before its time."""

_RUNS = frozenset({InvocationStatus.QUEUED, InvocationStatus.RUNNING})


@dataclass(frozen=True)
class AttemptPlan:
    """What an attempt runs: the invocation as it stands, and its normalised input as JSON."""

    record: InvocationRecord
    params: bytes


@dataclass(frozen=True)
class AttemptResult:
    """What a run made, as the activity saw it."""

    outcome: SkillOutcome
    acted: bool
    isolation: Isolation | None = None
    retry_after_ms: int | None = None
    due_at: datetime | None = None


class SkillAttempts:
    """The attempts of all invocations. Safe to share between threads."""

    def __init__(self, database: Database, *, confirmation_expiry: timedelta) -> None:
        self._database = database
        self._expiry = confirmation_expiry

    def standing(self, invocation_id: str) -> InvocationStanding:
        """How an invocation stands."""
        with self._database.read() as connection:
            return read_invocation(connection, invocation_id).standing()

    def plan(self, invocation_id: str) -> AttemptPlan:
        """What is run, without beginning: for the handler's own check."""
        with self._database.read() as connection:
            record = read_invocation(connection, invocation_id).record
            return AttemptPlan(record, get_blob(connection, record.order.input_digest))

    def begin(self, order: AttemptOrder) -> AttemptPlan | AttemptEnd:
        """Writes that the attempt begins, with an audit entry; or how the invocation stands, if it may not begin."""
        with self._database.write() as connection:
            kept = read_invocation(connection, order.invocation_id, lock=True)
            record = kept.record
            if record.status not in _RUNS or len(record.attempts) != order.attempt - 1:
                return AttemptEnd(standing=kept.standing())
            begun = record.changed(
                status=InvocationStatus.RUNNING,
                attempts=(*record.attempts, InvocationAttempt(number=order.attempt, started_at=order.at)),
                awaits_until=None,
                due_at=None,
                updated_at=order.at,
            )
            if record.awaits_until is not None:
                # Nobody answered in time, or the workflow's clock is ahead: the handler is told so.
                close_question(connection, record.invocation_id, SentState.EXPIRED, order.at)
            change_invocation(connection, kept, begun)
            entries = entries_of(record.order, order.at)
            audit(entries, record.order, "before", {"attempt": order.attempt})
            append(connection, entries.drafts)
            return AttemptPlan(begun, get_blob(connection, record.order.input_digest))

    def finish(self, order: AttemptOrder, result: AttemptResult, now: datetime) -> AttemptEnd:
        """Writes what an attempt made: the invocation ends, or is tried again after a pause."""
        with self._database.write() as connection:
            kept = read_invocation(connection, order.invocation_id, lock=True)
            record = kept.record
            current = record.attempts[-1] if record.attempts else None
            if record.status not in _RUNS or current is None or current.number != order.attempt:
                return AttemptEnd(standing=kept.standing())
            error = result.outcome.error
            noted = StoredInvocation(
                _ended_attempt(record, now, error.code if error is not None else None, result.isolation),
                kept.version,
            )
            if error is not None and len(record.attempts) < MOST_WAITS:
                if error.code == AWAITING_ANSWER:
                    return _waits_for_answer(connection, noted, now)
                if error.code == AWAITING_TIME and result.due_at is not None:
                    return _waits_for_time(connection, noted, result.due_at, now)
            again = _again(noted.record, result)
            if again is None:
                return AttemptEnd(standing=end_invocation(connection, noted, result.outcome, now).standing())
            waiting = noted.record.changed(status=InvocationStatus.QUEUED, updated_at=now)
            changed = change_invocation(connection, noted, waiting)
            return AttemptEnd(standing=changed.standing(), again_after_ms=again)

    def inspect(self, order: InspectAttempt) -> AttemptEnd:
        """What became of an attempt that was not heard of: not begun, to be repeated, or not known."""
        with self._database.write() as connection:
            kept = read_invocation(connection, order.invocation_id, lock=True)
            record = kept.record
            if record.status not in _RUNS:
                return AttemptEnd(standing=kept.standing())
            begun = len(record.attempts) >= order.attempt
            lost = begun and record.attempts[-1].ended_at is None
            if order.given_up is not None:
                close_question(connection, record.invocation_id, SentState.WITHDRAWN, order.at)
                # What may be repeated may have had its effect as well.
                acted = lost and record.order.effect is not ToolEffect.READ
                outcome = _given_up(record, order.given_up, unknown=acted)
                return AttemptEnd(standing=end_invocation(connection, kept, outcome, order.at).standing())
            if not lost:
                return AttemptEnd(standing=kept.standing(), again_after_ms=0)
            noted = StoredInvocation(_ended_attempt(record, order.at, "UNAVAILABLE", None), kept.version)
            if _harmless(record) and len(record.attempts) < record.manifest.max_attempts:
                waiting = noted.record.changed(status=InvocationStatus.QUEUED, updated_at=order.at)
                changed = change_invocation(connection, noted, waiting)
                return AttemptEnd(standing=changed.standing(), again_after_ms=0)
            outcome = _lost(record, unknown=not _harmless(record))
            return AttemptEnd(standing=end_invocation(connection, noted, outcome, order.at).standing())

    # ---- the handler's check, and a person's word ----

    def checked(self, invocation_id: str, refused: SkillOutcome | None, now: datetime) -> InvocationStanding:
        """Writes what the handler's check said: it goes on, or the invocation ends (O-7)."""
        with self._database.write() as connection:
            kept = read_invocation(connection, invocation_id, lock=True)
            if kept.record.status is not InvocationStatus.QUEUED or kept.record.checked:
                return kept.standing()
            if refused is not None:
                return end_invocation(connection, kept, refused, now).standing()
            return change_invocation(
                connection, kept, kept.record.changed(checked=True, updated_at=now)
            ).standing()

    def ask(self, order: AskOrder) -> InvocationStanding:
        """Has the invocation wait for a person."""
        with self._database.write() as connection:
            kept = read_invocation(connection, order.invocation_id, lock=True)
            if kept.record.status is not InvocationStatus.QUEUED or kept.record.confirmation is not None:
                return kept.standing()
            waiting = kept.record.changed(
                status=InvocationStatus.AWAITING_CONFIRMATION,
                expires_at=order.at + self._expiry,
                updated_at=order.at,
            )
            return change_invocation(connection, kept, waiting).standing()

    def confirm(self, order: ConfirmOrder) -> Confirmed:
        """One answer; the same key again gets what it got the first time. The first answer wins.

        Raises:
            Refusal: ``CONFLICT`` with who was first, or where the invocation waits for nobody.
        """
        return answered(
            self._database, order.commit_key, Confirmed, lambda connection: self._confirmed(connection, order)
        )

    def _confirmed(self, connection: Connection, order: ConfirmOrder) -> Confirmed:
        at = order.at or datetime.now().astimezone()
        kept = read_invocation(connection, order.invocation_id, lock=True)
        refusal = unconfirmable(kept.record, at)
        if refusal is not None:
            raise refusal
        answer = ConfirmationAnswer(approved=order.approve, by=order.by, at=at, reason=order.reason)
        record = kept.record.changed(confirmation=answer, updated_at=at)
        entries = entries_of(record.order, at)
        audit(entries, record.order, "confirmation", {"approved": order.approve, "actor": order.by})
        append(connection, entries.drafts)
        noted = StoredInvocation(record, kept.version)
        if order.approve:
            passed = record.changed(status=InvocationStatus.QUEUED, expires_at=None)
            changed = change_invocation(connection, noted, passed)
        else:
            words = f"{order.by} refused it; nothing was run."
            outcome = SkillOutcome(
                status=InvocationStatus.CANCELLED,
                error=error_of(record.manifest, "CANCELLED", words),
                message=None,
            )
            changed = end_invocation(connection, noted, outcome, at, actor=order.by)
        view = view_of(connection, changed.record)
        return Confirmed(standing=changed.standing(), answer=answer, view=view)

    def give_up(self, order: GiveUpOrder) -> InvocationStanding:
        """Ends an invocation of which nothing was run; one that runs or has ended stays as it is."""
        at = order.at or datetime.now().astimezone()
        with self._database.write() as connection:
            kept = read_invocation(connection, order.invocation_id, lock=True)
            open_unbegun = kept.record.status is InvocationStatus.AWAITING_CONFIRMATION or (
                kept.record.status is InvocationStatus.QUEUED and not kept.record.attempts
            )
            if not open_unbegun:
                return kept.standing()
            outcome = _given_up(kept.record, order, unknown=False)
            return end_invocation(connection, kept, outcome, at, actor=order.by).standing()


def _waits_for_answer(connection: Connection, noted: StoredInvocation, now: datetime) -> AttemptEnd:
    """An attempt that ended with a question: the next one is made when it is answered, or has expired."""
    question = open_question(connection, noted.record.invocation_id)
    waiting = noted.record.changed(
        status=InvocationStatus.QUEUED,
        awaits_until=question.expires_at if question is not None else None,
        updated_at=now,
    )
    return AttemptEnd(standing=change_invocation(connection, noted, waiting).standing(), again_after_ms=0)


def _waits_for_time(
    connection: Connection, noted: StoredInvocation, due_at: datetime, now: datetime
) -> AttemptEnd:
    """An attempt that came before its time: the next one is made then (CH-39)."""
    waiting = noted.record.changed(status=InvocationStatus.QUEUED, due_at=due_at, updated_at=now)
    return AttemptEnd(standing=change_invocation(connection, noted, waiting).standing(), again_after_ms=0)


def unconfirmable(record: InvocationRecord, now: datetime) -> Refusal | None:
    """Why nobody's word is taken about an invocation now, if so."""
    given = record.confirmation
    if given is not None:
        what = "confirmed" if given.approved else "refused"
        return Refusal(
            ErrorCode.CONFLICT,
            f"{given.by} has {what} it already.",
            current_state=record.status.value,
            retryable=False,
        )
    if record.status is not InvocationStatus.AWAITING_CONFIRMATION:
        # What is open may come to wait for somebody.
        return Refusal(
            ErrorCode.CONFLICT,
            f"The invocation waits for nobody now: it is {record.status.value}.",
            current_state=record.status.value,
            retryable=record.status in OPEN_INVOCATION_STATUSES,
        )
    if record.expires_at is not None and now >= record.expires_at:
        return Refusal(
            ErrorCode.CONFLICT,
            "Nobody confirmed in time; ask again.",
            current_state="expired",
            retryable=False,
        )
    return None


def _harmless(record: InvocationRecord) -> bool:
    """Whether an attempt may be made again although it may have had its effect."""
    return record.order.effect is ToolEffect.READ or record.manifest.repeatable


def _ended_attempt(
    record: InvocationRecord, now: datetime, code: str | None, isolation: Isolation | None
) -> InvocationRecord:
    ended = record.attempts[-1].changed(ended_at=now, error_code=code, isolation=isolation)
    return record.changed(attempts=(*record.attempts[:-1], ended))


def _again(record: InvocationRecord, result: AttemptResult) -> int | None:
    """After how many milliseconds the next attempt is made; none where there is none."""
    error = result.outcome.error
    if error is None or not error.retryable or result.outcome.status is not InvocationStatus.FAILURE:
        return None
    made = retries_of(record) + 1
    if made >= attempts_allowed(record.manifest, error.code):
        return None
    if not may_repeat(record.manifest, record.order.effect, error.code, acted=result.acted):
        return None
    # It spreads retries; nothing secret hangs on it.
    return delay_ms(made, random.random(), result.retry_after_ms)  # noqa: S311


def _given_up(record: InvocationRecord, order: GiveUpOrder, *, unknown: bool) -> SkillOutcome:
    if order.cause is GiveUpCause.EXPIRED:
        error = error_of(record.manifest, "EXPIRED", "Nobody confirmed in time; nothing was run.")
        return SkillOutcome(status=InvocationStatus.EXPIRED, error=error)
    why = f"{order.by or 'somebody'} gave it up" + (f": {order.reason}" if order.reason else "")
    if unknown:
        error = error_of(
            record.manifest, "OUTCOME_UNKNOWN", f"{why} while it ran; it may have had its effect."
        )
        return SkillOutcome(status=InvocationStatus.OUTCOME_UNKNOWN, error=error)
    error = error_of(record.manifest, "CANCELLED", f"{why}.")
    return SkillOutcome(status=InvocationStatus.CANCELLED, error=error)


def _lost(record: InvocationRecord, *, unknown: bool) -> SkillOutcome:
    """The outcome of an attempt that ended with the process that made it."""
    if unknown:
        words = "The process that ran it ended; it may have had its effect, and is not repeated."
        return SkillOutcome(
            status=InvocationStatus.OUTCOME_UNKNOWN, error=error_of(record.manifest, "OUTCOME_UNKNOWN", words)
        )
    # The skill itself is ended at its time, which is heard of: this is the worker's fault, and says nothing of it.
    words = "The process that ran it ended, and so did the one that tried again."
    return SkillOutcome(
        status=InvocationStatus.FAILURE,
        error=error_of(record.manifest, "UNAVAILABLE", words, retryable=False),
    )
