"""What the README tells people to type exists, and where it sends them there is something."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.main import load_command
from domain.learning.comparison.made_up import writes_literal_data

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def typed_commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^\$ (apprentice .+)$", text, re.MULTILINE)
    found += re.findall(r"`(apprentice [a-z]+ [^`-][^`]*)`", text)
    # What a command reads has to be there.
    stands_for = {"…": "why", "--folder DIR": "--folder .", "--file FILE": f"--file {ROOT / 'README.md'}"}
    for placeholder, real in stands_for.items():
        found = [command.replace(placeholder, real) for command in found]
    return found


@pytest.mark.parametrize("command", typed_commands())
def test_every_command_in_the_readme_can_be_typed(command: str) -> None:
    _, name, *arguments = shlex.split(command)
    known: Any = load_command(name)
    while hasattr(known, "commands"):
        name, *arguments = arguments
        known = known.commands[name]
    if command.startswith("apprentice learn reject") or arguments:
        assert known.make_context(name, arguments)
    assert known.help


def test_the_readme_makes_no_data_in_a_lesson() -> None:
    recorded = re.findall(
        r"^\[rec\] \$ (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert recorded
    assert not [command for command in recorded if writes_literal_data(command)]


def test_the_readme_is_covered() -> None:
    assert len(typed_commands()) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).is_file(), target


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = re.findall(
        r"\bmake ([a-z]+)\b *(?:$|#|`)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {"demo", "test", "up"} <= set(named) <= targets
