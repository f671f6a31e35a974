"""The health of a capability under any run of uses and canaries (DOC3 §1.1I)."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.capability_health import CapabilityHealthRecord, CapabilityOutcome, OutcomeKind
from contracts.abilities.capability_manifest import HealthStatus as H
from domain.abilities.capability_health import (
    AWAITING_SMOKE,
    COOLDOWN,
    DEGRADED_FROM,
    FAILURES_KEPT,
    HEALTHY_FROM,
    QUARANTINED_FROM,
    UNRUNNABLE_COOLDOWN,
    WINDOW,
    HealthChange,
    after_install,
    after_outcome,
    is_due,
    unusable_reason,
)

START = datetime(2026, 3, 1, tzinfo=UTC)
NEW = CapabilityHealthRecord(capability_id="learned.report")


def outcome(
    *,
    at: datetime = START,
    success: bool = False,
    kind: OutcomeKind = OutcomeKind.USE,
    fingerprint: str = "same",
    critical: bool = False,
) -> CapabilityOutcome:
    return CapabilityOutcome(
        outcome_id=str(UUID(int=1)),
        capability_id="learned.report",
        kind=kind,
        success=success,
        critical=critical and not success,
        failure_fingerprint=None if success else fingerprint,
        reported_by="alice",
        happened_at=at,
    )


def after(outcomes: list[CapabilityOutcome], status: H = H.HEALTHY) -> HealthChange:
    change = HealthChange(status, NEW)
    for one in outcomes:
        change = after_outcome(change.status, change.record, one)
    return change


hours = st.integers(0, 240)
kinds = st.sampled_from(OutcomeKind)
steps = st.tuples(hours, st.booleans(), kinds, st.sampled_from(["a", "b", "c", "d", "e"]), st.just(False))
"""Hours since the last, success, kind, fingerprint, critical."""
critical_steps = st.tuples(hours, st.just(False), kinds, st.just("a"), st.just(True))
runs = st.lists(steps | critical_steps, max_size=40)


def played(run: list[tuple[int, bool, OutcomeKind, str, bool]]) -> list[CapabilityOutcome]:
    found: list[CapabilityOutcome] = []
    at = START
    for wait, success, kind, fingerprint, critical in run:
        at += timedelta(hours=wait)
        found.append(outcome(at=at, success=success, kind=kind, fingerprint=fingerprint, critical=critical))
    return found


def reference(outcomes: list[CapabilityOutcome]) -> H:
    """The rules read off the document, over the whole run at each step."""
    status, since, canaries = H.HEALTHY, 0, 0
    for number, one in enumerate(outcomes):
        failed = [
            earlier
            for earlier in outcomes[since : number + 1]
            if not earlier.success and earlier.happened_at > one.happened_at - WINDOW
        ]
        if not one.success:
            canaries = 0
            same = max(Counter(each.failure_fingerprint for each in failed).values())
            if one.critical or len(failed) >= 5:
                status = H.QUARANTINED
            elif same >= 3 and status is not H.QUARANTINED:
                status = H.DEGRADED
        elif one.kind is OutcomeKind.CANARY:
            canaries += 1
            if status is not H.HEALTHY and canaries >= 5:
                status, since, canaries = H.HEALTHY, number + 1, 0
    return status


@given(runs)
def test_the_record_alone_decides_as_the_whole_history_would(
    run: list[tuple[int, bool, OutcomeKind, str, bool]],
) -> None:
    outcomes = played(run)
    assert after(outcomes).status is reference(outcomes)


@given(runs)
def test_what_is_switched_off_stays_off_and_still_counts_what_happens(
    run: list[tuple[int, bool, OutcomeKind, str, bool]],
) -> None:
    outcomes = played(run)
    change = after(outcomes, H.DISABLED)
    assert change.status is H.DISABLED
    assert change.record.uses == sum(one.kind is OutcomeKind.USE for one in outcomes)


@given(runs)
def test_no_run_leads_out_of_quarantine_without_good_canaries(
    run: list[tuple[int, bool, OutcomeKind, str, bool]],
) -> None:
    without = [one for one in played(run) if not (one.kind is OutcomeKind.CANARY and one.success)]
    assert after(without, H.QUARANTINED).status is H.QUARANTINED


@given(runs, st.lists(kinds.filter(lambda kind: kind is not OutcomeKind.CANARY), max_size=4))
def test_good_canaries_lead_back_from_anywhere_and_uses_between_them_do_not_matter(
    run: list[tuple[int, bool, OutcomeKind, str, bool]], between: list[OutcomeKind]
) -> None:
    before = after(played(run))
    at = START + timedelta(days=400)
    change = before
    for number in range(HEALTHY_FROM):
        for kind in between:
            change = after_outcome(change.status, change.record, outcome(at=at, success=True, kind=kind))
        good = outcome(at=at + timedelta(minutes=number), success=True, kind=OutcomeKind.CANARY)
        change = after_outcome(change.status, change.record, good)
    assert change.status is H.HEALTHY
    assert change.record.reason_codes == ()
    assert change.record.cooldown_until is None


@given(runs)
def test_a_record_stays_small_and_holds_failures_of_the_window_only(
    run: list[tuple[int, bool, OutcomeKind, str, bool]],
) -> None:
    record = after(played(run)).record
    assert len(record.failures) <= FAILURES_KEPT
    times = [note.happened_at for note in record.failures]
    assert times == sorted(times)
    assert not times or times[-1] - times[0] < WINDOW


@given(runs)
def test_whoever_is_not_healthy_has_a_reason(run: list[tuple[int, bool, OutcomeKind, str, bool]]) -> None:
    change = after(played(run))
    assert (change.status is H.HEALTHY) or change.record.reason_codes
    assert (unusable_reason(change.status, change.record) is not None) is (change.status is H.QUARANTINED)


@pytest.mark.acceptance("9.9-52")
def test_the_third_matching_failure_within_seven_days_degrades() -> None:
    matching = [outcome(at=START + timedelta(days=n)) for n in range(DEGRADED_FROM)]
    assert after(matching[:-1]).status is H.HEALTHY
    assert after(matching).status is H.DEGRADED
    different = [outcome(fingerprint=str(n)) for n in range(DEGRADED_FROM)]
    assert after(different).status is H.HEALTHY
    late = [*matching[:-1], outcome(at=START + WINDOW)]
    assert after(late).status is H.HEALTHY


@pytest.mark.acceptance("9.9-53")
def test_the_fifth_failure_or_one_critical_one_quarantines() -> None:
    failures = [outcome(fingerprint=str(n)) for n in range(QUARANTINED_FROM)]
    assert after(failures[:-1]).status is H.HEALTHY
    assert after(failures).status is H.QUARANTINED
    change = after([outcome(critical=True)])
    assert change.status is H.QUARANTINED
    assert change.record.reason_codes == ("critical_failure",)
    assert change.record.cooldown_until == START + COOLDOWN


@pytest.mark.acceptance("9.9-54")
def test_good_canaries_up_to_the_threshold_restore_what_was_quarantined_and_one_less_does_not() -> None:
    good = outcome(success=True, kind=OutcomeKind.CANARY)
    quarantined = [outcome(fingerprint=str(n)) for n in range(QUARANTINED_FROM)]
    almost = after([*quarantined, *[good] * (HEALTHY_FROM - 1)])
    assert (almost.status, almost.record.good_canaries) == (H.QUARANTINED, HEALTHY_FROM - 1)
    assert unusable_reason(almost.status, almost.record) is not None
    restored = after([*quarantined, *[good] * HEALTHY_FROM])
    assert (restored.status, restored.record.reason_codes) == (H.HEALTHY, ())
    assert unusable_reason(restored.status, restored.record) is None


def test_a_bad_canary_among_good_ones_starts_the_count_again() -> None:
    good = outcome(success=True, kind=OutcomeKind.CANARY)
    change = after([good] * 4 + [outcome(kind=OutcomeKind.CANARY)] + [good] * 4, H.QUARANTINED)
    assert (change.status, change.record.good_canaries) == (H.QUARANTINED, 4)
    assert after_outcome(change.status, change.record, good).status is H.HEALTHY


def test_a_canary_that_could_not_be_run_counts_neither_way_and_is_said() -> None:
    good = outcome(success=True, kind=OutcomeKind.CANARY)
    not_run = outcome(kind=OutcomeKind.CANARY).changed(not_run=True, failure_fingerprint=None)
    change = after([good] * 4 + [not_run] * 9, H.QUARANTINED)
    assert (change.status, change.record.good_canaries) == (H.QUARANTINED, 4)
    assert "could not be run" in (unusable_reason(change.status, change.record) or "")
    assert not is_due(change.status, change.record, START)
    assert after_outcome(change.status, change.record, good).status is H.HEALTHY
    assert after([not_run] * 9) == HealthChange(H.HEALTHY, NEW.changed(cooldown_until=START + COOLDOWN))


def test_after_its_recovery_old_failures_weigh_nothing() -> None:
    good = outcome(success=True, kind=OutcomeKind.CANARY)
    recovered = after([outcome() for _ in range(5)] + [good] * 5)
    assert after_outcome(recovered.status, recovered.record, outcome()).status is H.HEALTHY


def test_the_schedule_leaves_the_healthy_alone_and_waits_for_the_cooldown() -> None:
    change = after([outcome(critical=True)])
    assert not is_due(change.status, change.record, START)
    assert not is_due(change.status, change.record, START + COOLDOWN - timedelta(seconds=1))
    assert is_due(change.status, change.record, START + COOLDOWN)
    assert not is_due(H.HEALTHY, NEW, START + COOLDOWN)
    assert not is_due(H.DISABLED, NEW, START + COOLDOWN)
    assert is_due(H.DEGRADED, NEW, START)


def installed(
    status: H | None, codes: tuple[str, ...] = (), failures: int = 0, *, same: bool = False
) -> HealthChange:
    if status is None:
        return after_install("learned.report", None, same_content=same)
    failed = after([outcome(fingerprint=str(number)) for number in range(failures)])
    prior = HealthChange(status, failed.record.changed(reason_codes=codes, good_canaries=2))
    return after_install("learned.report", prior, same_content=same)


@pytest.mark.parametrize(
    ("before", "codes", "expected", "expected_codes"),
    [
        (None, (), H.DEGRADED, (AWAITING_SMOKE,)),
        (H.HEALTHY, (), H.DEGRADED, (AWAITING_SMOKE,)),
        (H.DEGRADED, (AWAITING_SMOKE,), H.DEGRADED, (AWAITING_SMOKE,)),
        (H.DEGRADED, (AWAITING_SMOKE, "canary_not_run"), H.DEGRADED, (AWAITING_SMOKE,)),
        (
            H.DEGRADED,
            ("matching_failures", "canary_failed"),
            H.DEGRADED,
            ("matching_failures", AWAITING_SMOKE),
        ),
        (H.QUARANTINED, ("critical_failure",), H.DEGRADED, ("critical_failure", AWAITING_SMOKE)),
        (H.UNKNOWN, (), H.DEGRADED, (AWAITING_SMOKE,)),
        (H.DISABLED, (), H.DISABLED, (AWAITING_SMOKE,)),
    ],
)
def test_other_content_is_never_healthier_than_untried_and_keeps_what_counted(
    before: H | None, codes: tuple[str, ...], expected: H, expected_codes: tuple[str, ...]
) -> None:
    found = installed(before, codes, failures=2)
    assert (found.status, found.record.reason_codes) == (expected, expected_codes)
    assert len(found.record.failures) == (2 if before is not None else 0)
    assert (found.record.good_canaries, found.record.last_verified_at) == (0, None)


@pytest.mark.parametrize("before", list(H))
def test_the_same_content_again_stays_as_it_was(before: H) -> None:
    found = installed(before, ("matching_failures",), failures=3, same=True)
    assert (found.status, found.record.reason_codes) == (before, ("matching_failures",))
    assert (len(found.record.failures), found.record.good_canaries) == (3, 2)


def test_one_good_canary_ends_the_wait_for_the_smoke_test_and_five_what_failed_before() -> None:
    good = outcome(success=True, kind=OutcomeKind.CANARY)
    new = installed(None)
    assert after_outcome(new.status, new.record, good).status is H.HEALTHY
    bad = installed(H.QUARANTINED, ("critical_failure",), failures=1)
    for number in range(HEALTHY_FROM):
        assert bad.status is H.DEGRADED, number
        bad = after_outcome(bad.status, bad.record, good)
    assert (bad.status, bad.record.reason_codes) == (H.HEALTHY, ())


def test_what_cannot_be_run_here_stays_degraded_and_is_not_tried_every_hour() -> None:
    new = installed(None)
    not_run = outcome(kind=OutcomeKind.CANARY, success=True).changed(success=False, not_run=True)
    found = after_outcome(new.status, new.record, not_run)
    assert (found.status, found.record.reason_codes) == (H.DEGRADED, (AWAITING_SMOKE, "canary_not_run"))
    assert not is_due(found.status, found.record, START + COOLDOWN)
    assert is_due(found.status, found.record, START + UNRUNNABLE_COOLDOWN)
