"""The gate of skills: policy, budget, kept answers and confirmation, decided in one transaction (O-7, AI-02, AI-11).

What is refused here leaves a record and no row. What is let in has a row before its workflow runs, so that nothing
that was acknowledged is lost; what is answered from a kept answer never reaches a workflow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Integer, ScalarSelect, Text, bindparam, func, select

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.skills.invocation import InvocationStatus, InvocationView, SkillOutcome
from contracts.skills.invocation_work import InvocationOrder, InvocationRecord
from contracts.skills.manifest import SkillManifest
from contracts.skills.policy import SkillBudget, SkillDecision, SkillVerdict
from domain.skills.policy import judge
from stores.platform.blobs import intact, put_blob
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import append
from stores.platform.tables import blobs
from stores.skills.invocation_rows import (
    StoredInvocation,
    add_answered,
    add_invocation,
    audit,
    entries_of,
    find_invocation,
    observability_record,
    recorded,
    view_with,
)
from stores.skills.policies import policy_of
from stores.skills.skill_tables import INVOCATIONS, skill_results
from stores.skills.skill_tables import skill_invocations as table

_TAKES_A_PLACE = (InvocationStatus.QUEUED.value, InvocationStatus.RUNNING.value)

MOST_WAITING = 100
"""How many calls of a user and skill may wait for their time."""

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def _reached(place: int) -> ScalarSelect[str | None]:
    """When the call was made that used up the budget of a window, counted back from now."""
    return (
        select(table.c.created_at)
        .where(
            table.c.owner == bindparam("owner"),
            table.c.skill == bindparam("skill"),
            table.c.created_at > bindparam(f"since_{place}", type_=Text),
        )
        .order_by(table.c.created_at.desc())
        .limit(1)
        .offset(bindparam(f"before_{place}", type_=Integer))
        .scalar_subquery()
    )


_KEPT_ANSWER = (
    select(skill_results.c.invocation_id, blobs.c.digest, blobs.c.content)
    .join(blobs, blobs.c.digest == skill_results.c.outcome_digest)
    .where(
        skill_results.c.owner == bindparam("owner"),
        skill_results.c.cache_key == bindparam("key"),
        skill_results.c.expires_at > bindparam("now"),
    )
)

_LIMIT_REACHED_AT = select(_reached(0).label("first"), _reached(1).label("second"))


@dataclass(frozen=True)
class Admitted:
    """What the gate made of a call: its row, and the answer where it needs no run: a kept one, or a dry run's."""

    kept: StoredInvocation
    answered: InvocationView | None = None


@dataclass(frozen=True)
class _KeptAnswer:
    """An answer that may be given again: the invocation it came from, and the blob that holds it."""

    source: str
    digest: str
    outcome: SkillOutcome


@dataclass(frozen=True)
class _Call:
    """What the gate is asked about."""

    order: InvocationOrder
    manifest: SkillManifest
    params: bytes
    now: datetime
    asks: bool
    confirmed: bool


