"""Which calls of a tool server the names in ``allowed-tools`` permit."""

import pytest

from domain.imports.allowed_tools import bounds_of, permits

SERVERS = ("team-notes", "Team Notes")


@pytest.mark.parametrize(
    ("name", "permitted"),
    [
        ("append_line", True),
        ("team-notes/append_line", True),
        ("team-notes:append_line", True),
        ("team-notes:*", True),
        ("mcp__team-notes__append_line", True),
        ("mcp__Team_Notes__append_line", True),
        ("mcp__team-notes", True),
        ("mcp__team-notes__*", True),
        ("*", True),
        ("mcp__team-notes__read_line", False),
        ("mcp__team__append_line", False),
        ("mcp__other__append_line", False),
        ("mcp__*", False),
        ("mcp__team-notes__append_line(line:*)", False),
        ("append", False),
        ("append_*", False),
        ("Append_Line", False),
        ("Bash", False),
        ("Bash(git:*)", False),
        ("Read", False),
        ("", False),
    ],
)
def test_a_name_permits_the_calls_that_it_means_and_no_other(name: str, permitted: bool) -> None:
    assert permits(frozenset({name}), SERVERS, "append_line") is permitted


def test_the_name_of_an_agents_own_tool_permits_no_servers_tool_of_that_name() -> None:
    assert not permits(frozenset({"Read"}), SERVERS, "Read")
    assert permits(frozenset({"mcp__team-notes__Read"}), SERVERS, "Read")


def test_a_skill_that_names_no_tools_is_bound_to_none() -> None:
    assert bounds_of(("read:files",)) is None
    assert bounds_of(("tool:Read", "tool:mcp__a__b", "read:files")) == {"Read", "mcp__a__b"}
