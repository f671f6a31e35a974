"""What was typed at a prompt is repeated by a here-document, and without what changed nothing."""

import pytest

from domain.learning.commands.typed_lines import (
    END_OF_TYPED,
    shorter_forms,
    typed_command,
    with_typed_lines,
    without_typed_lines,
)


def fed(line: str, *typed: str) -> str:
    return "\n".join([f"{line} <<'{END_OF_TYPED}'", *typed, END_OF_TYPED])


@pytest.mark.parametrize(
    ("line", "repeated"),
    [
        ("sqlite3 shop.db", "sqlite3 shop.db"),
        ("ed -s notes.txt", "ed -s notes.txt"),
        ("python3 -q", "python3 -q -i"),
        ("LC_ALL=C psql shop", "LC_ALL=C psql shop"),
    ],
)
def test_the_program_is_given_the_lines_as_at_its_prompt(line: str, repeated: str) -> None:
    command = with_typed_lines(line, ("one", "", "it's $HOME"))
    assert command == fed(repeated, "one", "", "it's $HOME")
    assert without_typed_lines(command or "") == repeated
    assert without_typed_lines(line) == line


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("sort", "b\na"),
        ("vim notes.txt", ":wq"),
        ("sqlite3 shop.db 'select 1'", "y"),
        ("python3 ask.py", "secret"),
        ("sqlite3 a.db; sqlite3 b.db", ".quit"),
        ("ed notes.txt <<'END'\nw\nEND", "w"),
        ("ed notes.txt", " "),
        ("ed notes.txt", "!passwd"),
        ("psql shop", "\\! passwd"),
        ("sqlite3 shop.db", ".shell passwd"),
        ("python3", "import subprocess"),
        ("python3", "os.system('passwd')"),
        ("python3", "from getpass import getpass"),
        ("ed notes.txt", f"a\n{END_OF_TYPED}\n."),
    ],
)
def test_lines_that_may_be_for_something_else_are_not_kept(line: str, typed: str) -> None:
    assert with_typed_lines(line, typed.splitlines()) is None


def kept(command: str, needed: set[str]) -> str:
    """The command without the statements that do not hold one of the texts."""
    forms = shorter_forms(command)
    is_enough = False
    try:
        form = next(forms)
        while True:
            is_enough = all(one in form for one in needed)
            command = form if is_enough else command
            form = forms.send(is_enough)
    except StopIteration:
        return command


@pytest.mark.parametrize(
    ("command", "needed", "left"),
    [
        (
            fed("sqlite3 a.db", ".mode csv", "SELCT 1;", "SELECT a", "FROM b;", ".quit"),
            {".mode csv", "FROM b"},
            fed("sqlite3 a.db", ".mode csv", "SELECT a", "FROM b;"),
        ),
        (
            fed("ed a.txt", ",n", "/^x/i", "new", "q", ".", "w", "q"),
            {"new", "\nw\n"},
            fed("ed a.txt", "/^x/i", "new", "q", ".", "w"),
        ),
        (
            fed("python3 -i", "import cvs", "import csv", "for a in b:", "    f(a)", "", "exit()"),
            {"import csv", "f(a)"},
            fed("python3", "import csv", "for a in b:", "    f(a)", ""),
        ),
        (fed("bc -i", "scale=2", "1/3"), {"scale"}, fed("bc -i", "scale=2")),
    ],
)
def test_statements_that_change_nothing_are_left_out(command: str, needed: set[str], left: str) -> None:
    assert kept(command, needed) == left


def test_of_two_statements_that_do_the_same_the_later_stays() -> None:
    assert kept(fed("ed a.txt", "s/a/b/", "s/a/b/", "w"), {"s/a/b/", "w"}) == fed("ed a.txt", "s/a/b/", "w")


def test_a_here_document_that_a_person_wrote_stays_as_it_is() -> None:
    command = "ed a.txt <<'END'\n1d\nw\nEND"
    assert typed_command(command) is None
    assert list(shorter_forms(command)) == []
