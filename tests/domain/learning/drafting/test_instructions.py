"""A revision's words are carried out by rules; what no rule understands is left over, and nothing is guessed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.learning.evidence import CommandUse
from contracts.learning.interpretation import (
    Checkpoint,
    ProjectScope,
    SemanticWorkflowInterpretation,
    SkillParameter,
)
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.requests import UNDERSTOOD_INSTRUCTIONS
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.instructions import read_instructions
from domain.learning.drafting.put_back import LeftCommands

ID = "0190a0b0-0000-7000-8000-000000000001"
NOW = datetime(2026, 5, 1, tzinfo=UTC)
GOALS = (
    ("The folder small exists", "The folder small is there"),
    ("The photos are resized", "Each photo in small is {width} pixels wide"),
    ("The old copies are removed", "The folder old is gone"),
    ("The photos are packed", "small.zip holds every photo"),
)
SHOWN = SemanticWorkflowInterpretation(
    interpretation_id=ID,
    learn_session_id=ID,
    title="Resize photos",
    goal_summary="Resize the photos of a folder and pack them",
    use_conditions=("Photos have to be made smaller",),
    non_use_conditions=("The originals must be kept",),
    project_scope=ProjectScope.GLOBAL,
    success_conditions=("small.zip exists", "Every photo is at most {width} pixels wide"),
    checkpoints=tuple(
        Checkpoint(checkpoint_id=f"cp-{n:02d}", goal=goal, success_condition=condition, order_hint=n)
        for n, (goal, condition) in enumerate(GOALS, start=1)
    ),
    parameters=(
        SkillParameter.model_validate(
            {"name": "width", "type": "number", "description": "The width: “800” in it", "examples": ("800",)}
        ),
        SkillParameter.model_validate(
            {"name": "input_folder", "type": "path", "description": "The folder", "examples": ("photos",)}
        ),
    ),
    created_at=NOW,
)
DRAFT = SkillDraft(
    title=SHOWN.title,
    slug="resize-photos",
    description="Resize photos",
    trigger_phrases=("resize my photos", "shrink the pictures"),
    negative_triggers=("print photos",),
    files=(),
    capability_id="learned.resize-photos",
)


COMMANDS = Commands(
    [
        RehearsalCommand(event_id=ID, command="ls photos > list", working_folder="."),
        RehearsalCommand(event_id=ID.replace("1", "2"), command="rm list", working_folder="."),
    ],
    {ID.replace("1", "2"): CommandUse(event_id=ID.replace("1", "2"), succeeded=True, removed=("list",))},
)


def order(*numbers: int) -> dict[str, Any]:
    """The checkpoints of these numbers, in this order."""
    return {
        "checkpoints": [
            {"checkpoint_id": f"cp-{n:02d}", "goal": GOALS[n - 1][0], "success_condition": GOALS[n - 1][1]}
            for n in numbers
        ]
    }


def with_step(number: int, **changes: str) -> dict[str, Any]:
    found = order(1, 2, 3, 4)
    found["checkpoints"][number - 1].update(changes)
    return found


def parameter(name: str, **changes: Any) -> dict[str, Any]:
    return {"parameters": [{"name": name, **changes}]}


def inserted(place: int, goal: str, condition: str) -> dict[str, Any]:
    found = order(1, 2, 3, 4)
    found["checkpoints"].insert(
        place, {"checkpoint_id": "cp-05", "goal": goal, "success_condition": condition}
    )
    return found


SUCCESS = list(SHOWN.success_conditions)

INSTRUCTIONS: dict[str, dict[str, Any]] = {
    # Leaving out
    "remove step 3": order(1, 2, 4),
    "Please remove the third step.": order(1, 2, 4),
    "delete checkpoint cp-02": order(1, 3, 4),
    "drop cp-04": order(1, 2, 3),
    "remove steps 2 and 4": order(1, 3),
    "leave out checkpoints 2-3": order(1, 4),
    "remove the last checkpoint": order(1, 2, 3),
    "remove the step about the old copies": order(1, 2, 4),
    "remove the checkpoint “The photos are packed”": order(1, 2, 3),
    # Order
    "swap checkpoints 2 and 3": order(1, 3, 2, 4),
    "swap step 1 with step 4": order(4, 2, 3, 1),
    "move step 4 before step 2": order(1, 4, 2, 3),
    "do step 3 before step 2": order(1, 3, 2, 4),
    "put checkpoint 1 after 4": order(2, 3, 4, 1),
    "move step 2 to the end": order(1, 3, 4, 2),
    "put the last step first": order(4, 1, 2, 3),
    "move step 4 to position 2": order(1, 4, 2, 3),
    "move step 3 up": order(1, 3, 2, 4),
    # Checkpoints
    "change the condition of step 4 to: the archive can be opened": with_step(
        4, success_condition="the archive can be opened"
    ),
    "step 3 is done when no copy is left": with_step(3, success_condition="no copy is left"),
    "rename checkpoint 2 to “The pictures are smaller”": with_step(2, goal="The pictures are smaller"),
    "change the condition “The folder old is gone” to “No old copy is left”": with_step(
        3, success_condition="No old copy is left"
    ),
    "add a step after step 4: The result is sent back, verify that the person has it": inserted(
        4, "The result is sent back", "the person has it"
    ),
    "add a checkpoint at the start: The folder is backed up": inserted(
        0, "The folder is backed up", "The folder is backed up"
    ),
    # Conditions
    "add to Done when: a list of the photos is there": {
        "success_conditions": [*SUCCESS, "a list of the photos is there"]
    },
    "It is done when nothing is left in tmp": {"success_conditions": [*SUCCESS, "nothing is left in tmp"]},
    "change the condition 1 to small.zip can be opened": {
        "success_conditions": ["small.zip can be opened", SUCCESS[1]]
    },
    "change the second condition to: no photo is wider than {width}": {
        "success_conditions": [SUCCESS[0], "no photo is wider than {width}"]
    },
    "remove the condition small.zip exists": {"success_conditions": [SUCCESS[1]]},
    "use it when somebody asks for thumbnails": {
        "use_conditions": [*SHOWN.use_conditions, "somebody asks for thumbnails"]
    },
    "don't use it for videos": {"non_use_conditions": [*SHOWN.non_use_conditions, "videos"]},
    # Parameters
    "call the parameter width `pixels`": parameter("width", new_name="pixels"),
    "rename width to max width": parameter("width", new_name="max_width"),
    "call the input folder photo_folder": parameter("input_folder", new_name="photo_folder"),
    "make 800 fixed": parameter("width", fixed=True),
    "the width is always the same": parameter("width", fixed=True),
    "remove the parameter input_folder": parameter("input_folder", fixed=True),
    "make 85 a parameter called quality": parameter("quality", value="85", fixed=False),
    "call 85 quality": parameter("quality", value="85", fixed=False),
    "make width optional": parameter("width", required=False),
    "width is a text": parameter("width", type="text"),
    "make the parameter width a text": parameter("width", type="text"),
    "describe width as the width in pixels": parameter("width", description="the width in pixels"),
    # The skill
    "rename the title to Shrink the photos": {"title": "Shrink the photos"},
    "call it Photo shrinker": {"title": "Photo shrinker"},
    "Make the title Shrink the photos": {"title": "Shrink the photos"},
    "make the title read shrink to 800 pixels": {"title": "shrink to 800 pixels"},
    "make the goal “Make photos fit for mail”": {"goal_summary": "Make photos fit for mail"},
    "change the skill name to photo-shrinker": {"proposed_skill_slug": "photo-shrinker"},
    "change the goal to “Make photos fit for mail”": {"goal_summary": "Make photos fit for mail"},
    "add the trigger “make thumbnails”": {"trigger_phrases": [*DRAFT.trigger_phrases, "make thumbnails"]},
    "never trigger on wallpapers": {"negative_triggers": [*DRAFT.negative_triggers, "wallpapers"]},
    "remove the trigger shrink the pictures": {"trigger_phrases": ["resize my photos"]},
    "it is for this project only": {"project_scope": "project_scoped"},
    # Several at once, and none
    "remove step 3 and make 800 fixed": order(1, 2, 4) | parameter("width", fixed=True),
    "Rename the title to Copy and shrink. Swap steps 1 and 2.": {"title": "Copy and shrink"}
    | order(2, 1, 3, 4),
    "1. remove step 1\n2. remove step 2": order(3, 4),
    "look again": {},
}
"""What people write, and what has to come out of it."""


def plain(edits: dict[str, Any]) -> dict[str, Any]:
    """Without what follows from the position of a checkpoint."""
    found = dict(edits)
    if "checkpoints" in found:
        assert [c["order_hint"] for c in found["checkpoints"]] == [
            n for n, _ in enumerate(found["checkpoints"], start=1)
        ]
        found["checkpoints"] = [
            {k: v for k, v in c.items() if k != "order_hint"} for c in found["checkpoints"]
        ]
    return found


@pytest.mark.parametrize("said", INSTRUCTIONS, ids=lambda text: str(text)[:60])
def test_an_instruction_becomes_the_edit_it_asks_for(said: str) -> None:
    read = read_instructions(said, SHOWN, DRAFT)

    assert plain(read.edits) == INSTRUCTIONS[said]
    assert read.not_understood == ()


@pytest.mark.parametrize(
    "said",
    [
        "make it nicer",
        "Say more about the colours",
        "leave the upload out",
        "the largest photo first",
        "Name the month",
        "swap the colours",
        "a login is required",
        "x",
    ],
)
def test_what_no_rule_understands_changes_nothing_and_is_left_over(said: str) -> None:
    read = read_instructions(said, SHOWN, DRAFT)

    assert read.edits == {}
    assert read.not_understood == (said,)


def test_of_two_sentences_the_understood_one_is_carried_out() -> None:
    read = read_instructions("Remove step 3. Make the rest nicer.", SHOWN, DRAFT)

    assert plain(read.edits) == order(1, 2, 4)
    assert read.not_understood == ("Make the rest nicer.",)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("remove step 9", "there is no number 9; there are 4"),
        ("swap steps 2 and 7", "there is no number 7"),
        ("remove the step about cats", "fits none of"),
        ("remove the step about the photos", "fits several of"),
        ("remove steps 1-4", "at least one checkpoint"),
        ("make 512 fixed", "“512” is no parameter, so it is fixed; there are width and input_folder"),
        ("call the parameter depth `bits`", "“depth” is no parameter"),
        ("make 85 a parameter", "make 85 a parameter called NAME"),
        ("change the condition to all is well", "which of the 2 conditions"),
        ("call width 9lives", "is no name"),
        ("change the skill name to Photo Shrinker", "proposed_skill_slug must be"),
    ],
)
def test_an_understood_instruction_that_cannot_be_done_is_refused_with_the_reason(
    said: str, why: str
) -> None:
    with pytest.raises(Refusal) as refusal:
        read_instructions(said, SHOWN, DRAFT)

    assert refusal.value.code is ErrorCode.REVISION_INVALID
    assert why in refusal.value.message
    assert len(refusal.value.message) <= 240


def test_how_a_title_is_to_be_is_no_title() -> None:
    assert read_instructions("make the title shorter", SHOWN, DRAFT).not_understood == (
        "make the title shorter",
    )


def test_a_field_that_is_set_beside_the_words_keeps_what_was_set() -> None:
    read = read_instructions("Call it otherwise", SHOWN, DRAFT, {"title"})

    assert read.edits == {}
    assert read.not_understood == ("Call it otherwise",)


@pytest.mark.parametrize("said", UNDERSTOOD_INSTRUCTIONS)
def test_what_a_person_is_told_to_say_is_understood(said: str) -> None:
    wc = RehearsalCommand(event_id=ID, command="wc -l small.txt", working_folder=".")
    read = read_instructions(said, SHOWN, DRAFT, commands=COMMANDS, left_out=LeftCommands([wc]))
    assert read.not_understood == ()
