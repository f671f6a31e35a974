"""Lessons on tables: clean one with a script of one's own, join two by a key, split one by region."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

from tests.lessons.first.folders import files_below, read, read_table, write, write_table
from tests.lessons.lesson import Lesson

# ---- cleaning a table with a script of one's own

PLACES = ("Neustadt", "Altdorf", "Brück", "Mühlbach", "Seefeld")


def _members(path: Path, people: int, repeated: Sequence[int], seed: int) -> None:
    """Write the list as it comes from the form: blanks, mixed case, some members twice, empty lines."""
    chance = random.Random(seed)
    rows: list[str] = []
    for number in range(people):
        name, place = f"Member {number + seed:03d}", chance.choice(PLACES)
        mail = f"m{number + seed:03d}@example.org"
        joined = f"{chance.randrange(1, 29):02d}.{chance.randrange(1, 13):02d}.{chance.randrange(2015, 2025)}"
        blank = " " * chance.randrange(3)
        rows.append(f"{blank}{name};{mail.upper() if number % 3 == 0 else mail}{blank};{place} ;{joined}")
        if number in repeated:
            rows.append(f"{name} ; {mail.capitalize()};{place};{joined}")
        if number % 11 == 5:
            rows.append(";;;")
    write(path, "name;mail;place;joined\n" + "\n".join(rows) + "\n")


def _members_2024(folder: Path) -> None:
    _members(folder / "members 2024.csv", 40, (3, 12, 13, 30), 100)
    write(folder / "fields.txt", "joined is the day of the form, as DD.MM.YYYY\n")


def _members_2025(folder: Path) -> None:
    _members(folder / "members 2025.csv", 57, (0, 8, 9, 21, 44, 56), 300)
    _members(folder / "members 2024.csv", 12, (3,), 500)
    write(folder / "fields.txt", "joined is the day of the form, as DD.MM.YYYY\n")


def _check_members(folder: Path) -> None:
    expected = [["name", "mail", "place", "joined"]]
    seen: set[str] = set()
    for row in read_table(folder / "members 2025.csv", ";")[1:]:
        name, mail, place, joined = (cell.strip() for cell in row)
        if mail and mail.lower() not in seen:
            seen.add(mail.lower())
            expected.append([name, mail.lower(), place, "-".join(reversed(joined.split(".")))])
    assert read(folder / "members-clean.csv") == "".join(";".join(row) + "\n" for row in expected)


CLEAN = Lesson(
    name="clean_member_list",
    goal="Clean the list of members: blanks, mail addresses (each only once), dates as 2024-12-31",
    prepare=_members_2024,
    typed=(
        "ls",
        "head -n 8 'members 2024.csv'",
        "cat fields.txt",
        """cat > clean.py <<'END'
import csv
import sys

source, target = sys.argv[1:]
seen = set()
with open(source, encoding="utf-8", newline="") as f, open(target, "w", encoding="utf-8", newline="") as out:
    reader = csv.reader(f, delimiter=";")
    writer = csv.writer(out, delimiter=";", lineterminator="\\n")
    writer.writerow(next(reader))
    for row in reader:
        name, mail, place, joined = [cell.strip() for cell in row]
        if not mail or mail in seen:
            continue
        seen.add(mail)
        day, month, year = joined.split(".")
        writer.writerow([name, mail.lower(), place, f"{year}-{month}-{day}"])
