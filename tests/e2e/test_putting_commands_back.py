"""A command that the replay left out comes back by words, in its place, in every later round, and can go again."""

from typing import Any

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.lesson_on_files import proposed_on_files
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

FILES = {"app.log": b"b\na\nc\n", "notes.txt": b"later\n"}
SHOWN: tuple[Demonstrated, ...] = (
    ("ls -l", ()),
    ("sort app.log > sorted.log", ("sorted.log",)),
    ("wc -l sorted.log", ()),
    ("cat notes.txt", ()),
    ("uniq sorted.log > top.log", ("top.log",)),
)


async def revised(alice: Learner, words: str, **edited: Any) -> dict[str, Any]:
    return await alice.propose_act("revise", {"revision_instructions": words, "edited_fields": edited})


async def method(alice: Learner) -> list[str]:
    """The commands of the example, in order."""
    found = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    (example,) = [one["content"] for one in found["files"] if one["path"] == "references/demonstration.md"]
    lines = [line.strip() for line in str(example).splitlines()]
    programs = ("sort", "wc", "cat", "uniq")
    return [line.split()[0] for line in lines if line.startswith(tuple(f"{one} " for one in programs))]


async def test_a_command_that_is_kept_in_words_is_in_its_place_in_every_later_round(stack: Stack) -> None:
    alice = await proposed_on_files(stack, FILES, SHOWN)
    assert await method(alice) == ["sort", "uniq"]

    kept = await revised(alice, "keep wc -l sorted.log")
    assert kept["proposal"]["drafter_note"] == ""
    assert await method(alice) == ["sort", "wc", "uniq"]
    assert [one["command"] for one in kept["left_out"]] == ["cat notes.txt"]
    goals = [one["goal"] for one in kept["interpretation"]["checkpoints"]]
    assert len(goals) == 3
    assert "sorted.log" in goals[1]
    assert await alice.prove() == "ready_for_review"

    await revised(alice, "rename the title to Sorted log")
    assert await method(alice) == ["sort", "wc", "uniq"]
    gone = await revised(alice, "leave out the wc")
    assert await method(alice) == ["sort", "uniq"]
    assert [one["command"] for one in gone["left_out"]] == ["wc -l sorted.log", "cat notes.txt"]
    (by_id,) = [one["event_id"] for one in gone["left_out"] if one["command"].startswith("wc")]
    await revised(alice, "", put_back=[by_id])
    assert await method(alice) == ["sort", "wc", "uniq"]
    await revised(alice, "", put_back=[])
    assert await method(alice) == ["sort", "uniq"]


async def test_a_command_that_a_person_left_out_comes_back_too(stack: Stack) -> None:
    alice = await proposed_on_files(stack, FILES, SHOWN)
    await revised(alice, "drop the uniq")
    assert await method(alice) == ["sort"]
    await revised(alice, "put back uniq")
    assert await method(alice) == ["sort", "uniq"]
    assert await alice.prove() == "ready_for_review"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("put the cat back", "what notes.txt held is no longer kept; show the task again with it"),
        ("keep ls -l", "what was not recorded has to be shown again"),
        ("put back the scp", "is none of the commands that were left out (1. wc -l sorted.log; 2. cat"),
    ],
)
async def test_what_cannot_be_put_back_is_refused_with_the_reason(stack: Stack, words: str, why: str) -> None:
    alice = await proposed_on_files(stack, FILES, SHOWN)
    path = f"/api/learn/proposals/{alice.proposal_id}/revise"
    status, error = await alice.refused("POST", path, {"revision_instructions": words})
    assert (status, error["code"]) == (422, "REVISION_INVALID")
    assert why in error["message"]
    unknown = {"revision_instructions": "", "edited_fields": {"put_back": [alice.proposal_id]}}
    _, error = await alice.refused("POST", path, unknown)
    assert "is no command that was left out" in error["message"]
