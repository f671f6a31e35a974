"""A skill that is quarantined is rechecked by its failed run, and good rechecks in a row bring it back (ADR 42)."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from contracts.abilities.capability_health import CanaryTask, ReprobeSelection
from contracts.skills.catalog import SkillState
from contracts.skills.invocation import InvocationStatus, SkillOutcome
from contracts.skills.invocation_work import AttemptOrder
from domain.abilities.capability_health import COOLDOWN, HEALTHY_FROM
from domain.skills.outcomes import error_of
from stores.platform.database import Database
from stores.skills.attempts import AttemptResult, SkillAttempts
from stores.skills.catalog import SkillCatalog
from stores.skills.invocation_reads import InvocationReads
from stores.skills.rechecks import SkillRechecks
from tests.domain.skills.manifests import acting
from tests.stores.skills.admitted import NOW, Gate
from tests.stores.skills.test_health import PROBE, fail, found, state

LATER = NOW + COOLDOWN
GOOD = AttemptResult(SkillOutcome(status=InvocationStatus.SUCCESS), acted=False)


def bad(code: str) -> AttemptResult:
    error = error_of(PROBE, code, "It went wrong.")
    return AttemptResult(SkillOutcome(status=InvocationStatus.FAILURE, error=error), acted=False)


@pytest.fixture
def catalog(store: Database) -> SkillCatalog:
    catalog = SkillCatalog(store)
    catalog.replace([found()])
    fail(store, 5)
    assert state(catalog)[0] is SkillState.QUARANTINED
    return catalog


def due(store: Database, at: datetime) -> tuple[str, ...]:
    return SkillRechecks(store).due(ReprobeSelection(now=at))


def recheck(store: Database, result: AttemptResult, at: datetime = LATER) -> str:
    """One pass of the schedule, and the invocation that it asked for to its end."""
    (skill,) = due(store, at)
    task = CanaryTask(
        capability_id=skill, outcome_id=str(uuid4()), requested_by="schedule", correlation_id="test"
    )
    for _ in range(2):
        assert SkillRechecks(store).ask(task, at) is not None
    assert due(store, at) == ()
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    order = AttemptOrder(invocation_id=task.outcome_id, attempt=1, at=at)
    attempts.begin(order)
    attempts.finish(order, result, at)
    return task.outcome_id


def test_good_rechecks_in_a_row_bring_a_skill_back(store: Database, catalog: SkillCatalog) -> None:
    assert due(store, LATER - timedelta(seconds=1)) == ()
    for _ in range(HEALTHY_FROM - 1):
        recheck(store, GOOD)
        assert state(catalog)[0] is SkillState.QUARANTINED
    asked = recheck(store, GOOD)
    assert state(catalog) == (SkillState.READY, None)
    assert due(store, LATER) == ()
    assert InvocationReads(store).view(asked, "alice").warnings[-1].startswith("A recheck of the run ")
    catalog.replace([found()])
    assert state(catalog)[0] is SkillState.READY


def test_a_bad_recheck_begins_the_row_anew_after_a_pause(store: Database, catalog: SkillCatalog) -> None:
    for _ in range(HEALTHY_FROM - 1):
        recheck(store, GOOD)
    recheck(store, bad("HANDLER_FAILED"))
    assert due(store, LATER) == ()
    recheck(store, GOOD, LATER + COOLDOWN)
    assert state(catalog)[0] is SkillState.QUARANTINED


def test_a_recheck_that_the_far_side_fails_proves_nothing(store: Database, catalog: SkillCatalog) -> None:
    for _ in range(HEALTHY_FROM - 1):
        recheck(store, GOOD)
    recheck(store, bad("NETWORK_ERROR"))
    assert state(catalog)[0] is SkillState.QUARANTINED
    recheck(store, GOOD, LATER + COOLDOWN)
    assert state(catalog)[0] is SkillState.READY


def test_a_run_that_acts_is_not_repeated(store: Database) -> None:
    acts = acting()
    SkillCatalog(store).replace([found(acts)])
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    for _ in range(5):
        admitted = Gate(store).admit(acts, confirmed=True)
        order = AttemptOrder(invocation_id=admitted.kept.record.invocation_id, attempt=1, at=NOW)
        attempts.begin(order)
        attempts.finish(order, bad("HANDLER_FAILED"), NOW)
    (skill,) = due(store, LATER)
    task = CanaryTask(
        capability_id=skill, outcome_id=str(uuid4()), requested_by="schedule", correlation_id="test"
    )
    assert SkillRechecks(store).ask(task, LATER) is None
