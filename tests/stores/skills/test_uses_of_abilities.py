"""Runs of the scripts of a learned ability count for its health: what went well, and what was their own fault."""

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from contracts.abilities.availability import AbilityVersion, InstallLane
from contracts.abilities.capability_manifest import HealthStatus
from contracts.errors import ErrorCode, Refusal
from contracts.skills.invocation import InvocationStatus, SkillOutcome
from contracts.skills.invocation_work import AttemptOrder, InspectAttempt
from contracts.skills.learned import LearnedAbility
from domain.skills.learned.scripts import learned_manifest
from domain.skills.outcomes import error_of
from stores.abilities.ability_rows import VERSIONS, Standing, standing_of
from stores.platform.database import Database
from stores.platform.journal.journal import TRACES, read_stream
from stores.skills.attempts import AttemptResult, SkillAttempts
from stores.skills.learned_scripts import LearnedScripts
from stores.skills.skill_tables import skill_health
from tests.fixtures.installed import INSTALLED_AT, install
from tests.stores.skills.admitted import NOW, Gate

pytestmark = pytest.mark.acceptance("X-35")

SCRIPT = learned_manifest("count", 1, ["count.sh"])


@pytest.fixture
def ability(store: Database) -> str:
    """An ability of alice's in its first version."""
    name = install(store, "count")
    version = AbilityVersion(
        ability_id=name,
        version=1,
        proposal_id=str(uuid4()),
        content_hash="0" * 64,
        install_lane=InstallLane.APPROVED_WORKSPACE,
        installed_at=INSTALLED_AT,
        current=True,
    )
    with store.write() as connection:
        VERSIONS.add(connection, version, saga_id=str(uuid4()))
    return name


def run(store: Database, ability: str, code: str | None = None, *, times: int = 1, version: int = 1) -> None:
    """Runs of its script that end so: with an error's code, or well."""
    status = InvocationStatus.FAILURE if code is not None else InvocationStatus.SUCCESS
    error = error_of(SCRIPT, code, "It went wrong.") if code is not None else None
    result = AttemptResult(SkillOutcome(status=status, error=error), acted=False)
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    learned, gate = LearnedAbility(ability_id=ability, version=version), Gate(store)
    for _ in range(times):
        invocation = gate.admit(SCRIPT, learned=learned).kept.record.invocation_id
        order = AttemptOrder(invocation_id=invocation, attempt=1, at=NOW)
        attempts.begin(order)
        attempts.finish(order, result, NOW)


def standing(store: Database, ability: str) -> Standing:
    with store.write() as connection:
        found = standing_of(connection, ability_id=ability)
    assert found is not None
    return found


def test_the_fifth_fault_of_its_own_takes_the_ability_out_of_use(store: Database, ability: str) -> None:
    run(store, ability, "TIMEOUT", times=4)
    assert standing(store, ability).status is HealthStatus.DEGRADED
    run(store, ability, "HANDLER_FAILED")
    assert standing(store, ability).status is HealthStatus.QUARANTINED
    with pytest.raises(Refusal) as refused:
        LearnedScripts(store).offered("count", "alice")
    assert refused.value.code is ErrorCode.SKILL_QUARANTINED
    assert "good rechecks in a row bring it back" in refused.value.message
    with store.read() as connection:
        # It is no skill, and has no health of one.
        assert connection.scalar(select(func.count()).select_from(skill_health)) == 0


def test_what_folder_or_arguments_are_the_cause_of_counts_for_nothing(store: Database, ability: str) -> None:
    run(store, ability, "SCRIPT_FAILED", times=8)
    found = standing(store, ability)
    assert (found.status, found.record.uses, found.record.failures) == (HealthStatus.HEALTHY, 0, ())


def test_a_run_that_went_well_is_a_use_and_leaves_a_trace(store: Database, ability: str) -> None:
    run(store, ability, times=2)
    assert standing(store, ability).record.uses == 2
    with store.read() as connection:
        traces = [one.document for one in read_stream(connection, TRACES)]
    assert [(one["capability_id"], one["success"]) for one in traces] == [(ability, True)] * 2


def test_a_run_of_another_version_says_nothing_of_this_one(store: Database, ability: str) -> None:
    run(store, ability, "TIMEOUT", times=5, version=2)
    assert standing(store, ability).status is HealthStatus.HEALTHY


def test_a_run_that_was_lost_with_its_worker_is_made_again_and_counts_for_nothing(
    store: Database, ability: str
) -> None:
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    learned = LearnedAbility(ability_id=ability, version=1)
    invocation = Gate(store).admit(SCRIPT, learned=learned).kept.record.invocation_id
    attempts.begin(AttemptOrder(invocation_id=invocation, attempt=1, at=NOW))
    seen = attempts.inspect(InspectAttempt(invocation_id=invocation, attempt=1, at=NOW))
    assert (seen.standing.status, seen.again_after_ms) == (InvocationStatus.QUEUED, 0)
    attempts.begin(AttemptOrder(invocation_id=invocation, attempt=2, at=NOW))
    end = attempts.inspect(InspectAttempt(invocation_id=invocation, attempt=2, at=NOW)).standing
    assert (end.status, end.error_code) == (InvocationStatus.FAILURE, "UNAVAILABLE")
    assert standing(store, ability).record.failures == ()
