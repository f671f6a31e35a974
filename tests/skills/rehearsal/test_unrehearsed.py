"""What no rehearsal can repeat is said, and counts as no proof."""

from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.evidence import UnrehearsedCommand
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.starting_state import EntryKind, StartingEntry
from contracts.learning.validation import (
    REQUIRED_CHECKS,
    SafetyClass,
    StepResult,
    ValidationRunKind,
    is_proven,
)
from skills.rehearsal.demonstrations import (
    nothing_to_rehearse,
    rehearsed_effects,
    safety_beside,
    unrehearsed_steps,
)
from skills.rehearsal.report import CheckReport, CheckStep, beginning_step, check_step

EVENT = "00000000-0000-7000-8000-000000000001"
PAGE = ObservedEffect(kind="page_shows", path="The page “Orders” is open", source_event_id=EVENT)
FETCHED = ObservedEffect(kind="file_downloaded", path="stock.csv", source_event_id=EVENT)
FILE = ObservedEffect(kind="file_exists", path="b.csv", source_event_id=EVENT)
PASSED = CheckStep("rehearsal/command-01", "run: sort", StepResult.PASSED)


def draft(*commands: str) -> SkillDraft:
    return SkillDraft(
        title="Save order",
        slug="save-order",
        description="Saves an order.",
        trigger_phrases=("save order",),
        negative_triggers=(),
        files=(),
        rehearsal=tuple(RehearsalCommand(event_id=EVENT, command=c, working_folder=".") for c in commands),
        capability_id="learned.save-order",
    )


def test_only_what_was_seen_in_a_browser_leaves_nothing_to_rehearse() -> None:
    assert nothing_to_rehearse(draft(), [PAGE, FETCHED])
    assert not nothing_to_rehearse(draft("sort a"), [PAGE])
    assert not nothing_to_rehearse(draft(), [PAGE, FILE])
    # Nothing at all was seen: that is no excuse.
    assert not nothing_to_rehearse(draft(), [])
    assert rehearsed_effects([PAGE, FILE, FETCHED]) == (FILE,)


def test_such_a_check_is_neither_passed_nor_failed_but_not_applicable_with_its_reason() -> None:
    report = CheckReport(steps=unrehearsed_steps([PAGE, FETCHED]))
    assert not report.passed
    assert report.not_applicable is not None
    assert report.not_applicable.startswith("not applicable: this was shown in a browser")
    assert {step.result for step in report.steps} == {StepResult.SKIPPED}


def test_beside_commands_it_is_shown_as_skipped_and_the_commands_decide() -> None:
    unseen = unrehearsed_steps([PAGE])
    good = CheckReport(steps=(PASSED, *unseen))
    bad = CheckReport(steps=(CheckStep("rehearsal/command-01", "run: sort", StepResult.FAILED), *unseen))
    assert (good.passed, good.not_applicable) == (True, None)
    assert (bad.passed, bad.not_applicable) == (False, None)


def test_what_acts_on_a_live_site_is_never_called_harmless() -> None:
    assert safety_beside(SafetyClass.LOW, [FILE]) is SafetyClass.LOW
    assert safety_beside(SafetyClass.LOW, [FILE, PAGE]) is SafetyClass.MEDIUM
    assert safety_beside(SafetyClass.HIGH, [PAGE]) is SafetyClass.HIGH


@pytest.mark.acceptance("X-34")
def test_a_skill_that_was_run_in_a_lesson_counts_with_its_own_class() -> None:
    run = UnrehearsedCommand(
        event_id=EVENT, command="Debit", reason="It acts.", safety_class=SafetyClass.HIGH
    )
    assert safety_beside(SafetyClass.LOW, [FILE], [run]) is SafetyClass.HIGH
    assert (
        safety_beside(SafetyClass.LOW, [PAGE], [run.changed(safety_class=SafetyClass.LOW)])
        is SafetyClass.MEDIUM
    )
    assert safety_beside(SafetyClass.HIGH, [], [run.changed(safety_class=None)]) is SafetyClass.HIGH


@pytest.mark.parametrize("result", [StepResult.SKIPPED, StepResult.FAILED])
def test_a_case_that_applies_and_was_skipped_is_no_proof(result: StepResult) -> None:
    report = CheckReport(steps=(PASSED, CheckStep("rehearsal/command-02", "run: tar", result)))
    assert not report.passed
    assert report.not_applicable is None


@given(
    st.sampled_from([c for n in range(6) for c in combinations(REQUIRED_CHECKS, n)]),
    st.sets(st.sampled_from(ValidationRunKind)),
)
def test_only_the_rehearsal_can_be_excused(
    passed: tuple[ValidationRunKind, ...], excused: set[ValidationRunKind]
) -> None:
    missing = set(REQUIRED_CHECKS) - set(passed)
    allowed = missing <= ({ValidationRunKind.REHEARSAL} & excused)
    assert is_proven(passed, tuple(excused)) is allowed


def test_a_large_file_that_was_tried_by_its_beginning_is_named_and_proves_nothing() -> None:
    file = StartingEntry(
        path="app.log",
        kind=EntryKind.FILE,
        size_bytes=262_100,
        whole_size_bytes=52_428_800,
        modified_at=datetime(2026, 3, 1, tzinfo=UTC),
        kept=True,
    )
    step = check_step(beginning_step(1, file))
    assert (step.label, step.details) == (
        "tried with the first lines of app.log",
        "262100 of its 52428800 bytes are kept in the starting state",
    )
    alone = CheckReport(steps=(step,))
    assert (alone.passed, alone.unproved) == (False, ())
