import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.commands.shell_places import Quoting, value_places, with_values

SHOWN = re.compile("march")


def _replaced(command: str, value: str, pattern: re.Pattern[str] = SHOWN) -> str:
    return with_values(command, value_places(command, pattern), lambda _: value)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat march.csv", "cat 'a b'.csv"),
        ("cat 'march.csv'", "cat 'a b.csv'"),
        ('cat "x march"', 'cat "x a b"'),
        ("echo $march ${march} `x march`", "echo $march ${march} `x a b`"),
        ("march=march; echo march # march", "march='a b'; echo 'a b' # march"),
        ("cat <<EOF\nmarch\nEOF", "cat <<EOF\na b\nEOF"),
        ("cat <<'march'\nmarch 1\nmarch", "cat <<'march'\na b 1\nmarch"),
        ('echo "$(cat march)"', "echo \"$(cat 'a b')\""),
    ],
)
def test_a_value_is_spelled_as_its_place_asks_for(command: str, expected: str) -> None:
    assert _replaced(command, "a b") == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("n=${f#march_}; echo ${f##*/march}", "n=${f#may_}; echo ${f##*/may}"),
        ("echo ${f%.march} ${f%%-march*}", "echo ${f%.may} ${f%%-may*}"),
        ('mv "$f" "${f/march/x}"', 'mv "$f" "${f/may/x}"'),
        ("echo ${f//x/march}", "echo ${f//x/may}"),
        ("echo ${1:-march} ${x-march} ${x:=march}", "echo ${1:-may} ${x-may} ${x:=may}"),
        (
            "echo ${march#march} ${#march} ${!march} ${march:1:2}",
            "echo ${march#may} ${#march} ${!march} ${march:1:2}",
        ),
        ("echo ${f#$march} ${f#${march}}", "echo ${f#$march} ${f#${march}}"),
        (
            'for f in march_*; do mv "$f" "x_${f#march_}"; done',
            'for f in may_*; do mv "$f" "x_${f#may_}"; done',
        ),
    ],
)
def test_what_braces_cut_off_replace_or_give_instead_is_a_place(command: str, expected: str) -> None:
    assert _replaced(command, "may") == expected


def test_a_name_that_was_typed_with_escapes_is_found() -> None:
    found = value_places(r"cat march\ data.csv", re.compile(re.escape("march data.csv")))
    assert [(one.value, one.quoting, one.start, one.end) for one in found] == [
        ("march data.csv", Quoting.BARE, 4, 19)
    ]


def test_a_value_that_is_spread_over_quotations_is_no_place() -> None:
    assert value_places("echo ma'rch'", SHOWN) == ()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_categories=("Cc",)), max_size=30))
def test_the_shell_reads_exactly_the_value(value: str) -> None:
    command = (
        "printf '%s\\n' march 'x march' \"y march $HOME\" \"$(printf %s march)\"; cat <<EOF\nz march\nEOF"
    )
    shown = subprocess.run(
        ["bash", "-c", _replaced(command, value)],
        capture_output=True,
        check=True,
        env={"HOME": "h", "LC_ALL": "C.UTF-8"},
    )
    assert shown.stdout.decode().split("\n") == [value, f"x {value}", f"y {value} h", value, f"z {value}", ""]


@given(st.text(st.sampled_from("march $(){}`'\"\\<>;&|#=\n\tEOF"), max_size=60))
def test_any_text_can_be_scanned_and_stays_as_it_is_where_nothing_changes(command: str) -> None:
    assert _replaced(command, "march", re.compile("(?!)")) == command
    for place in value_places(command, SHOWN):
        assert place.start < place.end <= len(command)
