"""The order of a file is the one that was typed; where no command puts lines in order, none is claimed."""

import pytest

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.orders import Order
from domain.learning.conditions.sort_orders import SortKey, SortOrder, order_of
from domain.learning.conditions.typed_orders import typed_order
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

STAFF = "Ann,7,90\nBob,5,80\nCyd,3,70\nDee,1,60\n"
"""By the third field, and by chance also by the first and by the second."""

BY_PAY = SortOrder("comma", (SortKey(3, 3, "numbers", True),))
WHOLE = SortOrder()


def orders(
    path: str, text: str, *commands: str, before: Folder | None = None, locale: str = "C.UTF-8"
) -> list[str]:
    """The orders that are guessed of a file that the commands made."""
    start = before or Folder()
    found = candidates(start, Folder({**start.texts, path: text}), commands, (), locale=locale)
    return [one.argument for one in found if one.kind is ConditionKind.SORTED and one.path == path]


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ("", WHOLE),
        ("-r", SortOrder(keys=(SortKey(descending=True),))),
        ("-n", SortOrder(keys=(SortKey(kind="numbers"),))),
        ("--sort=numeric", SortOrder(keys=(SortKey(kind="numbers"),))),
        ("-g", SortOrder(keys=(SortKey(kind="floats"),))),
        ("-t, -k3,3nr", BY_PAY),
        ("-t , -k 3,3nr", BY_PAY),
        ("--field-separator=, --key=3,3 --numeric-sort --reverse", BY_PAY),
        ("-nrt, -k3,3", BY_PAY),
        ("-r -t, -k3,3n", SortOrder("comma", (SortKey(3, 3, "numbers"),))),
        ("-t';' -k2", SortOrder("semicolon", (SortKey(2),))),
        ("-t: -k2,4", SortOrder("colon", (SortKey(2, 4),))),
        ("-f -k2,2", SortOrder(keys=(SortKey(2, 2, "folded"),))),
        ("-b -k2,2", SortOrder(keys=(SortKey(2, 2, without_blanks=True),))),
        ("-t$'\\t' -k1,1V", SortOrder("tab", (SortKey(1, 1, "versions"),))),
        ("-rh", SortOrder(keys=(SortKey(kind="sizes", descending=True),))),
        ("-u -k1", WHOLE),
        ("-t, -k2,2 -k3,3nr", SortOrder("comma", (SortKey(2, 2), SortKey(3, 3, "numbers", True)))),
    ],
)
def test_the_options_of_sort_say_the_order(options: str, order: SortOrder) -> None:
    found = typed_order("out.txt", [f"sort {options} in.txt > out.txt"])
    assert found is not None
    assert (found.order, found.is_exact) == (order, True)
    assert order_of(order.argument) == order


@pytest.mark.parametrize(
    "options", ["-R", "-M", "--sort=month", "-t= -k2", "-k1.3,1.5", "-k1,1 -k2.3", "-k1,1 -k2,2d", "-c"]
)
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
        "time sort -t, -k3,3nr in.csv > out.csv",
        "nice -n 5 nohup timeout 5 sort -t, -k3,3nr < in.csv > out.csv",
        "env LC_ALL=C sort -t, -k3,3nr in.csv | sudo tee out.csv > /dev/null",
        "sort -t, -k3,3nr in.csv > all.csv; nice head -3 < all.csv > out.csv",
        "ls *.csv | xargs sort -t, -k3,3nr > out.csv",
        'for f in *.csv; do sort -t, -k3,3nr "$f" > "$f.new"; mv "$f.new" "$f"; done',
        "sh -c 'sort -t, -k3,3nr in.csv | head -3 > out.csv'",
        'bash -lc "sort -t, -k3,3nr in.csv" > out.csv',
        "env LC_ALL=C timeout 5 sh -c 'grep x in.csv | sort -t, -k3,3nr' > out.csv",
        "sh -c 'sort -t, -k3,3nr' < in.csv > out.csv",
        "sort -t, -k3,3nr in.csv | sh -c 'head -3 > out.csv'",
        "sort -t, -k3,3nr in.csv > all.csv; sh -c 'head -3' < all.csv > out.csv",
        "sort -t, -k3,3nr in.csv > all.csv; sh -c 'head -3 \"$1\"' sh all.csv > out.csv",
        "ls in.csv | xargs -I{} sh -c 'sort -t, -k3,3nr {} > out.csv'",
        "find . -name in.csv -exec sh -c 'sort -t, -k3,3nr \"$1\" > out.csv' _ {} \\;",
        "eval 'sort -t, -k3,3nr in.csv > out.csv'",
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
def test_of_the_orders_that_a_file_is_in_the_one_that_was_typed_is_stated(
    command: str, order: SortOrder
) -> None:
    assert orders("out.csv", STAFF, command) == [order.argument]


