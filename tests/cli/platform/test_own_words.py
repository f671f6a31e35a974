"""What the service says by routes and names of its own is said at the command line by its commands."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.main import load_command
from cli.platform.own_words import ROUTES, TYPED, own_words, refusal_in_own_words, typed
from contracts.abilities.availability import AbilityLifecycleAction
from contracts.learning.state_machine import SessionCommand

ROOT = Path(__file__).parents[3]
LAYERS = ("domain", "stores", "activities", "workflows", "gateways")
_NAMED = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /api/[\w/{}.-]*[\w}]")
WITHOUT_A_COMMAND = {
    "GET /api/learn/proposals/{proposal_id}/rounds": "a draft by its revision is asked for by the console alone",
    "POST /api/adapters/acrobat/sources": "`apprentice pdf` hands a document in by itself",
    "POST /api/inbox/{item_id}/answer": "the sentence names the command beside it",
}


def commands() -> list[str]:
    of_abilities = [one.strip("`").removeprefix("apprentice ") for one in typed(AbilityLifecycleAction)]
    return sorted({*ROUTES.values(), *TYPED.values(), *of_abilities})


@pytest.mark.parametrize("command", commands())
def test_every_command_that_is_named_can_be_typed(command: str) -> None:
    name, *arguments = shlex.split(command)
    known: Any = load_command(name)
    while hasattr(known, "commands"):
        name, *arguments = arguments
        known = known.commands[name]
    assert known.help


def test_every_session_command_has_a_way_to_be_typed() -> None:
    assert set(TYPED) == set(SessionCommand)


def test_every_route_that_a_message_names_has_a_command() -> None:
    files = [file for layer in LAYERS for file in (ROOT / layer).rglob("*.py")]
    named = {found for file in files for found in _NAMED.findall(file.read_text(encoding="utf-8"))}
    assert named
    unknown = {one for one in named if own_words(one) == one}
    assert unknown == set(WITHOUT_A_COMMAND)


@pytest.mark.parametrize(
    ("said", "typed_instead"),
    [
        ("List them: GET /api/skills.", "List them: `apprentice skills list`."),
        (
            "Sign in: POST /api/mcp/servers/clock-1/auth/start, or wait.",
            "Sign in: `apprentice mcp auth start clock-1`, or wait.",
        ),
        ("See GET /api/mcp/servers/{id}/auth/status.", "See `apprentice mcp auth status ID`."),
        ("Something else: GET /api/nothing/known.", "Something else: GET /api/nothing/known."),
    ],
)
def test_a_route_is_told_as_its_command(said: str, typed_instead: str) -> None:
    assert own_words(said) == typed_instead


def test_the_command_that_is_not_taken_is_named_as_it_is_typed() -> None:
    told = refusal_in_own_words("A session that is armed does not take generate-proposal.")
    assert told == "A session that is armed does not take `apprentice learn propose`."
    assert typed(["set-test-policy", "promote_shared", "scan"]) == [
        "`apprentice learn test-policy`",
        "`apprentice abilities promote`",
        "scan",
    ]
