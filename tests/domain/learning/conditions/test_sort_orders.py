"""What ``sort`` gives is in the order that its options say, and nothing that is in another one."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.sort_orders import SortKey, SortOrder, order_of
from domain.learning.conditions.typed_orders import typed_order
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

OPTIONS = (
    "",
    "-r",
    "-f",
    "-b",
    "-n",
    "-g",
    "-h",
    "-V",
    "-k2",
    "-k2,2",
    "-b -k2,2",
    "-k2,2r -k1,1",
    "-k2,2n -k1,1r",
    "-t, -k2",
    "-t, -k2,2",
    "-t, -k2,2 -k3,3nr",
    "-t, -k2,2f -k1,1g",
    "-t, -k2,2n",
    "-t, -k2nr",
    "-t, -k2,2h",
    "-t, -k2,2V -k3",
    "-t, -k1,2b",
    "-t, -k2b,2 -k1,1r",
)
PIECES = st.sampled_from(
    [
        "",
        "a",
        "B",
        "ab",
        "Ä",
        "10",
        "9",
        "-1",
        "1e3",
        "0x1F",
        ".5",
        "1.50",
        "1,234",
        "2K",
        "1M",
        "1k",
        "inf",
        "nan",
        "007",
        "-0",
        "a0",
        "~",
        " 7",
        "   b",
        "\t3",
        "v1.9",
        "v1.10",
        "a~1",
        "a.tar.gz",
        ".x",
        '"x',
        'y"',
    ]
)
LINES = st.lists(
    st.one_of(
        st.lists(PIECES, min_size=1, max_size=4).map(",".join),
        st.lists(PIECES, min_size=1, max_size=4).map(" ".join),
        st.text("aB ,0.~-19\tK", max_size=8),
    ),
    max_size=7,
)


def typed(options: str) -> SortOrder:
    """The order that the options of ``sort`` say."""
    found = typed_order("out", [f"sort {options} in > out"])
    assert found is not None
    assert found.order is not None
    return found.order


def sort(options: str, lines: Sequence[str]) -> list[str]:
    """What the program gives."""
    given_lines = "".join(f"{line}\n" for line in lines).encode()
    command = ["sort", *options.split()]
    done = subprocess.run(
        command, input=given_lines, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"}
    )
    return done.stdout.decode().split("\n")[:-1]


@given(st.sampled_from(OPTIONS), LINES)
def test_what_sort_gives_is_in_the_order_that_its_options_say(options: str, lines: list[str]) -> None:
    order = typed(options)
    assert order.holds(sort(options, lines))
    assert order_of(order.argument) == order


@given(st.sampled_from(OPTIONS), LINES)
def test_lines_are_in_order_just_where_sort_finds_that_they_are(options: str, lines: list[str]) -> None:
    # Where keys are equal, ``-s`` leaves lines as they are.
    stable = f"-s {options}"
    assert typed(options).holds(lines) == (sort(stable, lines) == lines)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ("-t, -k2,2", ["", "x", "b,1", "a,2"]),
        ("-g", ["5", "1e3"]),
        ("-n", ["1e3", "5"]),
        ("-t, -k2,2n", ['"b, c",1', '"a', "d,2"]),
        ("-k2", ["b   1", "a 2"]),
    ],
)
def test_lines_that_have_been_sorted_rightly_are_in_order(options: str, lines: list[str]) -> None:
    found = sort(options, lines)
    assert typed(options).holds(found)
    if found != found[::-1]:
        assert not typed(options).holds(found[::-1])


def test_a_further_key_decides_where_the_one_before_it_is_equal() -> None:
    order = typed("-t, -k2,2 -k3,3nr")
    assert order.holds(["a,HR,9", "b,HR,7", "c,IT,8"])
    assert not order.holds(["b,HR,7", "a,HR,9", "c,IT,8"])


LOCAL = SortOrder(is_local=True)


@pytest.mark.parametrize(
    ("lines", "holds"),
    [
        (["apple", "Banana", "cherry"], True),
        (["Banana", "apple", "cherry"], True),
        (["cherry", "apple", "Banana"], False),
        (["apple", "Apple", "apples"], True),
        (["état", "zoo", "état"], True),
        (["2a", "10"], False),
    ],
)
def test_in_a_locale_texts_are_in_order_where_letters_and_digits_say_nothing_else(
    lines: list[str], holds: bool
) -> None:
    assert LOCAL.holds(lines) == holds
    assert order_of(LOCAL.argument) == LOCAL


@pytest.mark.parametrize(
    ("lines", "holds"),
    [(["5", "1,234"], True), (["1,234", "5"], True), (["1.5", "12.25"], True), (["12", "5"], False)],
)
def test_in_a_locale_the_signs_within_a_number_may_be_either(lines: list[str], holds: bool) -> None:
    assert SortOrder(keys=(SortKey(kind="numbers"),), is_local=True).holds(lines) == holds


@pytest.mark.parametrize(
    ("argument", "lines", "said"),
    [
        (
            "by=comma:2 as=numbers order=descending header=0",
            ["a,9", "b,7"],
            "by field 2 (comma), largest first",
        ),
        ("by=space:0 as=text order=ascending header=0", ["a", "b"], "by whole lines, in ascending order"),
        (
            "by=space:0 as=sizes order=ascending header=0",
            ["4.0K a", "900K b", "1.5M c", "1G d"],
            "by the numbers that they begin with, smallest first",
        ),
        (
            "by=space:0 as=versions order=ascending header=0",
            ["v1.9", "v1.10", "v2"],
            "by whole lines, in ascending order, as version numbers",
        ),
        (
            "by=comma:2- as=text order=ascending header=1",
            ["name,x", "b,1,2", "a,1,3"],
            "by field 2 (comma) and what follows it after the first line, in ascending order",
        ),
        (
            "by=colon:2-4 as=folded order=ascending header=0",
            ["b:ann:x:1", "a:Bob:x:1"],
            "by fields 2 to 4 (colon), in ascending order, upper and lower case alike",
        ),
    ],
)
def test_arguments_of_conditions_that_exist_are_read_as_they_were_meant(
    argument: str, lines: list[str], said: str
) -> None:
    assert order_of(argument).holds(lines)
    assert not order_of(argument).holds([*lines[:-2], lines[-1], lines[-2]])
    statement = condition(ConditionKind.SORTED, "out", argument=argument).statement
    assert statement == f"The lines of out are sorted {said}"


def test_all_keys_are_said_in_words() -> None:
    stated = condition(ConditionKind.SORTED, "out", argument=typed("-t, -k2,2 -k3,3nr").argument)
    assert stated.statement == (
        "The lines of out are sorted by field 2 (comma), in ascending order;"
        " where that is equal by field 3 (comma), largest first"
    )


CELLS = st.sampled_from(["a", "a b", "b", "B c", "10", "9", "9 x", "-1", "a-b", "c  d", "", "2K", "é"])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS).map(",".join), min_size=2, max_size=7)
AWKS = (
    "{print}",
    "{print $1, $3}",
    '{print $3","$1}',
    '{print $2";"$1}',
    '{s[$1]+=$2} END {for (k in s) print k","s[k]}',
    "{s[$1]+=$2} END {for (k in s) print s[k], k}",
    "-v OFS=, {print $3, $1, $2}",
)
BLANKS = (
    "",
    "-r",
    "-n",
    "-rn",
    "-k2",
    "-k2,2",
    "-k2n",
    "-k2,2nr",
    "-k2,2 -k1,1r",
    "-b -k2,2",
    "-f",
    "-k1,1V",
    "-u",
)


@given(st.sampled_from(AWKS), st.sampled_from(BLANKS), ROWS, ROWS)
def test_sort_behind_awk_reads_fields_at_blanks_whatever_awk_reads_them_at(
    program: str, options: str, shown: list[str], other: list[str]
) -> None:
    *settings, script = program.split(" ", 2) if program.startswith("-v") else [program]
    awk = ["awk", "-F,", *settings, script]
    line = f"{shlex.join(awk)} in.csv | sort {options} > out.csv"

    def made(rows: list[str]) -> str:
        text = "".join(f"{row}\n" for row in rows)
        run = partial(subprocess.run, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
        columns = run(awk, input=text.encode()).stdout
        return run(["sort", *options.split()], input=columns).stdout.decode()

    for commands, before in (
        ([line], {}),
        (["bash go.sh"], {"go.sh": f"{line}\n"}),
        ([f"cat > go.sh <<'END'\n{line}\nEND", "bash go.sh"], {}),
    ):
        after = Folder({"go.sh": f"{line}\n", "out.csv": made(shown)})
        stated = candidates(Folder(before), after, commands, ())
        orders = [order_of(one.argument) for one in stated if one.kind is ConditionKind.SORTED]
        # What is stated of the rows that were shown is true of any others.
        assert [order for order in orders if not order.holds(made(other).splitlines())] == []
        assert all(isinstance(order, SortOrder) and order.separator == "space" for order in orders)
