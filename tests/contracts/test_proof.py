"""One rule says what is proven, whoever asks: a review, an install, a roll-back, the end of a quarantine."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.validation import (
    CHECK_REF,
    REQUIRED_CHECKS,
    DraftProof,
    OverallResult,
    ValidationRun,
    is_proven,
    proof_of,
)
from contracts.learning.validation import ValidationRunKind as Check

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
ID = "00000000-0000-7000-8000-000000000001"
WITHOUT_REHEARSAL = tuple(check for check in REQUIRED_CHECKS if check is not Check.REHEARSAL)


def run(
    result: OverallResult,
    checks: Sequence[Check] = REQUIRED_CHECKS,
    passed: Sequence[Check] = (),
    not_applicable: Sequence[Check] = (),
    *,
    minute: int = 0,
    ended: bool = True,
) -> ValidationRun:
    return ValidationRun(
        validation_run_id=ID,
        proposal_id=ID,
        run_kind=checks[-1],
        content_hash="0" * 64,
        started_at=BEGAN,
        completed_at=BEGAN + timedelta(minutes=minute) if ended else None,
        overall_result=result,
        result_refs=tuple(f"{CHECK_REF}{check.value}" for check in checks),
        passed_checks=tuple(passed),
        not_applicable=tuple(not_applicable),
    )


def test_a_lesson_that_cannot_be_rehearsed_is_proven_by_everything_else() -> None:
    partial = run(OverallResult.PARTIAL, passed=WITHOUT_REHEARSAL, not_applicable=[Check.REHEARSAL])
    assert proof_of([partial]).complete
    assert Check.REHEARSAL not in proof_of([partial]).passed
    unread = run(OverallResult.PARTIAL, passed=WITHOUT_REHEARSAL[1:], not_applicable=[Check.REHEARSAL])
    assert not proof_of([unread]).complete


def test_a_run_that_goes_on_or_was_cancelled_proves_nothing() -> None:
    assert not proof_of([run(OverallResult.PARTIAL, ended=False)]).complete
    assert not proof_of([run(OverallResult.CANCELLED)]).complete
    assert not proof_of([]).complete


def test_runs_kept_before_they_named_their_checks_count_by_their_result() -> None:
    assert proof_of([run(OverallResult.PASSED)]).complete
    assert proof_of([run(OverallResult.PARTIAL)]) == DraftProof(WITHOUT_REHEARSAL, (Check.REHEARSAL,))
    assert not proof_of([run(OverallResult.FAILED)]).passed


def test_the_newest_word_on_each_check_counts() -> None:
    whole = run(OverallResult.PASSED, passed=REQUIRED_CHECKS, minute=1)
    failed = run(OverallResult.FAILED, [Check.REHEARSAL], minute=2)
    mended = run(OverallResult.PASSED, [Check.REHEARSAL], [Check.REHEARSAL], minute=3)
    assert not proof_of([failed, whole]).complete
    assert proof_of([mended, failed, whole]).complete


some_checks = st.lists(st.sampled_from(REQUIRED_CHECKS), min_size=1, unique=True).map(
    lambda found: [check for check in REQUIRED_CHECKS if check in found]
)


@given(st.data(), st.lists(some_checks, max_size=6))
def test_what_a_session_takes_from_its_runs_one_by_one_is_what_all_of_them_prove(
    data: st.DataObject, asked: list[list[Check]]
) -> None:
    session, runs = DraftProof(), list[ValidationRun]()
    for minute, checks in enumerate(asked):
        passed = [check for check in checks if data.draw(st.booleans())]
        unapplied = [check for check in checks if check not in passed and data.draw(st.booleans())]
        session = session.after(checks, passed, unapplied)
        fine = len(passed) + len(unapplied) == len(checks)
        result = (
            (OverallResult.PARTIAL if unapplied else OverallResult.PASSED) if fine else OverallResult.FAILED
        )
        runs.append(run(result, checks, passed, unapplied, minute=minute))
    assert proof_of(reversed(runs)) == session
    assert session.complete is is_proven(session.passed, session.not_applicable)
