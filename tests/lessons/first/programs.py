"""Lessons on programs: a missing rule of a Makefile, a script that needs a virtual environment."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

from tests.lessons.first.folders import read, read_table, write, write_table
from tests.lessons.lesson import Lesson

# ---- a missing rule in a Makefile

MAIN_C = """#include <stdio.h>
#include "{module}.h"

int main(int count, char **words) {{
    char name[64];
    long amount;
    FILE *file = count == 2 ? fopen(words[1], "r") : NULL;
    if (!file) {{
        fprintf(stderr, "usage: tally FILE\\n");
        return 2;
    }}
    while (fscanf(file, "%63s %ld", name, &amount) == 2)
        {module}_add(name, amount);
    fclose(file);
    {module}_print();
    return 0;
}}
"""
MODULE_C = """#include <stdio.h>
#include <string.h>
#include "{module}.h"

static char names[100][64];
static long sums[100];
static int used;

void {module}_add(const char *name, long amount) {{
    int at = 0;
    while (at < used && strcmp(names[at], name))
        at++;
    if (at == used && used < 100)
        strcpy(names[used++], name);
    if (at < used)
        sums[at] += amount;
}}

void {module}_print(void) {{
    for (int at = 0; at < used; at++)
        printf("%-12s %8ld\\n", names[at], sums[at]);
}}
"""
MAKE_HEAD = """CC = gcc
CFLAGS = -Wall -O1

tally: {objects}
\t$(CC) -o $@ {objects}
"""
MAKE_RULE = """
build/{module}.o: src/{module}.c src/{header}.h
\tmkdir -p build
\t$(CC) $(CFLAGS) -c -o $@ src/{module}.c
"""
MAKE_CLEAN = "\nclean:\n\trm -rf build tally\n"


def _amounts(path: Path, names: Sequence[str], rows: int, seed: int) -> None:
    chance = random.Random(seed)
    write(path, "".join(f"{chance.choice(names)} {chance.randrange(-50, 900)}\n" for _ in range(rows)))


def _program(folder: Path, module: str, extra: Sequence[str]) -> str:
    """Write the program; the Makefile (returned) lacks the rule for the module."""
    write(folder / "src" / "main.c", MAIN_C.format(module=module))
    write(folder / "src" / f"{module}.c", MODULE_C.format(module=module))
    header = f"void {module}_add(const char *name, long amount);\nvoid {module}_print(void);\n"
    write(folder / "src" / f"{module}.h", header)
    objects = " ".join(f"build/{name}.o" for name in ("main", module, *extra))
    makefile = MAKE_HEAD.format(objects=objects) + MAKE_RULE.format(module="main", header=module)
    for name in extra:
        write(folder / "src" / f"{name}.c", f'#include "{name}.h"\n\nconst char *{name}_text = "{name}";\n')
        write(folder / "src" / f"{name}.h", f"extern const char *{name}_text;\n")
        makefile += MAKE_RULE.format(module=name, header=name)
    write(folder / "Makefile", makefile + MAKE_CLEAN)
    return makefile


def _tally_march(folder: Path) -> None:
    _program(folder, "table", ())
    _amounts(folder / "data" / "march.txt", ("rent", "power", "paper", "repairs"), 30, 3)


def _tally_may(folder: Path) -> None:
    _program(folder, "ledger", ("units",))
    _amounts(folder / "data" / "may.txt", ("rent", "water", "paper", "postage", "travel"), 45, 5)
    _amounts(folder / "data" / "march.txt", ("rent", "water"), 10, 6)


def _check_tally(folder: Path) -> None:
    sums: dict[str, int] = {}
    for line in read(folder / "data" / "may.txt").splitlines():
        name, amount = line.split()
        sums[name] = sums.get(name, 0) + int(amount)
    assert read(folder / "tally.txt") == "".join(f"{name:<12} {total:8d}\n" for name, total in sums.items())
    makefile = read(folder / "Makefile")
    rule = r"^build/ledger\.o: src/ledger\.c src/ledger\.h\n(?:\t.*\n)*\t.* -c .*src/ledger\.c\n"
    assert len(re.findall(rule, makefile, re.MULTILINE)) == 1
    assert makefile.endswith(MAKE_CLEAN)
    assert MAKE_RULE.format(module="units", header="units") in makefile
    assert (folder / "tally").is_file()
    assert (folder / "build" / "ledger.o").is_file()


MAKEFILE = Lesson(
    name="add_missing_make_rule",
    goal="Add the rule for the table module that the Makefile lacks, build the program and keep its output",
    prepare=_tally_march,
    typed=(
        "ls . src data",
        "make",
        "cat Makefile",
        "grep -n include src/*.c",
        """ed Makefile
,n
/^clean:/i
build/table.o: src/table.c src/table.h
    mkdir -p build
    $(CC) $(CFLAGS) -c -o $@ src/table.c

