"""Every state says what it waits for, and every command that it suggests exists."""

import re
import shlex
from datetime import UTC, datetime
from uuid import UUID

import pytest
from typer.main import get_command

from cli import ability_commands, learn_commands, record_commands
from cli.guidance import guide
from contracts.learning.commands import TAKEN_IN, SessionCommand
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState
from contracts.learning.state_machine import AT_REST

GROUPS = {"learn": learn_commands.app, "abilities": ability_commands.app, "record": record_commands.app}

SESSION_COMMANDS = {
    "start": SessionCommand.START,
    "resume": SessionCommand.RESUME,
    "stop": SessionCommand.STOP,
    "mark-goal": SessionCommand.MARK,
    "propose": SessionCommand.GENERATE_PROPOSAL,
    "answer": SessionCommand.ANSWER_QUESTIONS,
    "validate": SessionCommand.VALIDATE,
    "install": SessionCommand.INSTALL,
    "approve": SessionCommand.APPROVE,
    "reject": SessionCommand.REJECT,
    "revise": SessionCommand.REVISE,
    "cancel": SessionCommand.CANCEL,
}


def session_in(state: LearnSessionState) -> LearnSession:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return LearnSession(
        learn_session_id=str(UUID(int=1)),
        owner_user_id="ada",
        entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
        state=state,
        ability_id="learned.sales",
        created_at=now,
        updated_at=now,
    )


@pytest.mark.parametrize("state", list(LearnSessionState))
def test_every_suggested_command_can_be_typed_as_it_stands(state: LearnSessionState) -> None:
    for command in guide(session_in(state)).commands:
        program, group, name, *arguments = shlex.split(command)
        assert program == "apprentice"
        known = get_command(GROUPS[group]).commands[name]  # type: ignore[attr-defined]
        assert known.make_context(name, arguments, resilient_parsing=False).params


@pytest.mark.parametrize("state", list(LearnSessionState))
def test_no_command_is_suggested_that_the_state_refuses(state: LearnSessionState) -> None:
    for command in guide(session_in(state)).commands:
        _, group, name, *_ = shlex.split(command)
        if group == "learn" and name in SESSION_COMMANDS:
            assert state in TAKEN_IN[SESSION_COMMANDS[name]], command


@pytest.mark.parametrize("state", list(LearnSessionState))
def test_at_rest_nothing_is_waited_for_and_elsewhere_something_is(state: LearnSessionState) -> None:
    waits_for = guide(session_in(state)).waits_for
    assert waits_for
    assert bool(re.match("nothing", waits_for)) == (state in AT_REST)