@pytest.mark.parametrize(
    "command",
    [
        'sort -t, -k3,3n in.csv | while read line; do echo "$line"; done > out.csv',
        'sort in.csv | while read name; do cat "$name"; done > out.csv',
        'for one in $(sort in.csv); do printf "%s\\n" "$one"; done > out.csv',
        'echo "$(sort in.csv)" > out.csv',
        "printf '%s\\n' $(sort in.csv) > out.csv",
        'rows=$(sort in.csv); echo "$rows" > out.csv',
        "sudo python3 rank.py > out.csv",
        "sh -c 'python3 rank.py' > out.csv",
    ],
)
def test_what_loops_and_substitutions_give_is_of_no_order_that_is_known(command: str) -> None:
    assert typed_order("out.csv", [command]) is None
    if "sort" in command:
        assert BY_FIELD in orders("out.csv", STAFF, command)


BY_FIELD = Order("comma", 3, "numbers", True).argument


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


def test_an_order_with_several_keys_is_stated_with_all_of_them() -> None:
    text = "Ann,HR,90\nCyd,HR,70\nBob,IT,80\n"
    (found,) = orders("out.csv", text, "sort -t, -k2,2 -k3,3nr staff.csv > out.csv")
    assert order_of(found) == SortOrder("comma", (SortKey(2, 2), SortKey(3, 3, "numbers", True)))


def test_the_locale_of_the_demonstration_decides_what_is_stated_of_texts() -> None:
    text = "apple\nBanana\ncherry\nDate\n"
    assert orders("out.txt", text, "sort in.txt > out.txt") == []
    (found,) = orders("out.txt", text, "sort in.txt > out.txt", locale="en_US.UTF-8")
    assert order_of(found) == SortOrder(is_local=True)
    assert orders("out.txt", text, "sort in.txt > out.txt", locale="et_EE.UTF-8") == []
    numbers = "1 b\n2 a\n"
    assert len(orders("out.txt", numbers, "sort -n in.txt > out.txt", locale="et_EE.UTF-8")) == 1
    assert orders("out.txt", "a\nb\nc\n", "python3 run.py", before=SORTING, locale="en_US.UTF-8") == []
    assert len(orders("out.txt", "a\nb\nc\n", "python3 run.py", before=SORTING)) == 1
    (found,) = orders("out.txt", text, "bash run.sh", before=SORTING, locale="en_US.UTF-8")
    assert order_of(found) == SortOrder(is_local=True)


SORTING = Folder({"run.sh": "sort in.txt > out.txt\n", "run.py": "os.system('sort in.txt > out.txt')\n"})


@pytest.mark.parametrize(
    ("script", "text", "run", "order"),
    [
        ("go.sh", "awk -F, '{print $1\",\"$3}' in.csv | sort > out.csv", "bash go.sh", WHOLE),
        ("go.sh", "#!/bin/sh\nsort -t, -k3,3nr in.csv > out.csv\n", "./go.sh", BY_PAY),
        ("go", '#!/usr/bin/env bash\nsort -t, -k3,3nr "$1" > out.csv\n', "./go in.csv", BY_PAY),
        ("go.sh", "sort in.csv > tmp\nmv tmp out.csv\n", "sh go.sh", WHOLE),
        ("go.sh", "bash go.sh; sort in.csv > out.csv\n", "sh go.sh", WHOLE),
    ],
)
def test_the_order_that_a_script_of_the_shell_gives_is_known(
    script: str, text: str, run: str, order: SortOrder
) -> None:
    found = typed_order("out.csv", [run], {script: text})
    assert found is not None
    assert (found.order, found.is_exact) == (order, True)


def test_of_a_script_in_another_language_no_order_is_known() -> None:
    text = "#!/usr/bin/python3\nprint(sorted(rows))\n"
    assert typed_order("out.csv", ["./go > out.csv"], {"go": text}) is None
    assert typed_order("out.csv", ["python3 go.py"], {"go.py": "sort = 1\n"}) is None
