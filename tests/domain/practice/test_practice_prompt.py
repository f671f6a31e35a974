"""What a model is told of a practice: the task, what is known and what was tried; redacted, and no file."""

import json
from dataclasses import replace
from typing import Any

import pytest

from contracts.practice.practice import (
    IdeaSource,
    PracticeAttempt,
    PracticeIdea,
    PracticeStep,
    StartPracticeRequest,
)
from domain.learning.model.prompt import MAX_PROMPT_CHARS, PromptTooLarge
from domain.practice.commands import KnownCommand
from domain.practice.plans import MOST_KNOWN, practice_question

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def request(**fields: Any) -> StartPracticeRequest:
    body = {
        "goal": "Sort the sales",
        "success_conditions": [{"kind": "file_exists", "path": "top.csv"}],
        "allowed_commands": ["sort", "uniq -c {input} > {output}"],
        "start_files": [{"name": "sales.csv", "content": "a private figure,3\n"}],
        **fields,
    }
    return StartPracticeRequest.model_validate(body)


def data(asked: StartPracticeRequest, *known: KnownCommand, **more: Any) -> dict[str, Any]:
    tried: tuple[PracticeAttempt, ...] = more.get("tried", ())
    return json.loads(practice_question(asked, known, tried, 4).user)


def taught(command: str, about: str = "Sorting") -> KnownCommand:
    return KnownCommand(command, ("out.csv",), about, IdeaSource.ABILITY)


def test_it_holds_the_task_and_its_bounds_and_the_names_of_the_files() -> None:
    told = data(request())
    assert told["goal"] == "Sort the sales"
    assert told["success_conditions"] == [{"kind": "file_exists", "path": "top.csv", "exit_code": 0}]
    assert told["start_files"] == [{"name": "sales.csv", "bytes": 19}]
    assert (told["allowed_programs"], told["allowed_commands"]) == (["sort"], ["uniq -c {input} > {output}"])
    assert told["most_commands_of_a_plan"] == 4
    assert "private figure" not in json.dumps(told)


def test_only_taught_commands_that_the_list_allows_are_told() -> None:
    told = data(request(), taught("sort -r in.csv > out.csv"), taught("python3 report.py"))
    assert told["known_commands"] == [
        {"command": "sort -r in.csv > out.csv", "makes": ["out.csv"], "about": "Sorting"}
    ]


def test_what_was_tried_is_told_with_how_it_ended() -> None:
    idea = PracticeIdea(steps=(PracticeStep(command="sort x > y", source=IdeaSource.MODEL),), confidence=0.5)
    attempt = PracticeAttempt(number=1, idea=idea, outcome="top.csv was not made")
    told = data(request(), tried=(attempt,))
    assert told["tried"] == [{"commands": ["sort x > y"], "outcome": "top.csv was not made"}]


def test_secrets_addresses_and_homes_stay_here() -> None:
    asked = request(goal=f"Sort for ann@example.org with {SECRET} in /home/ann/x")
    question = practice_question(asked, [taught("sort /home/ann/a > out.csv")], (), 4)
    for text in (SECRET, "ann@example.org", "/home/ann"):
        assert text not in question.user


def test_taught_commands_make_room_until_the_rest_fits() -> None:
    many = "sales of one quarter.csv " * 15
    known = [taught(f"sort '{many}' > {n}.csv", "The sales " * 20) for n in range(MOST_KNOWN + 5)]
    assert len(data(request(), *known)["known_commands"]) == MOST_KNOWN
    wide = [replace(one, made=("the sales of one quarter.csv",) * 90) for one in known]
    asked = practice_question(request(), wide, (), 4)
    assert len(asked.user) <= MAX_PROMPT_CHARS
    assert 0 < len(json.loads(asked.user)["known_commands"]) < MOST_KNOWN


def test_a_task_that_does_not_fit_is_not_cut() -> None:
    huge = request(allowed_commands=["sort " + "sales.csv " * 30])
    # More than the contract lets in: the bound of the prompt is one of its own.
    wide = huge.model_construct(**huge.__dict__ | {"allowed_commands": huge.allowed_commands * 200})
    with pytest.raises(PromptTooLarge):
        practice_question(wide, (), (), 4)


def test_what_a_failed_command_printed_of_a_file_is_cut_out() -> None:
    step = PracticeStep(command="sort -c sales.csv", source=IdeaSource.MODEL)
    printed = "sort: sales.csv:2: disorder: "
    attempt = PracticeAttempt(
        number=1,
        idea=PracticeIdea(steps=(step,), confidence=0.5),
        outcome=f"sort -c sales.csv failed: exit code 1; {printed}aardvark-client,9",
    )
    start = [{"name": "sales.csv", "content": "zebra-client,3\naardvark-client,9\n"}]
    (told,) = data(request(start_files=start), tried=(attempt,))["tried"]
    assert told["outcome"] == f"sort -c sales.csv failed: exit code 1; {printed}[CONTENT]-[CONTENT],[CONTENT]"
