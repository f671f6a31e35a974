"""Lessons that live from the shell: a function of the session, a long pipeline, steering by variables."""

from collections import Counter
from pathlib import Path

from tests.lessons.lesson import Lesson
from tests.lessons.second.folders import files_below, numbers, table, text_of, write


def _stations(names: tuple[str, ...], seed: int) -> dict[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for place, name in enumerate(names):
        count = 16 + (place * 5 + seed) % 9
        levels = numbers(seed * 10 + place, count, 40, 395)
        found[name] = [
            (
                f"2025-0{1 + seed % 8}-{1 + row:02d} 07:00",
                f"S{place + 1}",
                "-" if (row * 3 + place) % 7 == 5 else f"{level // 100}.{level % 100:02d}",
            )
            for row, level in enumerate(levels)
        ]
    return found


_STATIONS = _stations(("bridge", "harbour", "old mill", "weir"), 3)
_SITES = _stations(("canal lock", "mühlbach", "outlet", "reservoir", "tunnel east"), 6)


def _write_stations(folder: Path, stations: dict[str, list[tuple[str, str, str]]]) -> None:
    for name, rows in stations.items():
        write(folder / f"{name}.csv", table([("time", "station", "level"), *rows], ";"))


def _prepare_function(folder: Path) -> None:
    _write_stations(folder / "stations", _STATIONS)
    write(folder / "README.txt", "Water levels in metres, read once a day; - means no reading.\n")


def _other_function(folder: Path) -> None:
    _write_stations(folder / "sites", _SITES)
    write(folder / "README.txt", "Levels of the second half year. A dash stands for a missing reading.\n")


def _check_function(folder: Path) -> None:
    expected = "station;readings;mean;highest\n"
    for name in sorted(_SITES):
        levels = [float(row[2]) for row in _SITES[name] if row[2] != "-"]
        expected += f"{name};{len(levels)};{sum(levels) / len(levels):.2f};{max(levels):.2f}\n"
    assert text_of(folder / "levels.csv") == expected


FUNCTION = Lesson(
    name="summary_function_over_files",
    goal="Make a table with the number of readings, mean and highest level of each station",
    prepare=_prepare_function,
    typed=(
        "ls",
        "cat README.txt",
        "ls stations",
        "head -n 8 'stations/old mill.csv'",
        "summary() {\n"
        "  awk -F';' 'NR > 1 { n++; s += $3 } END { printf \"%d;%.2f\\n\", n, s / n }' \"$1\"\n"
        "}",
        "sumary stations/weir.csv",
        "summary stations/weir.csv",
        "grep -c -e '-$' stations/*.csv",
        "summary() {\n"
        '  awk -F\';\' -v name="$(basename "$1" .csv)" \'\n'
        '    NR > 1 && $3 != "-" { n++; s += $3; if (n == 1 || $3 > top) top = $3 }\n'
        '    END { printf "%s;%d;%.2f;%.2f\\n", name, n, s / n, top }\n'
        '  \' "$1"\n'
        "}",
        "summary 'stations/old mill.csv'",
        "echo 'station;readings;mean;highest' > levels.csv",
        'for file in stations/*.csv; do summary "$file"; done >> levels.csv',
        "column -s';' -t levels.csv",
    ),
    facts=(
        ("-F';'", "separated by semicolons", "semicolon"),
        ('$3 != "-"', "without the missing readings", "missing readings are left out", "skip the dashes"),
        ("NR > 1", "without the heading", "skip the first line"),
        ("%.2f", "two decimals"),
        ("station;readings;mean;highest",),
        ('basename "$1" .csv', "name of the file without .csv", "file name without its ending"),
        ("levels.csv",),
    ),
    absent=("sumary", "weir"),
    parameters=("stations",),
    finds=(
        "average and maximum water level per measuring point",
        "go through all gauge files and write one line of statistics for each",
        "evaluate the daily readings of every file in the folder into levels.csv",
    ),
    near_misses=(
        "draw a chart of the levels of each station",
        "delete the readings of a station that is closed",
        "enter a new reading for each station",
    ),
    other=_other_function,
    other_values={"stations": "sites"},
    check=_check_function,
)

_DEMO_PAGES = ("/", "/tickets", "/map", "/tickets/family", "/contact", "/jobs", "/opening-hours", "/news")
_OTHER_PAGES = (
    "/",
    "/tickets",
    "/map",
    "/summer",
    "/summer/camp",
    "/contact",
    "/jobs",
    "/opening-hours",
    "/news",
    "/press",
    "/shop",
    "/shop/books",
    "/legal",
)


def _log(pages: tuple[str, ...], day: str, month: str, seed: int, count: int) -> list[str]:
    found: list[str] = []
    places = numbers(seed, count, 0, len(pages) * len(pages) - 1)
    for row, value in enumerate(places):
        page = pages[(value % len(pages)) * (value // len(pages)) // len(pages)]
        address = page.title() if row % 5 == 2 else page
        if row % 3 == 1:
            address += f"?ref=mail{row % 4}"
        clock = f"{7 + row // 8:02d}:{(row * 7) % 60:02d}:{value % 60:02d}"
        found.append(
            f"10.0.{value % 9}.{row % 200 + 1} - - [{day}/{month}/2025:{clock} +0000] "
            f'"GET {address} HTTP/1.1" 200 {900 + value}'
        )
    return found


_LOGS = {
    "2025-02-28.log": _log(_DEMO_PAGES, "28", "Feb", 5, 40),
    "2025-03-01.log": _log(_DEMO_PAGES, "01", "Mar", 6, 60),
    "2025-03-02.log": _log(_DEMO_PAGES, "02", "Mar", 7, 55),
    "2025-03-03.log": _log(_DEMO_PAGES, "03", "Mar", 8, 70),
}
_OTHER_LOGS = {
    "2025-03-31.log": _log(_DEMO_PAGES, "31", "Mar", 3, 80),
    "2025-05-31.log": _log(_OTHER_PAGES, "31", "May", 21, 90),
    "2025-06-01.log": _log(_OTHER_PAGES, "01", "Jun", 22, 75),
    "2025-06-02.log": _log(_OTHER_PAGES, "02", "Jun", 23, 64),
    "2025-06-03.log": _log(_OTHER_PAGES, "03", "Jun", 24, 58),
    "2025-06-04.log": _log(_OTHER_PAGES, "04", "Jun", 25, 49),
}


def _prepare_pipeline(folder: Path) -> None:
    for name, lines in _LOGS.items():
        write(folder / "logs" / name, "".join(f"{line}\n" for line in lines))


def _other_pipeline(folder: Path) -> None:
    for name, lines in _OTHER_LOGS.items():
        write(folder / "logs" / name, "".join(f"{line}\n" for line in lines))


def _check_pipeline(folder: Path) -> None:
    lines = [line for name, lines in _OTHER_LOGS.items() if name.startswith("2025-06") for line in lines]
    visits = Counter(line.split(" ")[6].split("?")[0].lower() for line in lines)
    first = sorted(visits.items(), key=lambda visit: (-visit[1], visit[0]))[:8]
    assert text_of(folder / "top_pages.txt") == "".join(f"{count:7d} {page}\n" for page, count in first)


PIPELINE = Lesson(
    name="most_visited_pages",
    goal="List the five pages that were visited most in March, from the web server's logs",
    prepare=_prepare_pipeline,
    typed=(
        "ls logs",
        "haed -n 3 logs/2025-03-01.log",
        "head -n 3 logs/2025-03-01.log",
        "cut -d' ' -f6 logs/2025-03-*.log | head -n 3",
        "cut -d' ' -f7 logs/2025-03-*.log | head -n 12",
        "cut -d' ' -f7 logs/2025-03-*.log | uniq -c | sort -nr | head",
        "cut -d' ' -f7 logs/2025-03-*.log | cut -d'?' -f1 | sort | uniq -c | sort -nr | head",
        "cut -d' ' -f7 logs/2025-03-*.log | cut -d'?' -f1 | tr '[:upper:]' '[:lower:]' | sort | uniq -c "
        "| sort -k1,1nr -k2,2 | head -n 5",
        "cut -d' ' -f7 logs/2025-03-*.log | cut -d'?' -f1 | tr '[:upper:]' '[:lower:]' | sort | uniq -c "
        "| sort -k1,1nr -k2,2 | head -n 5 > top_pages.txt",
        "cat top_pages.txt",
    ),
    facts=(
        ("-f7", "seventh field"),
        ("cut -d'?' -f1", "without the query", "cut off at the question mark", "up to the question mark"),
        ("tr '[:upper:]' '[:lower:]'", "lower case", "without regard to case"),
        ("sort -k1,1nr -k2,2", "largest count first", "descending by count, then by name"),
        ("top_pages.txt",),
    ),
    absent=("haed", "-f6", "2025-03-01"),
    parameters=("2025-03", "5"),
    finds=(
        "ranking of the most requested addresses in the access logs of a month",
        "which pages of our site get the most hits",
        "count page views in the log files and keep the top ones",
    ),
    near_misses=(
        "delete the web server's logs of March",
        "list the visitors with the most failed log-ins in the logs",
        "compress the five largest logs",
    ),
    other=_other_pipeline,
    other_values={"2025-03": "2025-06", "5": "8"},
    check=_check_pipeline,
)


def _report(word: str) -> str:
    return f"""#!/bin/bash
# Yearly report of one region from sales.csv. REGION must be set; YEAR and DETAIL may be set.
region=${{REGION:?REGION is not set}}
year=${{YEAR:-2023}}
if ! grep -q "^$year-[0-9-]*,$region," sales.csv; then
  echo "no rows for $region in $year" >&2
  exit 1
fi
mkdir -p reports
awk -F, -v region="$region" -v year="$year" -v detail="${{DETAIL:-no}}" '
  substr($1, 1, 4) == year && $2 == region {{
    total += $4
    if (detail == "yes") print $1, $3, $4
  }}
  END {{ print "{word} " region " " year ": " total }}
' sales.csv > "reports/$region-$year.txt"
echo "wrote reports/$region-$year.txt"
"""


def _sales(seed: int, count: int, years: tuple[int, ...]) -> list[tuple[str, str, str, int]]:
    regions = ("north", "south", "west", "east")
    goods = ("desk", "chair", "lamp", "shelf", "cabinet")
    picks = numbers(seed, count, 0, 100_000)
    amounts = numbers(seed + 1, count, 40, 1900)
    found = [
        (
            f"{years[row * len(years) // count]}-{1 + (row * 7 + seed) % 12:02d}-{1 + pick % 28:02d}",
            regions[pick % 7 % 4],
            goods[pick % 11 % 5],
            amounts[row],
        )
        for row, pick in enumerate(picks)
    ]
    return sorted(found)


_SALES = _sales(2, 90, (2023, 2024, 2025))
_OTHER_SALES = _sales(15, 120, (2023, 2025, 2026))
_SALES_HEADING = ("date", "region", "article", "amount")


def _prepare_variables(folder: Path) -> None:
    write(folder / "sales.csv", table([_SALES_HEADING, *_SALES]))
    write(folder / "report.sh", _report("Sales"), 0o755)


def _other_variables(folder: Path) -> None:
    write(folder / "sales.csv", table([_SALES_HEADING, *_OTHER_SALES]))
    write(folder / "report.sh", _report("Net turnover"), 0o755)
    write(folder / "regions.txt", "north\nsouth\neast\nwest\n")


def _check_variables(folder: Path) -> None:
    rows = [row for row in _OTHER_SALES if row[0].startswith("2026") and row[1] == "south"]
    expected = "".join(f"{day} {article} {amount}\n" for day, _, article, amount in rows)
    expected += f"Net turnover south 2026: {sum(row[3] for row in rows)}\n"
    assert files_below(folder / "reports") == ["south-2026.txt"]
    assert text_of(folder / "reports" / "south-2026.txt") == expected
    assert text_of(folder / "report.sh") == _report("Net turnover")


VARIABLES = Lesson(
    name="regional_report_by_variables",
    goal="Run the report script of this folder for the region north and the year 2025, with the single sales",
    prepare=_prepare_variables,
    typed=(
        "ls -l",
        "cat report.sh",
        "head -n 4 sales.csv",
        "./report.sh",
        "REGION=north ./report.sh",
        "cat reports/north-2023.txt",
        "rm reports/north-2023.txt",
        "export YEAR=2025",
        "REGION=nroth ./report.sh",
        "REGION=north ./report.sh",
        "cat reports/north-2025.txt",
        "REGION=north DETAIL=yes ./report.sh",
        "cat reports/north-2025.txt",
    ),
    facts=(
        ("REGION=", "the variable REGION"),
        ("YEAR=", "the variable YEAR"),
        ("DETAIL=yes", "DETAIL set to yes"),
        ("./report.sh", "report.sh"),
    ),
    absent=("nroth", "north-2023"),
    parameters=("north", "2025"),
    finds=(
        "yearly sales report for one region with all single rows",
        "start report.sh with the right environment for a region",
        "I need the figures of one sales area for a given year as a text file",
    ),
    near_misses=(
        "delete the reports of the region north",
        "change the report script so that it adds taxes",
        "compare the sales of all regions in one year",
    ),
    other=_other_variables,
    other_values={"north": "south", "2025": "2026"},
    check=_check_variables,
)

LESSONS = (FUNCTION, PIPELINE, VARIABLES)
