"""What the calls of a skill add up to, and the series that Prometheus reads (CH-64)."""

from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from api.platform.skill_metrics import SkillMetrics
from contracts.errors import ErrorCode, Refusal
from contracts.skills.invocation import InvocationStatus, ObservabilityRecord, SkillOutcome
from contracts.skills.invocation_work import AttemptOrder
from contracts.skills.policy import SkillBudget
from domain.skills.call_metrics import DURATION_BOUNDS_MS, OTHER, counts_of
from domain.skills.outcomes import error_of
from stores.platform.database import Database
from stores.skills.admission import SkillAdmission
from stores.skills.attempts import AttemptResult, SkillAttempts
from stores.skills.reports.call_metrics import SkillCounts
from tests.domain.skills.manifests import manifest
from tests.stores.skills.admitted import NOW, Gate, order_of

FLAKY = manifest(name="look-up", cache_ttl_ms=60_000, max_attempts=3)


def seen(**fields: object) -> ObservabilityRecord:
    known = {"skill_name": "x", "timestamp": NOW, "input_hash": "0" * 64, "duration_ms": 5, "success": True}
    return ObservabilityRecord.model_validate({**known, **fields})


@pytest.mark.parametrize(
    ("milliseconds", "bucket"),
    [(0, 10), (10, 10), (11, 25), (250, 250), (300_000, 300_000), (300_001, None)],
)
def test_a_call_is_in_the_smallest_bucket_that_holds_it(milliseconds: int, bucket: int | None) -> None:
    counts = counts_of(seen(duration_ms=milliseconds))
    found = [name for name in counts if name.startswith("bucket:")]
    assert found == ([f"bucket:{bucket}"] if bucket else [])
    assert bucket is None or bucket in DURATION_BOUNDS_MS


def test_a_handler_cannot_make_up_any_number_of_labels() -> None:
    made_up = counts_of(seen(success=False, error_code="X-4711"))
    declared = counts_of(seen(success=False, error_code="X-4711"), declared=("X-4711",))
    assert f"error:{OTHER}" in made_up
    assert "error:X-4711" in declared


def lines(store: Database) -> set[str]:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SkillMetrics(SkillCounts(store)))
    return set(generate_latest(registry).decode().splitlines())


def run(store: Database, results: list[SkillOutcome]) -> None:
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    record = Gate(store).admit(FLAKY).kept.record
    for number, outcome in enumerate(results, start=1):
        order = AttemptOrder(invocation_id=record.invocation_id, attempt=number, at=NOW)
        attempts.begin(order)
        attempts.finish(order, AttemptResult(outcome, acted=False), NOW + timedelta(milliseconds=80))


@pytest.mark.acceptance("CH-64", "CH-03")
def test_a_success_and_a_failure_that_was_tried_again_stand_in_the_four_series(store: Database) -> None:
    assert lines(store) == set()
    good = SkillOutcome(status=InvocationStatus.SUCCESS, outputs={})
    bad = SkillOutcome(
        status=InvocationStatus.FAILURE, error=error_of(FLAKY, "NETWORK_ERROR", "Nobody answers.")
    )
    run(store, [bad, bad, bad])
    run(store, [good])
    assert Gate(store).admit(FLAKY).answered is not None, "a kept answer"
    assert lines(store) >= {
        'apprentice_skill_look_up_errors_total{error_code="NETWORK_ERROR"} 1.0',
        "apprentice_skill_look_up_retries_total 2.0",
        "apprentice_skill_look_up_success_rate 0.6666666666666666",
        'apprentice_skill_look_up_duration_ms_bucket{le="50.0"} 1.0',
        'apprentice_skill_look_up_duration_ms_bucket{le="100.0"} 3.0',
        'apprentice_skill_look_up_duration_ms_bucket{le="+Inf"} 3.0',
        "apprentice_skill_look_up_duration_ms_count 3.0",
        "apprentice_skill_look_up_duration_ms_sum 160.0",
    }


def test_a_refused_call_is_counted_and_a_dry_run_is_not(store: Database) -> None:
    Gate(store).admit(FLAKY, dry_run=True)
    assert lines(store) == set()
    admission = SkillAdmission(
        store, confirmation_expiry=timedelta(minutes=30), budget=SkillBudget(per_minute=1)
    )
    admission.refused(order_of(FLAKY), Refusal(ErrorCode.INVALID_INPUT, "No."), datetime.now(UTC))
    found = lines(store)
    assert 'apprentice_skill_look_up_errors_total{error_code="INVALID_INPUT"} 1.0' in found
    assert "apprentice_skill_look_up_success_rate 0.0" in found
