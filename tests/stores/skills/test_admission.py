"""What the gate of skills lets in: kept answers, dry runs, warnings of a version (CH-11, CH-66, O-7)."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from contracts.skills.invocation import InvocationStatus, InvocationView, SkillOutcome
from contracts.skills.invocation_work import AttemptOrder, GiveUpCause, GiveUpOrder
from stores.platform.database import Database
from stores.skills.attempts import AttemptResult, SkillAttempts
from stores.skills.invocation_reads import InvocationReads
from stores.skills.skill_tables import skill_results
from tests.domain.skills.manifests import acting, manifest
from tests.stores.skills.admitted import NOW, Gate

KEPT = manifest(name="kept", cache_ttl_ms=300_000)
OLD = ("probe 1.0.0 is deprecated and served until 2026-12-20.",)
DONE = AttemptResult(
    SkillOutcome(status=InvocationStatus.SUCCESS, outputs={"n": 1}, warnings=("half of it",)), acted=False
)


@pytest.fixture
def gate(store: Database) -> Gate:
    return Gate(store)


@pytest.fixture
def attempts(store: Database) -> SkillAttempts:
    return SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))


def run(
    attempts: SkillAttempts, invocation_id: str, result: AttemptResult = DONE, at: datetime = NOW
) -> None:
    order = AttemptOrder(invocation_id=invocation_id, attempt=1, at=at)
    attempts.begin(order)
    attempts.finish(order, result, at)


def view(store: Database, invocation_id: str) -> InvocationView:
    return InvocationReads(store).view(invocation_id, "alice")


@pytest.mark.acceptance("CH-11")
def test_a_kept_answer_grows_no_younger_by_being_given(
    store: Database, gate: Gate, attempts: SkillAttempts
) -> None:
    first = gate.admit(KEPT)
    run(attempts, first.kept.record.invocation_id)
    again = gate.admit(KEPT, NOW + timedelta(seconds=299))
    assert again.kept.record.cached_from == first.kept.record.invocation_id
    assert again.answered == view(store, again.kept.record.invocation_id)
    assert again.answered.outputs == {"n": 1}
    assert gate.admit(KEPT, NOW + timedelta(seconds=301)).answered is None


def test_answers_that_are_too_old_are_dropped_when_the_next_one_is_kept(
    store: Database, gate: Gate, attempts: SkillAttempts
) -> None:
    run(attempts, gate.admit(KEPT, cache_key="1" * 64).kept.record.invocation_id)
    late = NOW + timedelta(seconds=301)
    last = gate.admit(KEPT, late, cache_key="2" * 64).kept.record.invocation_id
    run(attempts, last, at=late)
    with store.read() as connection:
        assert list(connection.scalars(select(skill_results.c.invocation_id))) == [last]


def test_a_dry_run_is_no_answer_that_is_kept(gate: Gate) -> None:
    dry = gate.admit(KEPT, dry_run=True)
    assert dry.answered is not None
    assert dry.answered.status is dry.kept.record.status is InvocationStatus.SUCCESS
    assert gate.admit(KEPT).answered is None


def test_a_kept_answer_is_one_row_that_is_written_once(gate: Gate, attempts: SkillAttempts) -> None:
    run(attempts, gate.admit(KEPT).kept.record.invocation_id)
    again = gate.admit(KEPT)
    assert again.answered is not None
    assert again.kept.version == 1
    assert again.kept.record.record is not None
    assert again.kept.record.record.success


@pytest.mark.acceptance("CH-66")
def test_every_answer_of_a_deprecated_version_says_until_when_it_is_served(
    store: Database, gate: Gate, attempts: SkillAttempts
) -> None:
    """While it is queued, when it waits for a person, when it is over, from a kept answer, given up."""
    first = gate.admit(KEPT, warnings=OLD).kept.record.invocation_id
    assert view(store, first).warnings == OLD
    run(attempts, first)
    assert view(store, first).warnings == (*OLD, "half of it")
    kept = gate.admit(KEPT, warnings=OLD).kept.record.invocation_id
    assert view(store, kept).warnings == (*OLD, "half of it")
    dry = gate.admit(KEPT, warnings=OLD, dry_run=True).kept.record.invocation_id
    assert view(store, dry).warnings == (*OLD, "Dry run: nothing was run.")
    waits = gate.admit(acting(), asks=True, warnings=OLD).kept.record.invocation_id
    assert view(store, waits).requires_confirmation
    assert view(store, waits).warnings == OLD
    attempts.give_up(GiveUpOrder(invocation_id=waits, cause=GiveUpCause.CANCELLED, by="alice", at=NOW))
    assert (view(store, waits).status, view(store, waits).warnings) == (InvocationStatus.CANCELLED, OLD)


def test_an_answer_of_the_version_of_today_warns_of_nothing_old(
    store: Database, gate: Gate, attempts: SkillAttempts
) -> None:
    old = gate.admit(KEPT, warnings=OLD).kept.record.invocation_id
    run(attempts, old)
    later = gate.admit(KEPT).kept.record.invocation_id
    assert view(store, later).warnings == ("half of it",)
