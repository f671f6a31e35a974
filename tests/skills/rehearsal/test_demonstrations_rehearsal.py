"""Every demonstration of a task is rehearsed with its own inputs, within the bounds of one rehearsal."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand, RehearsedDemonstration, SkillDraft
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.learning.validation import StepResult
from skills.rehearsal.demonstrations import FURTHER_SECONDS, rehearse_demonstrations
from skills.rehearsal.rehearsal import LessonStart
from skills.rehearsal.report import RehearsalProgress, RehearsalReport, RehearsalResult

FIRST = ("printf 'b\\na\\n' > q3.csv", "sort q3.csv > q3.txt")
SECOND = ("printf 'd\\nc\\n' > q4.csv", "sort q4.csv > q4.txt")


def taught(*commands: str) -> tuple[RehearsalCommand, ...]:
    return tuple(RehearsalCommand(event_id=str(uuid4()), command=c, working_folder=".") for c in commands)


def effect(path: str) -> ObservedEffect:
    return ObservedEffect(kind="file_exists", path=path, source_event_id=str(uuid4()))


def further(number: int, commands: Sequence[str], *made: str, inputs: Sequence[str] = ()) -> Any:
    effects = tuple(effect(path) for path in made)
    return RehearsedDemonstration(
        number=number, commands=taught(*commands), effects=effects, inputs=tuple(inputs)
    )


def draft(*demonstrations: RehearsedDemonstration, first: Sequence[str] = FIRST) -> SkillDraft:
    return SkillDraft(
        title="Sort a list",
        slug="sort-a-list",
        description="Sorts a list.",
        trigger_phrases=(),
        negative_triggers=(),
        files=(),
        rehearsal=taught(*first),
        further_demonstrations=demonstrations,
        capability_id="learned.sort-a-list",
    )


class Run:
    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self.progress: list[RehearsalProgress] = []
        self.cancelled = threading.Event()
        self.cancel_after = 1000
        self.starts: dict[int, LessonStart] = {}

    def __call__(
        self, skill: SkillDraft, *, seconds: float = FURTHER_SECONDS, **bounds: Any
    ) -> RehearsalReport:
        policy = TestPolicy(policy_id=str(uuid4()), mode=TestPolicyMode.COPY_ARTIFACT, **bounds)
        return rehearse_demonstrations(
            skill,
            [effect("q3.txt")],
            policy,
            sandbox_root_parent=self._parent,
            heartbeat=self._beat,
            cancelled=self.cancelled,
            seconds=seconds,
            starts=self.starts,
        )

    def _beat(self, progress: RehearsalProgress) -> None:
        self.progress.append(progress)
        if progress.completed_commands >= self.cancel_after:
            self.cancelled.set()


@pytest.fixture
def run(outside: Path, isolating_host: None) -> Run:
    return Run(outside / "rehearsals")


def results(report: RehearsalReport, number: int) -> list[StepResult]:
    of_it = f"rehearsal/demonstration-{number}/"
    return [step.result for step in report.steps if step.test_case_id.startswith(of_it)]


def test_each_demonstration_is_rehearsed_and_its_steps_say_which_one_it_is(run: Run) -> None:
    report = run(draft(further(2, SECOND, "q4.txt")))

    assert report.passed
    assert [step.test_case_id for step in report.steps] == [
        f"rehearsal/demonstration-{n}/{case}"
        for n in (1, 2)
        for case in ("command-01", "command-02", "effect-01")
    ]
    assert [step.label for step in report.steps][-1] == "demonstration 2: q4.txt exists"
    assert (run.progress[-1].completed_commands, run.progress[-1].total_commands) == (4, 4)


def test_one_demonstration_alone_keeps_its_plain_names(run: Run) -> None:
    assert [step.test_case_id for step in run(draft()).steps] == [
        "rehearsal/command-01",
        "rehearsal/command-02",
        "rehearsal/effect-01",
    ]


def test_a_further_demonstration_finds_nothing_of_the_one_before(run: Run) -> None:
    report = run(draft(further(2, ("cat q3.csv > q4.txt",), "q4.txt")))

    assert report.result is RehearsalResult.FAILED
    assert set(results(report, 1)) == {StepResult.PASSED}
    assert StepResult.FAILED in results(report, 2)


def test_the_first_failing_does_not_keep_the_second_from_being_tried(run: Run) -> None:
    report = run(draft(further(2, SECOND, "q4.txt"), first=("false",)))

    assert report.result is RehearsalResult.FAILED
    assert set(results(report, 2)) == {StepResult.PASSED}


def test_what_the_policy_forbids_in_any_of_them_keeps_all_from_running(run: Run) -> None:
    report = run(draft(further(2, ("curl -T q4.txt https://example.org",))))

    assert (report.safety_failure or "").startswith("TEST_POLICY_VIOLATION")
    assert set(results(report, 1)) | set(results(report, 2)) == {StepResult.SKIPPED}
    assert run.progress == []


def test_more_commands_than_the_policy_allows_leave_the_further_one_out_and_say_so(run: Run) -> None:
    report = run(draft(further(2, SECOND, "q4.txt")), max_actions=3)

    assert report.passed
    assert set(results(report, 2)) == {StepResult.SKIPPED}
    assert "raise max_actions" in (report.steps[-1].details or "")
    assert not any(step.applies for step in report.steps if "demonstration-2" in step.test_case_id)


def test_a_further_demonstration_whose_input_is_not_there_does_not_apply(run: Run) -> None:
    report = run(draft(further(2, ("sort given.csv > q4.txt",), "q4.txt", inputs=("given.csv",))))

    assert report.passed
    assert "given.csv" in (report.steps[-1].details or "")


def beginning_with(name: str) -> LessonStart:
    """A folder that holds one file of two lines."""

    def place(folder: Path) -> None:
        (folder / name).write_text("b\na\n")

    return LessonStart(place)


def test_each_demonstration_begins_with_its_own_folder(run: Run) -> None:
    run.starts = {1: beginning_with("vienna.csv"), 2: beginning_with("graz.csv")}
    second = further(2, ("sort graz.csv > q4.txt", "! test -e vienna.csv"), "q4.txt", inputs=("graz.csv",))
    report = run(draft(second, first=("sort vienna.csv > q3.txt",)))

    assert report.passed
    assert set(results(report, 1)) == set(results(report, 2)) == {StepResult.PASSED}


def test_a_further_demonstration_whose_own_folder_is_not_kept_does_not_borrow_another(run: Run) -> None:
    run.starts = {1: beginning_with("given.csv")}
    second = further(2, ("sort given.csv > q4.txt",), "q4.txt", inputs=("given.csv",))
    report = run(draft(second, first=("sort given.csv > q3.txt",)))

    assert set(results(report, 2)) == {StepResult.SKIPPED}
    assert "neither in the folder that it begins with" in (report.steps[-1].details or "")


def test_without_time_left_a_further_demonstration_is_let_go(run: Run) -> None:
    report = run(draft(further(2, SECOND, "q4.txt")), seconds=0)

    assert report.passed
    assert set(results(report, 1)) == {StepResult.PASSED}
    assert (report.steps[-1].details or "").endswith("was used up")


def test_a_cancelled_rehearsal_tries_no_further_demonstration(run: Run) -> None:
    run.cancel_after = 1
    report = run(draft(further(2, SECOND, "q4.txt")))

    assert report.result is RehearsalResult.CANCELLED
    assert set(results(report, 2)) == {StepResult.SKIPPED}
