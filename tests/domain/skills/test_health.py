"""Which end of a run speaks against its skill, and when that skill is run no more."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.abilities.capability_health import CapabilityHealthRecord, OutcomeKind
from contracts.abilities.capability_manifest import HealthStatus
from contracts.skills.health import SkillHealth
from contracts.skills.invocation import InvocationAttempt, InvocationStatus
from contracts.skills.invocation_work import InvocationRecord
from contracts.skills.learned import LearnedAbility
from domain.skills.health import after, outcome_of_run, quarantine_reason
from tests.domain.skills.manifests import manifest
from tests.stores.skills.admitted import order_of

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
FAILURE, UNKNOWN = InvocationStatus.FAILURE, InvocationStatus.OUTCOME_UNKNOWN


def ended(status: InvocationStatus, code: str | None, *, attempts: int = 1) -> InvocationRecord:
    skill = manifest()
    return InvocationRecord(
        order=order_of(skill),
        manifest=skill,
        status=status,
        attempts=tuple(InvocationAttempt(number=n + 1, started_at=NOW) for n in range(attempts)),
        error_code=code,
        updated_at=NOW,
        completed_at=NOW,
    )


@pytest.mark.parametrize(
    ("status", "code", "counts"),
    [
        (FAILURE, "HANDLER_FAILED", True),
        (FAILURE, "OUTPUT_INVALID", True),
        (FAILURE, "OUTPUT_TOO_LARGE", True),
        (FAILURE, "PERMISSION_DENIED", True),
        (FAILURE, "TIMEOUT", True),
        (FAILURE, "INSUFFICIENT_BALANCE", False),
        (FAILURE, "INVALID_INPUT", False),
        (FAILURE, "AGENT_NOT_FOUND", False),
        (FAILURE, "PLATFORM_UNAVAILABLE", False),
        (FAILURE, "NETWORK_ERROR", False),
        (FAILURE, "VOICE_NOT_CONFIGURED", False),
        (FAILURE, "ISOLATION_UNAVAILABLE", False),
        (FAILURE, "SKILL_CHANGED", False),
        (FAILURE, "A_CODE_OF_ITS_OWN", False),
        (UNKNOWN, "OUTCOME_UNKNOWN", False),
        (InvocationStatus.CANCELLED, "CANCELLED", False),
        (InvocationStatus.EXPIRED, "EXPIRED", False),
        (InvocationStatus.SUCCESS, None, False),
        (InvocationStatus.PARTIAL, None, False),
    ],
)
def test_only_its_own_faults_speak_against_a_skill(
    status: InvocationStatus, code: str | None, counts: bool
) -> None:
    assert (outcome_of_run(ended(status, code)) is not None) is counts


def test_what_an_unapproved_folder_did_says_nothing() -> None:
    record = ended(FAILURE, "PERMISSION_DENIED")
    tried = record.changed(order=record.order.changed(unapproved_path="/workspace/skills/trial"))
    assert outcome_of_run(record) is not None
    assert outcome_of_run(tried) is None


@pytest.mark.acceptance("X-35")
@pytest.mark.parametrize(
    ("status", "code", "success"),
    [
        (InvocationStatus.SUCCESS, None, True),
        (FAILURE, "TIMEOUT", False),
        (FAILURE, "SCRIPT_FAILED", None),
        (FAILURE, "SKILL_QUARANTINED", None),
        (InvocationStatus.CANCELLED, "CANCELLED", None),
        (InvocationStatus.EXPIRED, "EXPIRED", None),
    ],
)
def test_the_run_of_a_script_is_a_use_of_its_ability_or_its_failure_or_nothing(
    status: InvocationStatus, code: str | None, success: bool | None
) -> None:
    record = ended(status, code)
    learned = LearnedAbility(ability_id="learned.count", version=1)
    outcome = outcome_of_run(record.changed(order=record.order.changed(learned=learned)))
    assert (outcome.success if outcome is not None else None) is success
    assert outcome is None or outcome.kind is OutcomeKind.USE


def test_what_was_never_begun_speaks_against_nothing() -> None:
    """The check of a handler that refuses, before a person is asked."""
    assert outcome_of_run(ended(FAILURE, "HANDLER_FAILED", attempts=0)) is None


def test_five_failures_in_seven_days_quarantine_and_say_what_to_do() -> None:
    """Decisions "Numbers": 3 matching degrade, 5 quarantine."""
    health = SkillHealth(
        key="workspace/probe@1.0.0",
        name="probe",
        digest="0" * 64,
        record=CapabilityHealthRecord(capability_id="probe"),
        updated_at=NOW,
    )
    seen = list[HealthStatus]()
    for hour in range(5):
        failed = ended(FAILURE, "TIMEOUT").changed(completed_at=NOW + timedelta(hours=hour))
        outcome = outcome_of_run(failed)
        assert outcome is not None
        assert quarantine_reason(health) is None
        health = after(health, outcome)
        seen.append(health.status)
    healthy, degraded = HealthStatus.HEALTHY, HealthStatus.DEGRADED
    assert seen == [healthy, healthy, degraded, degraded, HealthStatus.QUARANTINED]
    reason = quarantine_reason(health)
    assert reason is not None
    assert "failed 5 times within 7 days" in reason
    assert "apprentice skills approve probe" in reason


def test_failures_that_are_a_week_apart_quarantine_nothing() -> None:
    health = SkillHealth(
        key="workspace/probe@1.0.0",
        name="probe",
        digest="0" * 64,
        record=CapabilityHealthRecord(capability_id="probe"),
        updated_at=NOW,
    )
    for day in range(0, 70, 7):
        failed = ended(FAILURE, "TIMEOUT").changed(completed_at=NOW + timedelta(days=day))
        outcome = outcome_of_run(failed)
        assert outcome is not None
        health = after(health, outcome)
    assert health.status is HealthStatus.HEALTHY
