"""The commands that docs/skills.md has a new user type, as they stand there."""

import os
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import Result

from cli.platform.run_state import RunState
from tests.cli.conftest import Person

DOCUMENT = Path(__file__).parents[3] / "docs" / "skills.md"


def _commands() -> list[list[str]]:
    """The lines of the first block below the heading; a month ahead is from today."""
    section = DOCUMENT.read_text(encoding="utf-8").split("## First steps", 1)[1]
    month = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = section.split("```")[1].strip().splitlines()
    return [shlex.split(line.replace("IN_A_MONTH", month), comments=True)[1:] for line in lines]


def started(service: RunState, words: list[str]) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    environment = os.environ | {
        "APPRENTICE_API_URL": service.api_url,
        "APPRENTICE_TOKEN": service.admin_token,
    }
    command = [sys.executable, "-m", "cli.main", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.thorough
@pytest.mark.acceptance("AM-33", "AM-34", "AM-47", "AI-36", "CH-53")
@pytest.mark.acceptance("O-15")
def test_what_a_new_user_types_says_exactly_what_happened(service: RunState) -> None:
    admin = Person(service, service.admin_token)

    def types(words: list[str]) -> Result:
        done = admin.types(words[0], *words[1:])
        assert done.exit_code in (0, 1), (words, done.stdout, done.stderr)
        return done

    free, meeting, conflict, message, wallet, fund, debit, balance, check_in, listed = _commands()
    assert "free" in types(free).stdout.lower()
    assert "Planning" in types(meeting).stdout
    overlapping = types(conflict).stdout
    assert "Review" in overlapping
    assert "overlap" in overlapping.lower()
    told = types(message).stdout
    assert "noted" in told.lower()
    types(wallet)
    types(fund)
    both = [started(service, debit), started(service, debit)]
    twice = [one.communicate(timeout=60)[0] for one in both]
    assert all("ledger:" in one for one in twice), twice
    assert sorted("Took nothing" in one for one in twice) == [False, True], twice
    assert "15" in types(balance).stdout
    assert "scheduled" in types(check_in).stdout.lower()
    assert "How is the cello?" in types(listed).stdout
