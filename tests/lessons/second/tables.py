"""Lessons on tables: due dates worked out line by line, and totals per category with awk."""

from datetime import date, timedelta
from pathlib import Path

from tests.lessons.lesson import Lesson
from tests.lessons.second.folders import numbers, table, text_of, write

_INVOICE_HEADING = ("number", "customer", "issued", "amount")


def _invoices(start: date, first: int, count: int, seed: int) -> list[tuple[str, str, str, str]]:
    customers = (
        "Garden Centre Moss",
        "Müller & Sohn",
        "Hill School",
        "Bakery No. 4",
        "City Library",
        "Ferry Line",
    )
    steps = numbers(seed, count, 1, 9)
    amounts = numbers(seed + 1, count, 25, 2400)
    picks = numbers(seed + 2, count, 0, len(customers) - 1)
    day = start
    found: list[tuple[str, str, str, str]] = []
    for place in range(count):
        found.append((f"R{first + place}", customers[picks[place]], day.isoformat(), f"{amounts[place]}.00"))
        day += timedelta(days=steps[place])
    return found


_INVOICES = _invoices(date(2025, 1, 2), 501, 18, 12)
_OTHER_INVOICES = _invoices(date(2027, 11, 26), 2010, 26, 40)


def _prepare_due(folder: Path) -> None:
    write(folder / "invoices.csv", table([_INVOICE_HEADING, *_INVOICES]))
    write(folder / "terms.txt", "Invoices are due 30 days after the day of issue.\n")


def _other_due(folder: Path) -> None:
    write(folder / "open invoices.csv", table([_INVOICE_HEADING, *_OTHER_INVOICES]))
    write(folder / "terms.txt", "Since 2027: 14 days.\n")


def _check_due(folder: Path) -> None:
    expected = "number,customer,issued,amount,due\n"
    for number, customer, issued, amount in _OTHER_INVOICES:
        due = date.fromisoformat(issued) + timedelta(days=14)
        expected += f"{number},{customer},{issued},{amount},{due.isoformat()}\n"
    assert text_of(folder / "due.csv") == expected
    assert text_of(folder / "open invoices.csv") == table([_INVOICE_HEADING, *_OTHER_INVOICES])


DUE = Lesson(
    name="due_dates_of_invoices",
    goal="Add to each invoice of the list the day on which it is due, 30 days after it was issued",
    prepare=_prepare_due,
    typed=(
        "ls",
        "cat terms.txt",
        "head -n 5 'invoices.csv'",
        "date -d '2025-01-31 + 1 month' +%F",
        "date -d '2025-01-31 + 30 days' +%f",
        "date -d '2025-01-31 + 30 days' +%F",
        "while IFS=, read -r number customer issued amount; do\n"
        '  echo "$number,$customer,$issued,$amount,$(date -d "$issued + 30 days" +%F)"\n'
        "done < 'invoices.csv' > due.csv",
        "head -n 3 due.csv",
        "echo 'number,customer,issued,amount,due' > due.csv",
        "tail -n +2 'invoices.csv' | while IFS=, read -r number customer issued amount; do\n"
        '  echo "$number,$customer,$issued,$amount,$(date -d "$issued + 30 days" +%F)"\n'
        "done >> due.csv",
        "head -n 5 due.csv",
        "wc -l 'invoices.csv' due.csv",
    ),
    facts=(
        ("days", "days after the date of issue"),
        ("+%F", "YYYY-MM-DD", "ISO date", "year-month-day"),
        ("tail -n +2", "without the heading", "skip the heading", "skip the first line"),
        ("number,customer,issued,amount,due",),
        ("IFS=,", "separated by commas", "comma"),
        ("due.csv",),
    ),
    absent=("1 month", "2025-01-31"),
    parameters=("invoices.csv", "30"),
    finds=(
        "until when does each bill have to be paid",
        "compute payment deadlines for the list of bills",
        "put a column with the date of maturity behind the invoice table",
    ),
    near_misses=(
        "delete the invoices that were due 30 days ago",
        "add up the amounts of the invoices of each day",
        "send a reminder for each invoice that is overdue",
    ),
    other=_other_due,
    other_values={"invoices.csv": "open invoices.csv", "30": "14"},
    check=_check_due,
)

_EXPENSE_HEADING = ("date", "category", "text", "amount")


