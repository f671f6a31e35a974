"""The facts that the result of a command line depends on, in words."""

import posixpath
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.method.literals import literals_of
from domain.learning.method.option_meanings import MAX_TEXT, CommandFacts, facts_of, read_facts
from domain.learning.method.program_forms import known_programs
from domain.learning.method.sed_wording import sed_facts
from tests.domain.learning.commands.command_lines import LINES, Line
from tests.domain.learning.method.argument_words import ARGUMENTS
from tests.domain.learning.method.text_lines import TEXT
from tests.domain.learning.method.tool_lines import FILES, TOOLS


def _table(*texts: str) -> list[tuple[str, list[str]]]:
    """The blocks of the tables: a command line (further lines indented nowhere) and its facts."""
    blocks: list[tuple[str, list[str]]] = []
    for block in "".join(texts).strip().split("\n\n"):
        command, *facts = block.removeprefix("$ ").split("\n")
        while "<<'EOF'" in command and not command.endswith("\nEOF"):
            command += "\n" + facts.pop(0)
        blocks.append((command, facts))
    return blocks


TABLE = _table(TEXT, FILES, TOOLS)


def test_the_table_has_at_least_150_lines() -> None:
    assert len(TABLE) >= 150


@pytest.mark.parametrize(("command", "expected"), TABLE, ids=[command for command, _ in TABLE])
def test_the_facts_of_a_command_line_are_those_of_the_table(command: str, expected: list[str]) -> None:
    assert sorted(fact.text for fact in facts_of(command)) == sorted(expected)


READABLE = [line.text for line in LINES if line.programs is not None] + [command for command, _ in TABLE]


def _accounted(command: str) -> set[str]:
    return {literal for fact in facts_of(command) for literal in fact.literals}


@pytest.mark.parametrize("command", READABLE)
def test_every_literal_of_a_readable_command_is_in_a_fact(command: str) -> None:
    assert set(literals_of(command)) <= _accounted(command)


_SIMPLE = [c for c, _ in TABLE if not set("$`(){};|<>&\n") & set(c) and " -exec" not in c]


@pytest.mark.parametrize("command", _SIMPLE)
def test_no_word_without_a_dash_is_missing_among_the_literals(command: str) -> None:
    # Split by another parser: what is neither option nor (sub)command has to come back, alone or behind its "=".
    words = [w for w in shlex.split(command)[1:] if not w.startswith("-") and w not in ("{}", "+", "!", "-")]
    literals = literals_of(command)
    missing = [w for w in words if w not in literals and w.partition("=")[2] not in literals]
    programs = {w for fact in facts_of(command) for w in fact.program.split()} | {"xzf", "tf"}
    assert [w for w in missing if posixpath.basename(w) not in programs] == []


@pytest.mark.parametrize(
    ("command", "literals"),
    [
        ("sort -t, -k2 -nr sales.csv", (",", "2", "sales.csv")),
        ("head -20 x", ("20", "x")),
        ("convert a.jpg -resize 800x600 b.jpg", ("800x600", "a.jpg", "b.jpg")),
        ("grep --include='*.py' -rn TODO src > found.txt", ("*.py", "TODO", "src", "found.txt")),
        ('for f in *.csv; do cat "$f"; done', ("*.csv",)),
        ("cat - 2>/dev/null", ()),
        ('tar czf "b-$(date +%F).tgz" docs', ("+%F", "b-$(date +%F).tgz", "docs")),
        ("git tag v1.2", ("v1.2",)),
        ("WIDTH=800 ./resize.sh", ("800",)),
        ("frobnicate --level=3 -x in.txt", ("3", "in.txt")),
        ("sqlite3 shop.db <<'EOF'\nselect 1;\nEOF", ("select 1;", "shop.db")),
        ("ls -la", ()),
        ("echo 'open", ()),
    ],
)
def test_the_literals_of_a_command_are_its_values_and_no_names_of_programs_or_options(
    command: str, literals: tuple[str, ...]
) -> None:
    assert literals_of(command) == literals


def test_a_line_that_bash_would_refuse_has_no_facts_and_is_marked() -> None:
    assert read_facts("echo 'open") == CommandFacts((), is_unreadable=True)
    assert not read_facts("ls").is_unreadable


@pytest.mark.parametrize("line", LINES, ids=[line.text for line in LINES])
def test_a_line_is_unreadable_exactly_where_bash_would_refuse_it(line: Line) -> None:
    assert read_facts(line.text).is_unreadable == (line.programs is None)


def test_a_long_program_is_shortened_in_its_fact_and_the_fact_says_so() -> None:
    program = "{ s += $1 } " * 40
    (fact,) = [f for f in facts_of(f"awk '{program}' x") if f.kind == "expression"]
    assert fact.literals == (program,)
    assert len(fact.text) == MAX_TEXT
    assert fact.text.endswith("…")
    assert not fact.is_whole


def test_many_operands_are_spread_over_several_facts() -> None:
    names = [f"measurement-{number:03}.csv" for number in range(40)]
    facts = facts_of("cat " + " ".join(names))
    assert len(facts) > 1
    assert [literal for fact in facts for literal in fact.literals] == names
    assert all(fact.is_whole for fact in facts)


def test_a_here_document_is_a_text_on_one_line_and_not_whole() -> None:
    (text, _) = facts_of("cat > a <<'EOF'\none\ntwo\nEOF")
    assert (text.text, text.literals, text.is_whole) == ("the text 'one two'", ("one\ntwo",), False)


def test_the_archive_of_tar_is_an_output_when_it_packs_and_an_input_else() -> None:
    kinds = {
        command: next(f.kind for f in facts_of(command) if f.text.startswith("the archive"))
        for command in ("tar czf a.tgz x", "tar -xf a.tgz", "tar -tzf a.tgz")
    }
    assert list(kinds.values()) == ["output", "input", "input"]


def test_the_program_of_a_fact_includes_the_subcommand() -> None:
    assert {f.program for f in facts_of("git -C repo tag v1 && pip3 install rich")} == {
        "git tag",
        "pip install",
    }


def test_at_least_sixty_programs_are_known() -> None:
    assert len({name.split()[0] for name in known_programs()}) >= 60


@given(program=st.sampled_from([*known_programs(), "frobnicate", "xargs -n1 grep"]), words=ARGUMENTS)
def test_any_arguments_have_facts_of_bounded_length_that_account_for_every_literal(
    program: str, words: str
) -> None:
    command = f"{program} {words}"
    facts = facts_of(command)
    assert all(0 < len(fact.text) <= MAX_TEXT and "\n" not in fact.text for fact in facts)
    assert set(literals_of(command)) <= _accounted(command)


@given(st.text(max_size=200))
def test_any_text_has_facts_or_is_unreadable(text: str) -> None:
    read = read_facts(text)
    assert not (read.is_unreadable and read.facts)
    assert set(literals_of(text)) <= {literal for fact in read.facts for literal in fact.literals}


@given(st.text(alphabet="s/\\|,;dgpq$0123ab\n !I^", max_size=40), st.booleans(), st.booleans())
def test_any_sed_script_has_words(script: str, extended: bool, quiet: bool) -> None:
    assert all(sed_facts(script, extended=extended, quiet=quiet))
