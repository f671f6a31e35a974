"""The table of session commands: every command has the update of its name."""

import pytest

from contracts.learning.state_machine import SessionCommand
from gateways.learning.sessions import UPDATES


def test_every_session_command_has_an_update() -> None:
    assert set(UPDATES) == set(SessionCommand)


@pytest.mark.parametrize("command", SessionCommand)
def test_an_update_is_named_on_the_wire_as_its_command(command: SessionCommand) -> None:
    name = "mark" if command is SessionCommand.TRIM else command.value
    assert UPDATES[command]._defn.name == name  # pyright: ignore[reportPrivateUsage]
