"""What a checkpoint says is tested, or SKILL.md says that it is not and that a person looks."""

from datetime import UTC, datetime

import pytest

from contracts.learning.evidence import ConditionKind, ProofCondition
from contracts.learning.interpretation import (
    Checkpoint,
    ObservedEffect,
    ParameterType,
    ProjectScope,
    SemanticWorkflowInterpretation,
    SkillParameter,
)
from contracts.learning.session import LearnExecutionMode
from domain.learning.conditions.stated_conditions import untested_checkpoints, why_untested
from domain.learning.drafting.skill_markdown import SkillDocument, render_skill_markdown

ID = "01890000-0000-7000-8000-000000000001"
TESTED = (
    ProofCondition(
        kind=ConditionKind.SORTED,
        path="top.csv",
        argument="n",
        statement="The file top.csv is sorted by its numbers",
    ),
    ProofCondition(
        kind=ConditionKind.NOT_EMPTY, path="log-7.txt", statement="The file log-7.txt is not empty"
    ),
)
EFFECTS = (
    ("file_exists", "top.csv"),
    ("file_exists", "out/count.txt"),
    ("file_exists", "part_aa"),
    ("file_exists", "part_ab"),
    ("file_exists", "log-7.txt"),
    ("file_absent", "draft.md"),
    ("file_absent", "old.md"),
    ("page_shows", "The page is open"),
)


def shown(condition: str) -> SemanticWorkflowInterpretation:
    return SemanticWorkflowInterpretation(
        interpretation_id=ID,
        title="Top of the stock",
        goal_summary="List the top of the stock",
        project_scope=ProjectScope.GLOBAL,
        checkpoints=(
            Checkpoint(checkpoint_id="cp-01", goal="It is done", success_condition=condition, order_hint=1),
        ),
        observed_effects=tuple(
            ObservedEffect(kind=kind, path=path, source_event_id=ID) for kind, path in EFFECTS
        ),
        parameters=(
            SkillParameter(name="day", type=ParameterType.NUMBER, description="The day", examples=("7",)),
        ),
        created_at=datetime(2026, 5, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    "condition",
    [
        "The file top.csv is sorted by its numbers",
        "the file top.csv is sorted by its numbers.",
        "The file log-{day}.txt is not empty",
        "The file top.csv exists",
        "top.csv exists",
        "The file part_* exists",
        "The files part_* exist",
        "The files top.csv, out/count.txt and part_aa exist",
        "The files top.csv, out/count.txt, part_aa and 2 others exist",
        "The file draft.md no longer exists",
        "The files draft.md and old.md no longer exist",
        "The file log-{day}.txt exists",
    ],
)
def test_what_a_condition_says_or_that_observed_files_are_there_or_gone_is_tested(condition: str) -> None:
    assert untested_checkpoints(shown(condition), TESTED) == frozenset()


@pytest.mark.parametrize(
    "condition",
    [
        "Each photo is 800 pixels wide",
        "The file top.csv has been changed",
        "The file top.csv exists and is in sorted order",
        "The file other.csv exists",
        "The files top.csv and other.csv exist",
        "The file top.csv no longer exists",
        "The file draft.md exists",
        "The page is open",
        "The newest commit holds the change",
        "The test run reports no failure",
        "The result that was asked for is there and can be looked at",
        "The file top.csv has 3 lines",
    ],
)
def test_any_other_condition_is_not_tested(condition: str) -> None:
    assert untested_checkpoints(shown(condition), TESTED) == {"cp-01"}


def test_files_are_not_tested_where_no_command_can_be_repeated() -> None:
    assert untested_checkpoints(shown("The file top.csv exists"), (), tests_files=False) == {"cp-01"}


def test_the_skill_says_of_each_checkpoint_that_nothing_tests_that_a_person_looks() -> None:
    checkpoints = [
        Checkpoint(checkpoint_id=f"cp-{n:02d}", goal=goal, success_condition=condition, order_hint=n)
        for n, (goal, condition) in enumerate(
            (
                ("The list is ready", "top.csv exists"),
                ("The list is sent", "The person has it"),
                ("It is backed up", "It is backed up"),
            ),
            start=1,
        )
    ]
    text = render_skill_markdown(
        SkillDocument(
            name="top",
            title="Top",
            description="Top",
            goal="Top",
            use_conditions=(),
            non_use_conditions=(),
            checkpoints=checkpoints,
            success_conditions=(),
            inputs=(),
            safety=(),
            programs=(),
            triggers=(),
            negative_triggers=(),
            capability_id="learned.top",
            execution_mode=LearnExecutionMode.GUIDED,
            untested_checkpoints={"cp-02", "cp-03"},
        )
    )

    assert "   Verify: top.csv exists.\n" in text
    assert "   Verify: the person has it (not tested: a person looks).\n" in text
    assert "3. **It is backed up.** (cp-03)\n   Verify: not tested: a person looks.\n" in text


@pytest.mark.parametrize(
    ("condition", "tests_files", "reason"),
    [
        ("It looks good to the customer", True, "Its words name nothing"),
        ("The file top.csv holds “north”", True, "It can be tested, but"),
        ("The file never.csv exists", True, "It can be tested, but"),
        ("It looks good to the customer", False, "No command of the lesson"),
        ("The file top.csv holds “north”", False, "No command of the lesson"),
    ],
)
def test_what_nothing_tests_says_why_and_what_to_do(condition: str, tests_files: bool, reason: str) -> None:
    (why,) = why_untested(shown(condition), TESTED, tests_files=tests_files).values()
    assert why.reason.startswith(reason)
    assert ("Revise with" in why.next_step) is tests_files