class NoPlace(Exception):
    """As many calls of the skill run as may at once; the caller may wait for its place."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class SkillAdmission:
    """Lets invocations in. Safe to share between threads."""

    def __init__(self, database: Database, *, confirmation_expiry: timedelta, budget: SkillBudget) -> None:
        self._database = database
        self._expiry = confirmation_expiry
        self.budget = budget

    def admit(
        self,
        order: InvocationOrder,
        manifest: SkillManifest,
        params: bytes,
        now: datetime,
        *,
        asks: bool,
        confirmed: bool,
    ) -> Admitted:
        """Decides about one call, once: the same invocation id finds the row that there is.

        ``asks`` is whether the skill itself wants a person's word for this call; ``confirmed`` that a caller who
        may approve gave it along (X-2).

        Raises:
            Refusal: ``POLICY_DENIED``, ``BUDGET_EXCEEDED``, ``IDEMPOTENCY_KEY_REUSED``.
            NoPlace: too many run at once.
        """
        call = _Call(order, manifest, params, now, asks, confirmed)
        if (answered := self._answered_again(call)) is not None:
            return answered
        with self._database.write() as connection:
            found = self._known(connection, order)
            if found is not None:
                return Admitted(found)
            verdict, refusal = self._judged(connection, call)
            if refusal is None:
                return self._let_in(connection, call, verdict, _cached(connection, order, now))
            _record_refusal(connection, order, refusal, now)
        raise refusal

    def refused(self, order: InvocationOrder, refusal: Refusal, now: datetime) -> None:
        """Leaves the record of a call whose input was refused."""
        with self._database.write() as connection:
            _record_refusal(connection, order, refusal, now)

    def _answered_again(self, call: _Call) -> Admitted | None:
        """The kept answer to a call, if there is one and nothing forbids it.

        Nothing happens in it and nothing is promised by it, so that its commit waits for no disk (ADR 66). A call with
        an idempotency key is not answered here: what it was told has to stand.
        """
        order = call.order
        if order.cache_key is None or order.request_digest is not None or order.dry_run:
            return None
        with self._database.write(synced=False) as connection:
            cached = _cached(connection, order, call.now)
            if cached is None:
                return None
            verdict, refusal = self._judged(connection, call)
            return None if refusal is not None else self._let_in(connection, call, verdict, cached)

    def _judged(self, connection: Connection, call: _Call) -> tuple[SkillVerdict, Refusal | None]:
        """What policy says of a call, and the refusal of it, if policy or budget forbid it."""
        order = call.order
        verdict = judge(
            policy_of(connection, order.owner_user_id).rules,
            call.manifest,
            order.effect,
            order.facts.life_areas if order.facts is not None else (),
            asks=call.asks,
        )
        return verdict, _denied(verdict) or self._over_budget(connection, order, call.now)

    def _known(self, connection: Connection, order: InvocationOrder) -> StoredInvocation | None:
        if order.request_digest is None:
            return None
        # Whoever asks under one key at the same time waits here for the first.
        advisory_lock(connection, f"skill-invocation {order.invocation_id}")
        found = find_invocation(connection, order.invocation_id)
        if found is not None and found.record.order.request_digest != order.request_digest:
            raise Refusal(
                ErrorCode.IDEMPOTENCY_KEY_REUSED,
                "This idempotency key was used for a different request; use a new key.",
            )
        return found

    def _over_budget(self, connection: Connection, order: InvocationOrder, now: datetime) -> Refusal | None:
        """Whether the owner has used this skill as often as the budget allows (O-12)."""
        advisory_lock(connection, f"skill-budget {order.owner_user_id} {order.skill}")
        windows = ((self.budget.per_minute, MINUTE, "a minute"), (self.budget.per_hour, HOUR, "an hour"))
        asked: dict[str, object] = {"owner": order.owner_user_id, "skill": order.skill}
        for place, (limit, window, _) in enumerate(windows):
            asked |= {f"since_{place}": rfc3339(now - window), f"before_{place}": limit - 1}
        used: Sequence[str | None] = connection.execute(_LIMIT_REACHED_AT, asked).one()
        for (limit, window, name), at in zip(windows, used, strict=True):
            if at is not None:
                renewed = datetime.fromisoformat(at) + window
                left = max(int((renewed - now).total_seconds()) + 1, 1)
                return Refusal(
                    ErrorCode.BUDGET_EXCEEDED,
                    f"{order.skill} was used {limit} times within {name}; the budget is renewed at {rfc3339(renewed)}.",
                    retry_after_seconds=left,
                    renewed_at=rfc3339(renewed),
                )
        return None

    def _let_in(
        self,
        connection: Connection,
        call: _Call,
        verdict: SkillVerdict,
        cached: _KeptAnswer | None,
    ) -> Admitted:
        order, manifest, now = call.order, call.manifest, call.now
        if cached is None and not order.dry_run:
            self._refuse_without_place(connection, order)
        asks = verdict.decision is SkillDecision.ASK and not call.confirmed and cached is None
        waits = asks and not manifest.has_check and not order.dry_run
        put_blob(connection, call.params, now)
        record = InvocationRecord(
            order=order.changed(asks=asks),
            manifest=manifest,
            status=InvocationStatus.AWAITING_CONFIRMATION if waits else InvocationStatus.QUEUED,
            expires_at=now + self._expiry if waits else None,
            updated_at=now,
        )
        if order.dry_run:
            outcome = _dry(verdict, asks=asks, cached=cached is not None)
            return _answered(connection, record, outcome, now)
        if cached is not None:
            return _answered(
                connection, record.changed(cached_from=cached.source), cached.outcome, now, cached.digest
            )
        kept = add_invocation(connection, record)
        entries = entries_of(order, now)
        about = order.facts.model_dump(mode="json") if order.facts is not None else {}
        audit(
            entries,
            order,
            "admitted",
            {"decision": verdict.decision.value, "rule_id": verdict.rule_id, "facts": about},
        )
        append(connection, entries.drafts)
        return Admitted(kept)

    def _refuse_without_place(self, connection: Connection, order: InvocationOrder) -> None:
        open_ones = (
            table.c.owner == order.owner_user_id,
            table.c.skill == order.skill,
            table.c.status.in_(_TAKES_A_PLACE),
        )
        counted = connection.scalar(select(func.count()).select_from(table).where(*open_ones)) or 0
        if counted < self.budget.at_once:
            return
        # What waits for its time runs nothing and takes no place; as a rule there is none, and no body is read.
        most = MOST_WAITING + self.budget.at_once
        found = INVOCATIONS.all(connection, *open_ones, order_by=(table.c.created_at,), limit=most)
        waiting = sum(one.due_at is not None for one in found)
        if waiting >= MOST_WAITING:
            raise Refusal(
                ErrorCode.BUDGET_EXCEEDED,
                f"{waiting} calls of {order.skill} wait for their time already; cancel one, or wait.",
                retry_after_seconds=3_600,
            )
        if len(found) - waiting >= self.budget.at_once:
            raise NoPlace(
                Refusal(
                    ErrorCode.BUDGET_EXCEEDED,
                    f"{self.budget.at_once} calls of {order.skill} run already; wait for one of them to end.",
                    retry_after_seconds=1,
                )
            )


def _answered(
    connection: Connection,
    record: InvocationRecord,
    outcome: SkillOutcome,
    now: datetime,
    digest: str | None = None,
) -> Admitted:
    kept = add_answered(connection, record, outcome, now, digest)
    return Admitted(kept, answered=view_with(kept.record, outcome))


def _denied(verdict: SkillVerdict) -> Refusal | None:
    if verdict.decision is not SkillDecision.DENY:
        return None
    return Refusal(
        ErrorCode.POLICY_DENIED,
        f"The rule {verdict.rule_id} forbids it: {verdict.reason}",
        rule_id=verdict.rule_id,
        reason=verdict.reason,
    )


def _record_refusal(connection: Connection, order: InvocationOrder, refusal: Refusal, now: datetime) -> None:
    seen = observability_record(
        order, now, duration=timedelta(), error_code=refusal.code.value, success=False
    )
    append(connection, recorded(connection, order, seen, now).drafts)


def _cached(connection: Connection, order: InvocationOrder, now: datetime) -> _KeptAnswer | None:
    """A kept answer to the same question that is not too old."""
    if order.cache_key is None:
        return None
    asked = {"owner": order.owner_user_id, "key": order.cache_key, "now": rfc3339(now)}
    row = connection.execute(_KEPT_ANSWER, asked).one_or_none()
    if row is None:
        return None
    outcome = SkillOutcome.model_validate_json(intact(row.digest, row.content))
    return _KeptAnswer(row.invocation_id, row.digest, outcome)


def _dry(verdict: SkillVerdict, *, asks: bool, cached: bool) -> SkillOutcome:
    """The outcome of a dry run: what would have happened."""
    if cached:
        words = "The kept answer would be given."
    elif asks:
        words = f"A person would be asked first: {verdict.reason}"
    else:
        words = "It would be run at once."
    return SkillOutcome(
        status=InvocationStatus.SUCCESS, message=words, warnings=("Dry run: nothing was run.",)
    )
