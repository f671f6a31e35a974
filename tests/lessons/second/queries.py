"""Lessons on data that is asked questions: JSON with jq, and a CSV file in the Python interpreter."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.lessons.lesson import Lesson
from tests.lessons.second.folders import numbers, table, text_of, write


@dataclass(frozen=True)
class _Order:
    """One order of the web shop."""

    number: str
    status: str
    name: str
    city: str
    lines: tuple[tuple[str, int, int], ...]

    @property
    def total(self) -> int:
        """What the customer pays, in cents."""
        return sum(quantity * price for _, quantity, price in self.lines)


def _orders(first: int, count: int, seed: int) -> list[_Order]:
    names = (
        "Ina Wellmer",
        "Tariq Holm",
        'Club "Blue Boat"',
        "Rosi Käfer",
        "Dana Prewett",
        "Hotel Linde, Annex",
    )
    cities = ("Westbrook", "Sankt Veit", "Two Bridges", "Mühlheim", "Eastfield")
    statuses = ("paid", "open", "paid", "returned", "sent", "returned", "open")
    articles = (("kettle", 3490), ("mug", 790), ("tray", 1250), ("teapot", 4215), ("spoon", 333))
    found: list[_Order] = []
    for place, pick in enumerate(numbers(seed, count, 0, 10_000)):
        lines = tuple(
            (articles[(pick + line) % 5][0], 1 + (pick // 7 + line * 3) % 6, articles[(pick + line) % 5][1])
            for line in range(1 + pick % 4)
        )
        found.append(
            _Order(
                f"A-{first + place}",
                statuses[(place * 3 + pick % 2) % len(statuses)],
                names[pick % len(names)],
                cities[pick % 13 % len(cities)],
                lines,
            )
        )
    return found


_ORDERS = _orders(3001, 24, 6)
_JUNE_ORDERS = _orders(3120, 37, 19)


def _order_text(orders: list[_Order], day: str) -> str:
    content = {
        "exported": day,
        "shop": "tea and table",
        "orders": [
            {
                "id": order.number,
                "status": order.status,
                "customer": {"name": order.name, "city": order.city},
                "lines": [
                    {"article": article, "quantity": quantity, "price": price}
                    for article, quantity, price in order.lines
                ],
            }
            for order in orders
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _prepare_orders(folder: Path) -> None:
    write(folder / "orders.json", _order_text(_ORDERS, "2025-05-31"))
    write(folder / "fields.txt", "price: cents per piece\n")


def _other_orders(folder: Path) -> None:
    write(folder / "orders_june.json", _order_text(_JUNE_ORDERS, "2025-06-30"))
    write(folder / "orders.json", _order_text(_ORDERS, "2025-05-31"))


def _check_orders(folder: Path) -> None:
    chosen = [order for order in _JUNE_ORDERS if order.status == "returned"]
    expected = '"id","name","city","total"\n'
    for order in sorted(chosen, key=lambda order: -order.total):
        name = order.name.replace('"', '""')
        expected += f'"{order.number}","{name}","{order.city}",{order.total}\n'
    assert text_of(folder / "list.csv") == expected


ORDERS = Lesson(
    name="orders_from_json_to_csv",
    goal="From the shop's JSON export make a CSV list of the paid orders with totals, largest first",
    prepare=_prepare_orders,
    typed=(
        "ls",
        "cat fields.txt",
        "head -n 20 orders.json",
        "jq '.[] | select(.status == \"paid\") | .id' orders.json",
        "jq 'keys' orders.json",
        "jq -c '.orders[0]' orders.json",
        "jq -r '.orders[].status' orders.json | sort | uniq -c",
        "jq -c '.orders | map(select(.status == \"paid\") | {id, name: .custmer.name})' orders.json",
        'jq -c \'.orders | map(select(.status == "paid") | {id, name: .customer.name, city: .customer.city, '
        "total: (.lines | map(.quantity * .price) | add)})' orders.json",
        'jq -r \'.orders | map(select(.status == "paid") | {id, name: .customer.name, city: .customer.city, '
        "total: (.lines | map(.quantity * .price) | add)}) | sort_by(-.total) "
        '| ["id", "name", "city", "total"], (.[] | [.id, .name, .city, .total]) | @csv\' '
        "orders.json > list.csv",
        "cat list.csv",
        "wc -l list.csv",
    ),
    facts=(
        (".status ==", "by status", "whose status is"),
        (".quantity * .price", "quantity times price"),
        ("sort_by(-.total)", "largest first", "descending by total", "highest total first"),
        ('["id", "name", "city", "total"]', "id, name, city and total"),
        ("@csv", "CSV"),
        ("list.csv",),
    ),
    absent=("custmer",),
    parameters=("orders.json", "paid"),
    finds=(
        "turn the web shop export into a table of orders with one status",
        "filter and reshape the order data with jq, sorted by value",
        "which customers have paid and how much, as comma-separated values",
    ),
    near_misses=(
        "turn the CSV list of orders into JSON",
        "delete the paid orders from the export",
        "mark an order in the JSON file as paid",
    ),
    other=_other_orders,
    other_values={"orders.json": "orders_june.json", "paid": "returned"},
    check=_check_orders,
)

_TIME_HEADING = ("day", "depot", "tour", "minutes")


def _times(depots: tuple[str, ...], month: str, count: int, seed: int) -> list[tuple[str, str, str, str]]:
    minutes = numbers(seed, count, 12, 190)
    picks = numbers(seed + 1, count, 0, 999)
    return [
        (
            f"{month}-{1 + row * 28 // count:02d}",
            depots[picks[row] % len(depots)],
            f"T{1 + row % 6}",
            "" if picks[row] % 9 == 4 else str(minutes[row]),
        )
        for row in range(count)
    ]


_TIMES = _times(("east", "west", "harbour"), "2025-02", 64, 3)
_JUNE_TIMES = _times(("north", "east", "harbour", "valley"), "2025-06", 110, 31)


def _prepare_median(folder: Path) -> None:
    write(folder / "times.csv", table([_TIME_HEADING, *_TIMES], ";"))


def _other_median(folder: Path) -> None:
    write(folder / "tours june.csv", table([_TIME_HEADING, *_JUNE_TIMES], ";"))
    write(folder / "depots.txt", "north\neast\nharbour\nvalley\n")


def _check_median(folder: Path) -> None:
    minutes = [float(row[3]) for row in _JUNE_TIMES if row[1] == "north" and row[3]]
    assert text_of(folder / "median.txt") == f"north: {median(minutes):.1f} minutes, {len(minutes)} tours\n"


MEDIAN = Lesson(
    name="median_in_the_interpreter",
    goal="Find the median duration of the tours of the depot east and write it to a file",
    prepare=_prepare_median,
    typed=(
        "ls",
        "head -n 4 'times.csv'",
        "cut -d';' -f2 'times.csv' | sort | uniq -c",
        "grep -c ';$' 'times.csv'",
        "python3\n"
        "import csv, statistics\n"
        'rows = list(csv.DictReader(open("times.csv", encoding="utf-8")))\n'
        "rows[0]\n"
        'rows = list(csv.DictReader(open("times.csv", encoding="utf-8"), delimiter=";"))\n'
        "rows[0]\n"
        'depot = "east"\n'
        'minutes = [float(row["minutes"]) for row in rows if row["depot"] == depot]\n'
        'minutes = [float(row["minutes"]) for row in rows if row["depot"] == depot and row["minutes"]]\n'
        "statistics.median(minuets)\n"
        "statistics.median(minutes)\n"
        'with open("median.txt", "w", encoding="utf-8") as result:\n'
        '    print(f"{depot}: {statistics.median(minutes):.1f} minutes, {len(minutes)} tours", file=result)\n'
        "\n"
        "exit()",
        "cat median.txt",
    ),
    facts=(
        ('delimiter=";"', "separated by semicolons", "semicolon"),
        ("statistics.median", "median"),
        ('and row["minutes"]', "tours without minutes are left out", "empty durations", "missing minutes"),
        ('row["depot"] ==', "rows of the depot", "tours of the depot"),
        (":.1f", "one decimal"),
        ("median.txt",),
    ),
    absent=("minuets",),
    parameters=("times.csv", "east"),
    finds=(
        "typical driving time of one depot",
        "which duration lies in the middle for the tours of a branch",
        "compute the median of the minutes column for a depot and save it",
    ),
    near_misses=(
        "delete the tours of the depot east from the file",
        "list the longest tours of each depot",
        "change the duration of a tour in the file",
    ),
    other=_other_median,
    other_values={"times.csv": "tours june.csv", "east": "north"},
    check=_check_median,
)

LESSONS = (ORDERS, MEDIAN)
