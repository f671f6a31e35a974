"""The order of a file is the one that was typed; where no command puts lines in order, none is claimed."""

import pytest

from contracts.learning.evidence import ConditionKind
from domain.learning.proof.candidates import candidates
from domain.learning.proof.orders import TO_THE_END, Order
from domain.learning.proof.typed_orders import typed_order
from tests.domain.learning.proof.folders import Folder

STAFF = "Ann,7,90\nBob,5,80\nCyd,3,70\nDee,1,60\n"
"""By the third field, and by chance also by the first and by the second."""

BY_PAY = Order("comma", 3, "numbers", True)
WHOLE = Order("space", 0, "text")


def orders(path: str, text: str, *commands: str, before: Folder | None = None) -> list[str]:
    """The orders that are guessed of a file that the commands made."""
    start = before or Folder()
    found = candidates(start, Folder({**start.texts, path: text}), commands, ())
    return [one.argument for one in found if one.kind is ConditionKind.SORTED and one.path == path]


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ("", WHOLE),
        ("-r", Order("space", 0, "text", True)),
        ("-n", Order("space", 0, "numbers")),
        ("-t, -k3,3nr", BY_PAY),
        ("-t , -k 3nr", BY_PAY),
        ("--field-separator=, --key=3,3 --numeric-sort --reverse", BY_PAY),
        ("-nrt, -k3", BY_PAY),
        ("-r -t, -k3,3n", Order("comma", 3, "numbers")),
        ("-t';' -k2", Order("semicolon", 2, "text", to=TO_THE_END)),
        ("-t: -k2,4", Order("colon", 2, "text", to=4)),
        ("-f -k2,2", Order("space", 2, "folded")),
        ("-t$'\\t' -k1,1V", Order("tab", 1, "versions")),
        ("-rh", Order("space", 0, "sizes", True)),
        ("-u -k1", WHOLE),
        ("-t, -k2,2 -k3,3nr", Order("comma", 2, "text")),
    ],
)
def test_the_options_of_sort_say_the_order(options: str, order: Order) -> None:
    found = typed_order("out.txt", [f"sort {options} in.txt > out.txt"])
    assert found is not None
    assert (found.order, found.is_exact) == (order, True)
    assert Order.parse(order.argument) == order


@pytest.mark.parametrize("options", ["-R", "-M", "-t= -k2", "-k1.3,1.5", "-c"])
def test_an_order_that_no_condition_can_state_is_none(options: str) -> None:
    found = typed_order("out.txt", [f"sort {options} in.txt > out.txt"])
    assert found is not None
    assert found.order is None


@pytest.mark.parametrize(
    "command",
    [
        "grep x in.csv | sort -t, -k3,3nr | head -n 3 > out.csv",
        "sort -t, -k3,3nr in.csv | tee out.csv",
        "sort -t, -k3,3nr -o out.csv in.csv",
        "sort -t, -k3,3nr in.csv > tmp && mv tmp out.csv",
        "sort -t, -k3,3nr in.csv > all.csv; head -5 all.csv > out.csv",
        "(head -n 1 in.csv; tail -n +2 in.csv | sort -t, -k3,3nr) > out.csv",
        "head -n 1 in.csv > out.csv; tail -n +2 in.csv | sort -t, -k3,3nr >> out.csv",
        'for f in *.csv; do sort -t, -k3,3nr "$f" > "$f.new"; mv "$f.new" "$f"; done',
    ],
)
def test_an_order_is_kept_by_what_hands_on_lines_as_they_are(command: str) -> None:
    found = typed_order("out.csv", [command])
    assert found is not None
    assert (found.order, found.is_exact) == (BY_PAY, True)


@pytest.mark.parametrize(
    "command",
    [
        "sort -t, -k3,3nr in.csv | awk -F, '{print $3\",\"$1}' > out.csv",
        "sort -t, -k3,3nr in.csv | sed 's/^/- /' > out.csv",
        "sort -t, -k3,3nr in.csv > out.csv; sed -i 's/x/y/' out.csv",
        "sort -t, -k3,3nr in.csv | uniq -c > out.csv",
    ],
)
def test_what_changes_lines_in_their_order_leaves_its_direction_and_its_kind(command: str) -> None:
    found = typed_order("out.csv", [command])
    assert found is not None
    assert (found.order, found.is_exact) == (BY_PAY, False)


@pytest.mark.parametrize(
    ("command", "order"),
    [
        ("sort -t, -k3,3nr staff.csv > out.csv", BY_PAY),
        ("sort -t, -k3,3nr staff.csv | head -n 4 > out.csv", BY_PAY),
        ("sort staff.csv > out.csv", WHOLE),
    ],
)
def test_of_the_orders_that_a_file_is_in_the_one_that_was_typed_is_stated(command: str, order: Order) -> None:
    assert orders("out.csv", STAFF, command) == [order.argument]


def test_an_order_that_was_typed_and_does_not_hold_is_not_replaced_by_another_one() -> None:
    assert orders("out.csv", STAFF, "sort -t, -k3,3n staff.csv > out.csv") == []


def test_fields_that_stand_elsewhere_are_looked_for_by_direction_and_kind() -> None:
    text = "90 Ann\n80 Bob\n70 Cyd\n60 Dee\n"
    found = orders("out.txt", text, "sort -t, -k3,3nr staff.csv | awk -F, '{print $3, $1}' > out.txt")
    assert found[0] == Order("space", 1, "numbers", True).argument
    assert all("as=numbers order=descending" in one for one in found)


@pytest.mark.parametrize(
    "command", ["wc -w *.txt > out.txt", "awk '{print}' in.txt > out.txt", "python3 count.py > out.txt"]
)
def test_where_nothing_orders_no_order_is_claimed(command: str) -> None:
    assert orders("out.txt", "12 a.txt\n20 b.txt\n32 total\n", command) == []


@pytest.mark.parametrize(
    "command",
    ["sqlite3 a.db 'select * from t order by 1' > out.txt", "python3 rank.py", "jq 'sort_by(.a)' a.json"],
)
def test_an_order_of_a_program_of_its_own_is_guessed(command: str) -> None:
    before = Folder({"rank.py": "for one in sorted(rows): print(one)\n"})
    assert orders("out.txt", "1 c\n2 b\n3 a\n", command, before=before)


def test_numbers_are_those_at_the_beginning_of_a_key_and_sizes_go_by_their_unit() -> None:
    assert Order(kind="numbers", descending=True).holds(["  12 b", "  9 a", "name"])
    assert not Order(kind="numbers").holds(["b", "a"])
    assert Order(kind="sizes").holds(["4.0K a", "900K b", "1.5M c", "1G d"])
    assert Order(kind="versions").holds(["v1.9", "v1.10", "v2"])
    assert Order(kind="folded").holds(["ann", "Bob", "cyd"])