END""",
        "python3 claen.py 'members 2024.csv' members-clean.csv",
        "python3 clean.py 'members 2024.csv' members-clean.csv",
        "cut -d';' -f2 members-clean.csv | sort | uniq -d",
        "sed -i 's/mail in seen/mail.lower() in seen/; s/seen.add(mail)/seen.add(mail.lower())/' clean.py",
        "python3 clean.py 'members 2024.csv' members-clean.csv",
        "cut -d';' -f2 members-clean.csv | sort | uniq -d",
        "head -n 5 members-clean.csv; wc -l members-clean.csv",
    ),
    facts=(
        ('delimiter=";"', "separated by semicolons", "separator is the semicolon", "semicolon-separated"),
        ("strip()", "remove the blanks", "trim", "blanks around"),
        ("mail.lower()", "lower-case mail", "mail in lower case", "mail address in lower case"),
        ("in seen", "first entry of each mail address", "repeated mail addresses", "duplicate"),
        ("not mail", "without a mail address", "empty lines", "rows without mail"),
        ("{year}-{month}-{day}", "YYYY-MM-DD", "ISO date", "year-month-day", "year, month, day"),
        ("members-clean.csv",),
    ),
    absent=("claen", "fields.txt"),
    parameters=("members 2024.csv",),
    finds=(
        "tidy up a membership csv with duplicates and stray spaces",
        "remove repeated e-mail addresses from the list and normalise the dates",
        "clean up the members table",
    ),
    near_misses=(
        "send a mail to every member of the list",
        "sort the list of members by place",
        "count the members who joined in each year",
    ),
    other=_members_2025,
    other_values={"members 2024.csv": "members 2025.csv"},
    check=_check_members,
)

# ---- joining two tables by a key

KINDS = ("repair", "inspection", "delivery", "advice")


def _jobs(folder: Path, month: str, first: int, customers: int, jobs: int, seed: int) -> None:
    chance = random.Random(seed)
    keys = [f"C{first + number:04d}" for number in range(customers)]
    rows: list[tuple[str, ...]] = [(key, f"House {key[1:]}", chance.choice(PLACES)) for key in keys]
    chance.shuffle(rows)
    write_table(folder / "customers.csv", [("customer", "name", "place"), *rows], ";")
    orders: list[tuple[str, ...]] = [
        (
            f"{seed}{number:03d}",
            chance.choice(keys[: customers * 3 // 4]),
            chance.choice(KINDS),
            f"{chance.randrange(2000, 90000) / 100:.2f}",
        )
        for number in range(jobs)
    ]
    write_table(folder / f"jobs-{month}.csv", [("job", "customer", "kind", "amount"), *orders], ";")


def _jobs_april(folder: Path) -> None:
    _jobs(folder, "april", 1001, 24, 40, 41)


def _jobs_june(folder: Path) -> None:
    _jobs(folder, "june", 1320, 31, 66, 62)


def _check_joined(folder: Path) -> None:
    jobs = sorted(read_table(folder / "jobs-june.csv", ";")[1:])
    expected = ["customer;name;place;job;amount"]
    for key, name, place in sorted(read_table(folder / "customers.csv", ";")[1:]):
        own = [(job, amount) for job, customer, _, amount in jobs if customer == key] or [("none", "none")]
        expected += [f"{key};{name};{place};{job};{amount}" for job, amount in own]
    assert any(";none;" in line for line in expected)
    assert read(folder / "jobs-by-customer.csv").splitlines() == expected


JOIN = Lesson(
    name="join_jobs_to_customers",
    goal="Put the jobs of a month beside their customers, customers without a job too",
    prepare=_jobs_april,
    typed=(
        "ls -l",
        "head -n 4 customers.csv jobs-april.csv",
        "join -t';' -1 1 -2 2 customers.csv jobs-april.csv | head -n 3",
        "tail -n +2 customers.csv | sort -t';' -k1,1 > customers.sorted",
        "tail -n +2 jobs-april.csv | sort -t';' -k2,2 > jobs.sorted",
        "join -t';' -1 1 -2 2 customers.sorted jobs.sorted | head -n 3",
        "join -t';' -1 1 -2 2 -a 1 -e none -o 0,1.2,1.3,2.1,2.4 customers.sorted jobs.sorted | grep none",
        "echo 'customer;name;place;job;amount' > jobs-by-customer.csv",
        "join -t';' -1 1 -2 2 -a 1 -e none -o 0,1.2,1.3,2.1,2.4 customers.sorted jobs.sorted "
        ">> jobs-by-customer.csv",
        "rm customers.sorted jobs.sorted",
        "head jobs-by-customer.csv; wc -l jobs-by-customer.csv",
    ),
    facts=(
        ("-t';'", "separated by semicolons", "separator is the semicolon"),
        (
            "-1 1 -2 2",
            "first column of the customers and second column of the jobs",
            "second column of the jobs",
        ),
        ("sort -t';' -k2,2", "sort the jobs by the second column", "sort the jobs by customer"),
        ("tail -n +2", "without the heading", "without their first line", "leave out the header"),
        (
            "-a 1",
            "keep customers that have no job",
            "unpaired customers",
            "unpairable lines of the customers",
        ),
        ("-e none", "the word none", "none in the empty fields"),
        ("0,1.2,1.3,2.1,2.4", "customer, name, place, job and amount", "customer;name;place;job;amount"),
        ("jobs-by-customer.csv",),
    ),
    absent=("grep none", "join -t';' -1 1 -2 2 customers.csv"),
    parameters=("jobs-april.csv",),
    finds=(
        "merge the order table with the customer table on their common key",
        "combine two csv files by customer id keeping those without orders",
        "who had which jobs this month, with name and place",
    ),
    near_misses=(
        "list the customers of a place",
        "sum up the amounts of the jobs of a month",
        "separate the jobs of each customer into files",
    ),
    other=_jobs_june,
    other_values={"jobs-april.csv": "jobs-june.csv"},
    check=_check_joined,
)

# ---- splitting a table into one file for each region

GOODS = ("chairs", "desk lamps", "shelves", "tables")


def _sales(path: Path, regions: Sequence[str], rows: int, seed: int) -> None:
    chance = random.Random(seed)
    table = [
        (
            f"{1 + number % 28:02d}.{1 + number // 28:02d}.",
            chance.choice(GOODS),
            f"R{chance.randrange(10, 99)}",
            chance.choice(regions),
            chance.randrange(1, 40),
            f"{chance.randrange(500, 99000) / 100:.2f}",
        )
        for number in range(rows)
    ]
    write_table(path, [("day", "goods", "shop", "region", "pieces", "amount"), *table], ";")


def _sales_2024(folder: Path) -> None:
    _sales(folder / "sales-2024.csv", ("North", "South", "West Coast", "Mitte"), 160, 24)
    write(folder / "notes" / "regions.txt", "West Coast was one region until 2024.\n")


def _sales_2025(folder: Path) -> None:
    regions = ("North", "South", "Upper West Coast", "Lower West Coast", "Süd Ost")
    _sales(folder / "sales-2025.csv", regions, 190, 25)
    _sales(folder / "sales-2024.csv", ("North", "South", "West Coast", "Mitte"), 30, 26)


def _check_regions(folder: Path) -> None:
    heading, *rows = read(folder / "sales-2025.csv").splitlines(keepends=True)
    expected: dict[str, str] = {}
    for row in rows:
        name = re.sub(" ", "_", row.split(";")[3]) + ".csv"
        expected[name] = expected.get(name, heading) + row
    assert {name: read(path) for name, path in files_below(folder / "regions").items()} == expected


SPLIT = Lesson(
    name="split_sales_by_region",
    goal="Split the sales of the year into one file for each region, each with the heading",
    prepare=_sales_2024,
    typed=(
        "ls",
        "wc -l sales-2024.csv; head -n 4 sales-2024.csv",
        "cut -d';' -f4 sales-2024.csv | sort | uniq -c",
        "mkdir regions",
        "awk -F';' 'NR > 1 { print > (\"regions/\" $3 \".csv\") }' sales-2024.csv",
        "ls regions | head -n 5",
        "rm regions/*.csv",
        """awk -F';' '
