"""A lesson on a database: import a table into SQLite and export a query typed at its prompt."""

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path

from tests.lessons.first.folders import read_table, write, write_table
from tests.lessons.lesson import Lesson

ARTICLES = ("Screws, brass", "Hinges", "Glue, 500 g", "Boards", "Varnish")


def _deliveries(
    path: Path, suppliers: Sequence[str], warehouses: Sequence[str], rows: int, seed: int
) -> None:
    """Write a month of deliveries; a few of them are returns, with a negative number of pieces."""
    chance = random.Random(seed)
    table: list[tuple[object, ...]] = [
        ("number", "day", "supplier", "warehouse", "article", "pieces", "price")
    ]
    for number in range(rows):
        pieces = -chance.randrange(1, 6) if number % 13 == 6 else chance.randrange(1, 120)
        price = f"{chance.randrange(90, 4500) / 100:.2f}"
        day = f"2025-{path.stem[-2:]}-{1 + number // 5:02d}"
        supplier, warehouse = chance.choice(suppliers), chance.choice(warehouses)
        table.append((seed * 1000 + number, day, supplier, warehouse, chance.choice(ARTICLES), pieces, price))
    write_table(path, table)


def _april(folder: Path) -> None:
    suppliers = ("Eastern Timber", "Harbour Trade", "Metal Works 7", "Paint and Glue")
    _deliveries(folder / "deliveries-04.csv", suppliers, ("Linz", "Wels", "Steyr"), 90, 4)
    write(folder / "columns.txt", "price: for one piece, in euros\npieces: negative for a return\n")


def _may(folder: Path) -> None:
    suppliers = (
        "Eastern Timber",
        "Harbour Trade",
        "Hill Sawmill",
        "Paint and Glue",
        "Rails and More",
        "Öl Depot",
    )
    _deliveries(folder / "deliveries-05.csv", suppliers, ("Linz", "Graz", "Steyr", "Leoben"), 140, 5)
    write(folder / "columns.txt", "price: for one piece, in euros\npieces: negative for a return\n")


def _check(folder: Path) -> None:
    _, *rows = read_table(folder / "deliveries-05.csv")
    totals: dict[str, tuple[int, int, Decimal]] = {}
    for _, _, supplier, warehouse, _, pieces, price in rows:
        if warehouse == "Graz" and int(pieces) > 0:
            count, sum_, value = totals.get(supplier, (0, 0, Decimal(0)))
            totals[supplier] = (count + 1, sum_ + int(pieces), value + int(pieces) * Decimal(price))
    expected = sorted(((name, *total) for name, total in totals.items()), key=lambda row: -row[3])
    result = read_table(folder / "per-supplier.csv")
    assert result[:1] == [["supplier", "deliveries", "pieces", "value"]]
    assert [row[:3] for row in result[1:]] == [
        [name, str(count), str(sum_)] for name, count, sum_, _ in expected
    ]
    for row, found in zip(expected, result[1:], strict=True):
        assert abs(float(row[3]) - float(found[3])) < 0.006
    database = folder / "stock.db"
    assert database.is_file()
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT number) FROM deliveries").fetchone() == (
            140,
            140,
        )


IMPORT = Lesson(
    name="value_per_supplier_by_sqlite",
    goal="Load the deliveries into a database and export the value per supplier for the warehouse in Linz",
    prepare=_april,
    typed=(
        "ls",
        "head -n 4 deliveries-04.csv",
        "cat columns.txt",
        """sqlite3 stock.db
.import deliveries-04.csv deliveries
.schema deliveries
DROP TABLE deliveries;
.mode csv
.import deliveries-04.csv deliveries
SELECT count(*) FROM deliveries;
SELCT DISTINCT warehouse FROM deliveries;
SELECT DISTINCT warehouse FROM deliveries;
.headers on
.once per-supplier.csv
SELECT supplier, count(*) AS deliveries, sum(pieces) AS pieces, round(sum(pieces * price), 2) AS value
FROM deliveries
WHERE warehouse = 'Linz' AND CAST(pieces AS INTEGER) > 0
GROUP BY supplier
ORDER BY value DESC;
.quit""",
        "ls",
        "cat per-supplier.csv",
    ),
    facts=(
        (".mode csv", "-csv", "as CSV"),
        (".headers on", "-header", "with a heading", "column names in the first line"),
        ("stock.db",),
        ("CAST(pieces AS INTEGER) > 0", "without the returns", "only positive pieces", "more than 0 pieces"),
        ("GROUP BY supplier", "grouped by supplier", "for each supplier"),
        ("ORDER BY value DESC", "largest value first", "descending by value"),
        ("round(sum(pieces * price), 2)", "pieces times price", "two decimals"),
        ("per-supplier.csv",),
    ),
    absent=("SELCT", "DROP TABLE", "SELECT DISTINCT", "columns.txt"),
    parameters=("deliveries-04.csv", "Linz"),
    finds=(
        "import a csv into sqlite and write a grouped query to a file",
        "how much did each supplier bring to one warehouse this month",
        "totals by supplier out of the deliveries table",
    ),
    near_misses=(
        "delete the deliveries of a supplier from the database",
        "list the warehouses of each supplier",
        "import the suppliers into the address book",
    ),
    other=_may,
    other_values={"deliveries-04.csv": "deliveries-05.csv", "Linz": "Graz"},
    check=_check,
)

LESSONS = (IMPORT,)