.
w
q""",
        "make",
        "sed -i 's/^    /\\t/' Makefile",
        "mkae",
        "make",
        "./tally data/march.txt",
        "./tally data/march.txt > tally.txt",
        "cat tally.txt",
    ),
    facts=(
        ("/^clean:/i", "before clean", "above clean", "in front of the rule clean"),
        (".o: src/", "object depends on its source and header", "depends on the .c and .h file"),
        ("mkdir -p build", "make the folder build"),
        ("$(CC) $(CFLAGS) -c -o $@", "compile with CC and CFLAGS"),
        ("s/^    /\\t/", "tab character", "begin with a tab", "start with a tab", "indented by a tab"),
        ("./tally",),
        ("tally.txt",),
    ),
    absent=("mkae", "grep -n include"),
    parameters=("table", "data/march.txt"),
    finds=(
        "fix 'no rule to make target' for an object file",
        "put a compile rule for a module into the makefile and build",
        "the makefile does not know how to build one object, repair it and run the tool",
    ),
    near_misses=(
        "remove the rule of a module from the Makefile",
        "clean the build folder of the program",
        "list the rules of the Makefile with their modules",
    ),
    other=_tally_may,
    other_values={"table": "ledger", "data/march.txt": "data/may.txt"},
    check=_check_tally,
)

# ---- a script in a virtual environment

REPORT_PY = '''"""Hours of each group. Runs in a virtual environment with the package plainreport."""

import csv
import sys

if sys.prefix == sys.base_prefix:
    sys.exit("report.py: run this in a virtual environment")

from plainreport import line

path, month = sys.argv[1:]
hours: dict[str, float] = {}
with open(path, encoding="utf-8", newline="") as stream:
    for row in csv.DictReader(stream):
        if row["day"].startswith(month):
            hours[row["group"]] = hours.get(row["group"], 0) + float(row["hours"])
print(line("month", month))
for group in sorted(hours):
    print(line(group, f"{hours[group]:.1f}"))
print(line("total", f"{sum(hours.values()):.1f}"))
'''
PACKAGE_PY = '"""Lines of a report."""\n\n\ndef line(left, right):\n    return f"{left:.<24}{right:.>12}"\n'


def _hours(folder: Path, groups: Sequence[str], months: Sequence[str], rows: int, seed: int) -> None:
    chance = random.Random(seed)
    table: list[tuple[str, ...]] = [("day", "group", "hours")]
    for _ in range(rows):
        day = f"{chance.choice(months)}-{chance.randrange(1, 29):02d}"
        table.append((day, chance.choice(groups), f"{chance.randrange(1, 20) / 2:.1f}"))
    write_table(folder / "hours.csv", table)
    write(folder / "report.py", REPORT_PY)
    write(folder / "vendor" / "plainreport" / "__init__.py", PACKAGE_PY)
    write(folder / "vendor" / "plainreport" / "LICENSE", "Free to use.\n")


def _hours_april(folder: Path) -> None:
    _hours(folder, ("workshop", "office", "stock"), ("2025-03", "2025-04"), 60, 4)


def _hours_june(folder: Path) -> None:
    _hours(
        folder,
        ("workshop", "Büro", "stock", "driving", "training"),
        ("2025-04", "2025-05", "2025-06"),
        120,
        6,
    )


def _check_hours(folder: Path) -> None:
    hours: dict[str, float] = {}
    for day, group, amount in read_table(folder / "hours.csv")[1:]:
        if day.startswith("2025-06"):
            hours[group] = hours.get(group, 0) + float(amount)
    rows = [("month", "2025-06"), *((group, f"{hours[group]:.1f}") for group in sorted(hours))]
    rows.append(("total", f"{sum(hours.values()):.1f}"))
    assert read(folder / "report.txt") == "".join(f"{left:.<24}{right:.>12}\n" for left, right in rows)


ENVIRONMENT = Lesson(
    name="report_in_virtual_environment",
    goal="Run the report of a month's hours in a virtual environment with the package it needs; keep it",
    prepare=_hours_april,
    typed=(
        "ls . vendor",
        "head -n 11 report.py; head -n 3 hours.csv",
        "python3 report.py hours.csv 2025-04",
        "python3 -m venv --wihtout-pip .venv",
        "python3 -m venv --without-pip .venv",
        ". .venv/bin/activate",
        "python report.py hours.csv 2025-04",
        "cp -r vendor/plainreport .venv/lib/python3*/site-packages/",
        "python report.py hours.csv 2025-04 > report.txt",
        "cat report.txt",
        "deactivate",
    ),
    facts=(
        ("-m venv",),
        ("--without-pip", "without pip"),
        ("vendor/plainreport",),
        ("site-packages",),
        ("report.py hours.csv", "run report.py on hours.csv"),
        ("> report.txt", "into report.txt", "report.txt"),
    ),
    absent=("--wihtout-pip", "pyvenv.cfg", "__pycache__"),
    parameters=("2025-04",),
    finds=(
        "monthly hours report with its own python environment",
        "set up a venv from the vendored package and run the script in it",
        "how many hours did each group work in a month",
    ),
    near_misses=(
        "delete the virtual environment of the report",
        "enter the hours of a group for today",
        "upgrade the packages of the virtual environment",
    ),
    other=_hours_june,
    other_values={"2025-04": "2025-06"},
    check=_check_hours,
)

LESSONS = (MAKEFILE, ENVIRONMENT)