def _expenses(
    year: int, categories: tuple[str, ...], count: int, seed: int
) -> list[tuple[str, str, str, int]]:
    picks = numbers(seed, count, 0, len(categories) * 3 - 1)
    cents = numbers(seed + 1, count, 180, 24999)
    return [
        (
            f"{year}-{1 + row * 12 // count:02d}-{1 + (row * 11) % 28:02d}",
            categories[picks[row] % len(categories)],
            f"receipt {seed * 100 + row}",
            cents[row],
        )
        for row in range(count)
    ]


_EXPENSES = _expenses(2025, ("travel", "paper", "repairs", "rent", "Büromaterial"), 60, 4)
_OTHER_EXPENSES = _expenses(2026, ("fuel", "insurance", "Löhne", "rent", "repairs", "tools", "water"), 95, 8)


def _expense_text(expenses: list[tuple[str, str, str, int]]) -> str:
    rows = [(day, kind, text, f"{cents // 100},{cents % 100:02d}") for day, kind, text, cents in expenses]
    return table([_EXPENSE_HEADING, *rows], ";")


def _prepare_categories(folder: Path) -> None:
    write(folder / "expenses_2025.csv", _expense_text(_EXPENSES))
    write(folder / "receipts" / "readme.txt", "Receipts are filed by their number.\n")


def _other_categories(folder: Path) -> None:
    write(folder / "expenses_2025.csv", _expense_text(_EXPENSES))
    write(folder / "expenses_2026.csv", _expense_text(_OTHER_EXPENSES))


def _check_categories(folder: Path) -> None:
    expected = "category;count;sum;average\n"
    for category in sorted({row[1] for row in _OTHER_EXPENSES}):
        amounts = [cents / 100 for _, kind, _, cents in _OTHER_EXPENSES if kind == category]
        expected += f"{category};{len(amounts)};{sum(amounts):.2f};{sum(amounts) / len(amounts):.2f}\n"
    assert text_of(folder / "summary.csv") == expected
    assert text_of(folder / "expenses_2026.csv") == _expense_text(_OTHER_EXPENSES)


CATEGORIES = Lesson(
    name="sum_and_average_per_category",
    goal="From the year's expenses make a table with count, sum and average of each category",
    prepare=_prepare_categories,
    typed=(
        "ls",
        "head -n 4 expenses_2025.csv",
        "cut -d';' -f2 expenses_2025.csv | sort | uniq -c",
        "cat > per_category.awk <<'END'\n"
        'BEGIN { FS = ";"; OFS = ";" }\n'
        "NR > 1 {\n"
        "  count[$2]++\n"
        "  sum[$2] += $4\n"
        "}\n"
        "END {\n"
        "  for (name in count)\n"
        '    print name, count[name], sprintf("%.2f", sum[name]), sprintf("%.2f", sum[name] / count[name])\n'
        "}\n"
        "END",
        "awk -f per_categroy.awk expenses_2025.csv",
        "awk -f per_category.awk expenses_2025.csv",
        "grep ';rent;' expenses_2025.csv | head -n 3",
        'ed -s per_category.awk\n/count\\[\\$2\\]++/i\n  sub(",", ".", $4)\n.\nw\nq',
        "cat per_category.awk",
        "awk -f per_category.awk expenses_2025.csv",
        "echo 'category;count;sum;average' > summary.csv",
        "awk -f per_category.awk expenses_2025.csv | sort >> summary.csv",
        "column -t -s';' summary.csv",
    ),
    facts=(
        ('FS = ";"', "separated by semicolons", "semicolon"),
        ('sub(",", ".", $4)', "decimal comma", "comma to a point", "comma into a point"),
        ("sum[$2] += $4", "sum of the fourth column per second column", "amount per category"),
        ("%.2f", "two decimals"),
        ("| sort", "sorted by category", "in the order of the categories"),
        ("category;count;sum;average",),
        ("summary.csv",),
    ),
    absent=("per_categroy", ";rent;"),
    parameters=("expenses_2025.csv",),
    finds=(
        "how much was spent on each kind of cost, in total and on average",
        "group the spending list by its second column and add up the amounts",
        "statistics of the costs of a year by type with awk",
    ),
    near_misses=(
        "add a new expense to the category travel",
        "sort the expenses of the year by amount",
        "rename a category in the table of expenses",
    ),
    other=_other_categories,
    other_values={"expenses_2025.csv": "expenses_2026.csv"},
    check=_check_categories,
)

LESSONS = (DUE, CATEGORIES)
