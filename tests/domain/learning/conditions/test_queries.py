"""What a query typed into sqlite3 writes has the columns, the rows and the order that the query says."""

import json

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import objection
from domain.learning.conditions.queries import queries_in, with_filters
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

SALES = "day,region,shop,amount\n1,north,b,200\n2,south,a,300\n3,north,b,90\n4,north,a,120\n5,north,b,300\n"
TYPED = """sqlite3 shop.db <<'END'
.mode csv
.import sales.csv sales
.headers on
.output north.csv
SELECT shop, day, CAST(amount AS INTEGER) AS amount FROM sales
WHERE region = 'north' AND CAST(amount AS INTEGER) > 100 ORDER BY shop, amount DESC;
.output
END"""
RESULT = "shop,day,amount\na,4,120\nb,5,300\nb,1,200\n"


def stated(command: str, result: str) -> list[str]:
    before = Folder({"sales.csv": SALES})
    after = Folder({"sales.csv": SALES, "north.csv": result})
    return [one.statement for one in candidates(before, after, [command], ["sales.csv"])]


def test_a_result_of_a_query_says_its_columns_its_rows_and_their_order() -> None:
    said = stated(TYPED, RESULT)
    assert (
        "The file north.csv has the shop, day and amount of every row of sales.csv"
        " where region is north and amount is more than 100, and no other" in said
    )
    assert "The file north.csv holds “shop,day,amount”" in said
    assert (
        "The lines of north.csv are sorted by field 1 (comma) after the first line, in ascending order;"
        " where that is equal by field 3 (comma), largest first" in said
    )


def test_a_filter_may_leave_nothing_so_that_the_result_is_only_said_to_be_made() -> None:
    assert "The file north.csv has been made" in stated(TYPED, RESULT)
    total = TYPED.replace("shop, day, CAST(amount AS INTEGER) AS amount", "count(*) AS n").partition("ORDER")[
        0
    ]
    assert "The file north.csv has been made and is not empty" in stated(f"{total};\nEND", "n\n3\n")


def test_a_wrong_row_is_found_and_rows_that_the_query_leaves_out_by_a_limit_are_not_claimed() -> None:
    (query,) = queries_in([TYPED])
    rows = condition(ConditionKind.SELECTS, "north.csv", other="sales.csv", argument=query.argument)
    before = Folder({"sales.csv": SALES})
    for result, problem in (
        (RESULT, None),
        (RESULT + "b,3,90\n", "north.csv has the row b, 3.0, 90.0"),
        (RESULT.replace("a,4,120\n", ""), "north.csv lacks the row a, 4.0, 120.0"),
    ):
        assert objection(rows, before, Folder({"sales.csv": SALES, "north.csv": result})) == problem
    assert queries_in([TYPED.replace("DESC;", "DESC LIMIT 2;")])[0].argument == ""


def test_a_query_as_an_argument_is_read_with_the_file_that_its_table_came_from() -> None:
    (query,) = queries_in(
        [
            "sqlite3 -csv x.db '.import a.csv t'",
            "sqlite3 -csv x.db 'select a, sum(n) as n from t group by a' > o.csv",
        ]
    )
    assert (query.output, query.source, query.columns, query.plain) == (
        "o.csv",
        "a.csv",
        ("a", "n"),
        {1: "a"},
    )
    assert query.is_distinct


def test_another_value_is_put_into_the_filter() -> None:
    (query,) = queries_in([TYPED])
    changed = json.loads(with_filters(query.argument, {"north": "south", "100": "10"}))
    assert changed["where"] == [["region", "=", "south"], ["amount", ">", "10"]]
