"""An attempt in the sandbox: what is run, what is seen, and what never happens."""

import threading
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from contracts.learning.proposal import RehearsalCommand
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.practice.practice import PracticeCondition, PracticeConditionKind, PracticeStartFile
from domain.practice.commands import AllowedCommands
from skills.rehearsal.practice_ground import AttemptSeen, Bounds, PracticeGround

MADE = PracticeCondition(kind=PracticeConditionKind.FILE_EXISTS, path="made.txt")
START = PracticeStartFile(name="given.txt", content="two\none\n")
POLICY = TestPolicy(policy_id=str(uuid4()), mode=TestPolicyMode.COPY_ARTIFACT)


def attempt(
    outside: Path,
    commands: Sequence[str],
    *conditions: PracticeCondition,
    allowed: Sequence[str] = ("sort", "touch", "sleep", "ln", "cat"),
    seconds: float = 60,
    cancelled: threading.Event | None = None,
) -> AttemptSeen:
    bounds = Bounds(AllowedCommands(allowed), POLICY, seconds)
    ground = PracticeGround(outside / "practice", bounds, lambda: None, cancelled or threading.Event())
    steps = [RehearsalCommand(event_id=str(uuid4()), command=c, working_folder=".") for c in commands]
    return ground.attempt(steps, [START], conditions or (MADE,))


def test_a_goal_is_reached_when_its_effects_are_seen(outside: Path) -> None:
    holds = PracticeCondition(kind=PracticeConditionKind.FILE_CONTAINS, path="made.txt", text="one\ntwo")
    exits = PracticeCondition(
        kind=PracticeConditionKind.COMMAND_EXITS, command="test -d made.txt", exit_code=1
    )
    seen = attempt(outside, ["sort given.txt > made.txt"], MADE, holds, exits)
    assert seen.reached, seen
    assert [action.is_check for action in seen.actions] == [False, True]
    assert [(f.path, f.change) for f in seen.actions[0].produced] == [("made.txt", "created")]
    assert list((outside / "practice").iterdir()) == []


def test_a_command_outside_the_list_is_never_run(outside: Path) -> None:
    seen = attempt(outside, ["sort given.txt > made.txt"], allowed=["touch"])
    assert not seen.reached
    assert seen.actions[0].produced == ()
    assert "list of allowed commands" in (seen.actions[0].details or "")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("a file that was there proves nothing", "sort given.txt"),
        ("an empty success proves nothing", "sort given.txt > other.txt"),
    ],
)
def test_a_command_that_ends_well_is_no_proof(outside: Path, text: str, command: str) -> None:
    given = PracticeCondition(kind=PracticeConditionKind.FILE_EXISTS, path="given.txt")
    seen = attempt(outside, [command], given, MADE)
    assert all(action.succeeded for action in seen.actions)
    assert [one.met for one in seen.conditions] == [False, False], text


def test_a_link_out_of_the_folder_is_not_looked_through(outside: Path) -> None:
    (outside / "secret.txt").write_text("treasure")
    holds = PracticeCondition(kind=PracticeConditionKind.FILE_CONTAINS, path="made.txt", text="treasure")
    seen = attempt(outside, [f"ln -s {outside}/secret.txt made.txt"], holds)
    assert not seen.reached


def test_the_first_failure_ends_the_attempt(outside: Path) -> None:
    seen = attempt(outside, ["sort absent.txt > made.txt", "touch made.txt"])
    assert [action.succeeded for action in seen.actions] == [False]
    assert seen.conditions == ()


def test_time_that_is_used_up_ends_the_attempt(outside: Path) -> None:
    seen = attempt(outside, ["sleep 30", "touch made.txt"], seconds=0.5)
    assert (seen.interrupted, seen.out_of_time, seen.reached) == (True, True, False)
    assert len(seen.actions) == 1


def test_a_cancelled_attempt_runs_nothing_more(outside: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    seen = attempt(outside, ["touch made.txt"], cancelled=cancelled)
    assert (seen.interrupted, seen.out_of_time, seen.reached) == (True, False, False)
    assert seen.actions[0].produced == ()
