"""What the service says by routes and names of its own is said at the command line by its commands."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.main import load_command
from cli.platform.own_words import (
    OF_ABILITIES,
    OF_IMPORTS,
    ROUTES,
    TYPED,
    own_words,
    refusal_in_own_words,
    typed,
)
from contracts.abilities.availability import AbilityLifecycleAction
from contracts.errors import ErrorCode
from contracts.imports.import_record import RetryKind
from contracts.imports.import_work import ImportCommand
from contracts.learning.state_machine import SessionCommand

ROOT = Path(__file__).parents[3]
LAYERS = ("contracts", "domain", "stores", "activities", "workflows", "gateways", "skills")
_NAMED = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /api/[\w/{}.-]*[\w}]")
WITHOUT_A_COMMAND = {
    "GET /api/capabilities/health": "the description of an answer, which is read in the API's document alone",
    "GET /api/learn/proposals/{proposal_id}/rounds": "a draft by its revision is asked for by the console alone",
    "POST /api/adapters/acrobat/sources": "`apprentice pdf` hands a document in by itself",
    "POST /api/inbox/{item_id}/answer": "the sentence names the command beside it",
}


def commands() -> list[str]:
    return sorted({*ROUTES.values(), *TYPED.values(), *OF_ABILITIES.values(), *OF_IMPORTS.values()})


@pytest.mark.parametrize("command", commands())
def test_every_command_that_is_named_can_be_typed(command: str) -> None:
    name, *arguments = shlex.split(command)
    known: Any = load_command(name)
    while hasattr(known, "commands"):
        name, *arguments = arguments
        known = known.commands[name]
    assert known.help


def test_every_command_of_the_service_has_a_way_to_be_typed() -> None:
    assert set(TYPED) == set(SessionCommand)
    assert set(OF_ABILITIES) == set(AbilityLifecycleAction)
    retries = {f"retry {kind}" for kind in RetryKind}
    assert set(OF_IMPORTS) == {*ImportCommand} - {ImportCommand.RETRY} | retries


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
    of_a_session = ErrorCode.INVALID_LEARN_STATE_TRANSITION
    told = refusal_in_own_words("A session that is armed does not take generate-proposal.", of_a_session)
    assert told == "A session that is armed does not take `apprentice learn propose`."
    assert typed(["set-test-policy", "promote_shared", "unknown"], of_a_session) == [
        "`apprentice learn test-policy`",
        "`apprentice abilities promote`",
        "unknown",
    ]


def test_a_command_of_an_import_is_not_told_as_that_of_a_session_with_the_same_name() -> None:
    of_an_import = ErrorCode.INVALID_SKILL_IMPORT_TRANSITION
    told = refusal_in_own_words("An import that is staged does not take retry scan.", of_an_import)
    assert told == "An import that is staged does not take `apprentice import retry IMPORT scan`."
    assert typed(["approve", "reject", "discard"], of_an_import) == [
        "`apprentice import approve`",
        '`apprentice import reject --reason "WHY"`',
        "`apprentice import discard`",
    ]