NR == 1 { heading = $0; next }
{ name = $4; gsub(/ /, "_", name); file = "regions/" name ".csv" }
!(file in begun) { print heading > file; begun[file] = 1 }
{ print > file }' sales-2024.csv""",
        "wc -l regions/*",
        "head -n 3 regions/West_Coast.csv",
    ),
    facts=(
        ("-F';'", "separated by semicolons", "separator is the semicolon"),
        ("name = $4", "fourth column", "column region", "column 4"),
        (
            "print heading > file",
            "each file begins with the heading",
            "heading as first line",
            "repeat the header",
        ),
        ('gsub(/ /, "_"', "underscore", "blanks become _"),
        ('"regions/" name ".csv"', "regions/", "folder regions"),
    ),
    absent=('"regions/" $3', "rm regions"),
    parameters=("sales-2024.csv",),
    finds=(
        "break a big csv up into a separate csv per region",
        "one csv file for every sales region, keep the header line",
        "divide the sales table according to its region column",
    ),
    near_misses=(
        "merge the files of the regions into one table of sales",
        "total the sales of each region",
        "delete the sales of a region from the table",
    ),
    other=_sales_2025,
    other_values={"sales-2024.csv": "sales-2025.csv"},
    check=_check_regions,
)

LESSONS = (CLEAN, JOIN, SPLIT)
