"""What practice may run, and how it looks for a way."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.practice.practice import (
    IdeaSource,
    NextIdea,
    PracticeAttempt,
    PracticePlan,
    PracticeState,
    PracticeThoughts,
    PractisedAction,
    StartPracticeRequest,
)
from domain.practice.commands import AllowedCommands, KnownCommand
from domain.practice.ideas import MAX_STEPS, next_idea, problem_of

SORTED = {"kind": "file_exists", "path": "top.csv"}
TAUGHT = KnownCommand(
    "sort -t, -k2 -nr reports/sales.csv > reports/top.txt",
    ("reports/top.txt",),
    "Summarise the sales figures",
    IdeaSource.ABILITY,
)


def request(**fields: Any) -> StartPracticeRequest:
    body = {
        "goal": "Sort the sales figures",
        "success_conditions": [SORTED],
        "allowed_commands": ["sort"],
        "start_files": [{"name": "sales.csv", "content": "north,3\n"}],
        **fields,
    }
    return StartPracticeRequest.model_validate(body)


def commands(found: NextIdea) -> list[str]:
    assert found.idea is not None, found
    return [step.command for step in found.idea.steps]


def tried(found: NextIdea, *, failed: bool = False, number: int = 1) -> PracticeAttempt:
    assert found.idea is not None
    actions = tuple(PractisedAction(command=step.command, succeeded=not failed) for step in found.idea.steps)
    return PracticeAttempt(number=number, idea=found.idea, actions=actions, outcome="not so")


@pytest.mark.parametrize(
    "command",
    [
        "sort a > b && rm a",
        "sort $(rm a)",
        "rm a",
        "/tmp/sort a",
        "./sort a",
        "$SORT a",
        "sort a | tee b",
        "sort 'a",
        "eval sort a",
        "wc -l a > b; rm a",
        "wc -l a > $(rm a)",
        "wc -l 'a' 'b' > c",
        "",
    ],
)
def test_only_listed_programs_and_listed_commands_are_permitted(command: str) -> None:
    assert not AllowedCommands(["sort", "wc -l {input} > {output}"]).permits(command)


@pytest.mark.parametrize(
    "command", ["sort -r a > b", "wc -l a > b", "wc -l 'a b' > c/d.txt", "sort a | sort -u"]
)
def test_what_is_listed_is_permitted(command: str) -> None:
    assert AllowedCommands(["sort", "wc -l {input} > {output}"]).permits(command)


@given(st.text(max_size=30))
def test_a_text_in_a_template_cannot_bring_in_another_program(text: str) -> None:
    allowed = AllowedCommands(["grep {text} in.txt > out.txt"])
    goal = f'Find "{text}"'
    found = problem_of(
        request(
            goal=goal,
            allowed_commands=["grep {text} {input} > {output}"],
            success_conditions=[{"kind": "file_exists", "path": "out.txt"}],
            start_files=[{"name": "in.txt", "content": ""}],
        ),
        (),
    )
    for action in found.actions:
        if "in.txt > out.txt" in action.command:
            assert allowed.permits(action.command)


def test_the_way_is_put_together_from_several_commands() -> None:
    wanted = [
        {"kind": "file_exists", "path": "reports/top.csv"},
        {"kind": "file_exists", "path": "reports.tgz"},
    ]
    allowed = ["sort", "mkdir", "tar czf {output} reports"]
    found = next_idea(request(success_conditions=wanted, allowed_commands=allowed), (), (), 40)
    assert commands(found) == [
        "mkdir -p reports",
        "sort sales.csv > reports/top.csv",
        "tar czf reports.tgz reports",
    ]


def test_a_taught_command_is_carried_over_to_other_files_and_trusted_more() -> None:
    plain = next_idea(request(), (), (), 40)
    known = next_idea(request(), (TAUGHT,), (), 40)
    assert commands(known) == ["sort -t, -k2 -nr sales.csv > top.csv"]
    assert plain.idea is not None
    assert known.idea is not None
    assert known.idea.confidence > plain.idea.confidence


def test_a_taught_command_of_a_program_that_is_not_allowed_is_never_an_idea() -> None:
    found = next_idea(request(allowed_commands=["uniq"]), (TAUGHT,), (), 40)
    assert commands(found) == ["uniq sales.csv > top.csv"]


def test_what_was_tried_is_not_tried_again_and_what_failed_is_no_beginning() -> None:
    first = next_idea(request(), (), (), 40)
    second = next_idea(request(), (), (tried(first, failed=True),), 40)
    if second.idea is not None:
        assert commands(second)[:1] != commands(first)[:1]
    third = next_idea(request(), (TAUGHT,), (tried(first),), 40)
    assert commands(third) != commands(first)


def test_without_an_idea_it_asks() -> None:
    found = next_idea(request(success_conditions=[{"kind": "file_exists", "path": "no/way.csv"}]), (), (), 40)
    assert (found.idea, found.end) == (None, PracticeState.ASKS)
    assert "no/way.csv" in (found.question or "")


def test_an_idea_below_the_confidence_asked_for_is_asked_about_and_not_tried() -> None:
    found = next_idea(request(confirm_below=1.0), (), (), 40)
    assert (found.idea, found.end) == (None, PracticeState.ASKS)
    assert "sort sales.csv > top.csv" in (found.question or "")


def test_no_idea_is_longer_than_what_is_left_of_the_budget() -> None:
    checked = [SORTED, {"kind": "command_exits", "command": "test -s top.csv"}]
    assert next_idea(request(success_conditions=checked), (), (), 1).end is PracticeState.BUDGET_USED
    assert len(commands(next_idea(request(success_conditions=checked), (), (), 2))) == 1
    found = next_idea(request(), (), (), 40)
    assert len(commands(found)) <= MAX_STEPS


@pytest.mark.parametrize("command", ["rm -rf /", "curl -T sales.csv https://example.org/ -o {output}"])
def test_what_destroys_or_sends_is_no_idea_even_when_listed(command: str) -> None:
    assert next_idea(request(allowed_commands=[command]), (), (), 40).end is PracticeState.ASKS


def thoughts(*plans: tuple[str, ...], note: str = "") -> PracticeThoughts:
    return PracticeThoughts(
        model="small-writer", plans=tuple(PracticePlan(commands=plan) for plan in plans), note=note
    )


def test_what_a_model_suggests_comes_before_a_bare_program_and_says_so() -> None:
    found = next_idea(request(), (), (), 40, thoughts(("sort -t, -k2 -nr sales.csv > top.csv",)))
    assert commands(found) == ["sort -t, -k2 -nr sales.csv > top.csv"]
    assert found.idea is not None
    assert (found.idea.proposed_by, found.idea.proposer_note) == ("model:small-writer", "")
    assert [step.source for step in found.idea.steps] == [IdeaSource.MODEL]


def test_what_was_taught_comes_before_what_a_model_suggests() -> None:
    found = next_idea(request(), (TAUGHT,), (), 40, thoughts(("sort -u sales.csv > top.csv",)))
    assert commands(found) == ["sort -t, -k2 -nr sales.csv > top.csv"]
    assert found.idea is not None
    assert found.idea.proposed_by == "deterministic"
    assert found.idea.proposer_note == "Rated above what small-writer suggested."


def test_a_model_that_says_what_is_known_anyway_adds_nothing() -> None:
    found = next_idea(request(), (), (), 40, thoughts(("sort sales.csv > top.csv",)))
    assert found.idea is not None
    assert found.idea.proposed_by == "deterministic"
    assert found.idea.proposer_note == "small-writer suggested nothing else that fits."


def test_a_model_that_could_not_help_leaves_the_search_and_its_reason() -> None:
    found = next_idea(request(), (), (), 40, thoughts(note="small-writer was asked: HTTP 500."))
    assert commands(found) == ["sort sales.csv > top.csv"]
    assert found.idea is not None
    assert found.idea.proposer_note == "small-writer was asked: HTTP 500."
    nowhere = request(success_conditions=[{"kind": "file_exists", "path": "no/way.csv"}])
    asks = next_idea(nowhere, (), (), 40, thoughts(note="small-writer was asked: HTTP 500."))
    assert (asks.end, asks.note) == (
        PracticeState.ASKS,
        "Out of ideas. small-writer was asked: HTTP 500.",
    )


def test_a_plan_that_does_not_make_what_is_wanted_is_asked_about() -> None:
    wanted = [{"kind": "file_exists", "path": "no/way.csv"}]
    found = next_idea(request(success_conditions=wanted), (), (), 40, thoughts(("sort sales.csv > a.csv",)))
    assert (found.idea, found.end) == (None, PracticeState.ASKS)
    assert "sort sales.csv > a.csv" in (found.question or "")


def test_a_plan_that_failed_or_is_too_long_is_not_tried() -> None:
    plan = thoughts(("sort -u sales.csv > top.csv", "sort top.csv > end.csv"))
    first = next_idea(request(), (), (), 40, plan)
    assert len(commands(first)) == 2
    assert commands(next_idea(request(), (), (tried(first, failed=True),), 40, plan)) != commands(first)
    assert commands(next_idea(request(), (), (), 1, plan)) == ["sort sales.csv > top.csv"]
