"""The gate of skills: policy, budget, kept answers and confirmation, decided in one transaction (O-7, AI-02, AI-11).

What is refused here leaves a record and no row. What is let in has a row before its workflow runs, so that nothing
that was acknowledged is lost; what is answered from a kept answer never reaches a workflow.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.skills.invocation import InvocationStatus, InvocationView, SkillOutcome
from contracts.skills.invocation_work import InvocationOrder, InvocationRecord
from contracts.skills.manifest import SkillManifest
from contracts.skills.policy import SkillBudget, SkillDecision, SkillVerdict
from domain.skills.policy import judge
from stores.platform.blobs import put_blob, read_blob
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import append
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


@dataclass(frozen=True)
class Admitted:
    """What the gate made of a call: its row, and the answer where it needs no run: a kept one, or a dry run's."""

    kept: StoredInvocation
    answered: InvocationView | None = None


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
        with self._database.write() as connection:
            found = self._known(connection, order)
            if found is not None:
                return Admitted(found)
            verdict = judge(
                policy_of(connection, order.owner_user_id).rules,
                manifest,
                order.effect,
                order.facts.life_areas if order.facts is not None else (),
                asks=asks,
            )
            refusal = _denied(verdict) or self._over_budget(connection, order, now)
            if refusal is None:
                return self._let_in(connection, order, manifest, params, now, verdict, confirmed)
            _record_refusal(connection, order, refusal, now)
        raise refusal

    def refused(self, order: InvocationOrder, refusal: Refusal, now: datetime) -> None:
        """Leaves the record of a call whose input was refused."""
        with self._database.write() as connection:
            _record_refusal(connection, order, refusal, now)

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
        mine = (table.c.owner == order.owner_user_id, table.c.skill == order.skill)
        for limit, window, name in (
            (self.budget.per_minute, MINUTE, "a minute"),
            (self.budget.per_hour, HOUR, "an hour"),
        ):
            since = table.c.created_at > rfc3339(now - window)
            times = connection.execute(
                select(table.c.created_at)
                .where(*mine, since)
                .order_by(table.c.created_at.desc())
                .limit(1)
                .offset(limit - 1)
            ).scalar()
            if times is not None:
                renewed = datetime.fromisoformat(times) + window
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
        order: InvocationOrder,
        manifest: SkillManifest,
        params: bytes,
        now: datetime,
        verdict: SkillVerdict,
        confirmed: bool,
    ) -> Admitted:
        cached = _cached(connection, order, now)
        if cached is None and not order.dry_run:
            self._refuse_without_place(connection, order)
        asks = verdict.decision is SkillDecision.ASK and not confirmed and cached is None
        waits = asks and not manifest.has_check and not order.dry_run
        put_blob(connection, params, now)
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
            source, outcome = cached
            return _answered(connection, record.changed(cached_from=source), outcome, now)
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
    connection: Connection, record: InvocationRecord, outcome: SkillOutcome, now: datetime
) -> Admitted:
    kept = add_answered(connection, record, outcome, now)
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


def _cached(connection: Connection, order: InvocationOrder, now: datetime) -> tuple[str, SkillOutcome] | None:
    """A kept answer to the same question that is not too old, and the invocation it came from."""
    if order.cache_key is None:
        return None
    row = connection.execute(
        select(skill_results.c.invocation_id, skill_results.c.outcome_digest).where(
            skill_results.c.owner == order.owner_user_id,
            skill_results.c.cache_key == order.cache_key,
            skill_results.c.expires_at > rfc3339(now),
        )
    ).one_or_none()
    if row is None:
        return None
    return row.invocation_id, read_blob(connection, row.outcome_digest, SkillOutcome)


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
