"""Passwords that people chose, in the commands of some two hundred programs, and commands that only look alike.

The two lists beside this file were written from the programs' manuals: ``secret_commands.txt`` with ``@P@`` for the
secret, ``harmless_commands.txt`` with nothing to mask.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.learning.redaction.redaction import MASK, holds_secret, masked_arguments, redact
from domain.learning.redaction.secret_names import MISSPELT_NAMES
from tests.fixtures.thoroughness import times

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
# No rule can know them by their look: words with digits, a phrase, a plain word.
CHOSEN = ("hunter2", "Sommer2024", "tr0ub4dor", "correct-horse", "geheim")


def lines(name: str) -> list[str]:
    return [line for line in (HERE / name).read_text("utf-8").splitlines() if line and line[0] != "#"]


SECRET, HARMLESS = lines("secret_commands.txt"), lines("harmless_commands.txt")


def test_a_chosen_password_is_masked_wherever_a_program_takes_it() -> None:
    assert [(form, kept) for form in SECRET for kept in kept_of(form, CHOSEN)] == []


def kept_of(form: str, passwords: tuple[str, ...]) -> list[str]:
    """The passwords that stay readable in this form of command."""
    return [password for password in passwords if password in redact(form.replace("@P@", password)).text]


def test_what_is_masked_already_stays_as_it_is() -> None:
    masked = [redact(form.replace("@P@", CHOSEN[0])).text for form in SECRET]
    assert [text for text in masked if redact(text).text != text] == []


def test_a_command_without_a_secret_stays_as_it_is() -> None:
    assert [text for command in HARMLESS if (text := redact(command).text) != command] == []


@given(st.sampled_from(SECRET), st.sampled_from(HARMLESS), st.sampled_from([" && ", "; ", " | ", "\n"]))
@settings(max_examples=times(50), deadline=None)
def test_a_command_hides_no_secret_of_its_neighbour(form: str, harmless: str, between: str) -> None:
    command = form.replace("@P@", CHOSEN[0])
    assert CHOSEN[0] not in redact(f"{harmless}{between}{command}").text


MISSPELT = ("psswd=@P@", "export DB_PASSWROD=@P@", "tool --pasword @P@", "curl -d 'pssword: @P@' localhost")


def test_a_password_behind_a_misspelt_name_is_masked() -> None:
    assert [(form, kept) for form in MISSPELT for kept in kept_of(form, CHOSEN)] == []


def test_no_misspelt_name_is_a_word_of_other_text() -> None:
    """A false alarm would take values out of ordinary commands: none of the names occurs in this repository."""
    told = {HERE / "test_secret_commands.py", ROOT / "domain/learning/redaction/secret_names.py"}
    texts = [
        path.read_text("utf-8").lower()
        for folder in ("tests", "docs", "domain")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md", ".txt", ".tsv") and path not in told
    ]
    words = {word for text in texts for word in re.findall(r"[a-zäöüß]+", text)}
    assert sorted(words & set(MISSPELT_NAMES)) == []


@pytest.mark.parametrize("path", ["password-hunter2.txt", "pw_s0mmer24.md", "backup/passwd-tr0ub4dor.csv"])
def test_a_password_in_the_name_of_a_file_is_masked(path: str) -> None:
    assert MASK in redact(f"cat {path}").text


def test_arguments_are_masked_by_the_names_that_people_give_them() -> None:
    words = [argument.text for argument in masked_arguments(["tool", "--db-pw", "a b", "OPENAI_KEY=c d"])]
    assert words == ["tool", "--db-pw", MASK, f"OPENAI_KEY={MASK}"]


@pytest.mark.parametrize(
    "source", ["cache_key = make_key(name)\n", "row_key: str\n", "db_pw = read()\n", "# bw unlock first\n"]
)
def test_the_source_of_a_program_is_no_secret_by_what_it_calls_things(source: str) -> None:
    assert not holds_secret(source)
