"""Titles of lessons whose goal nobody stated: phrases that a person understands, from what was done to which files."""

from typing import Any

import pytest

from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.naming import TITLE_LIMIT, slug_from_title
from domain.learning.interpretation.steps import captured_steps
from domain.learning.interpretation.titles import inferred_title


def title_of(teach: Any, *lines: tuple[str, ...]) -> str:
    """The title of commands, each with the changes of files that it made."""
    steps = captured_steps([teach.command(at, *line) for at, line in enumerate(lines, start=1)], ())
    return inferred_title(steps, LastingNames(steps))


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Sort sales.txt into top.txt", [("sort -k2 -nr sales.txt | head -3 > top.txt", "+top.txt")]),
        ("Sort sales.txt into top.txt", [("sh -c 'sort sales.txt | head > top.txt'", "+top.txt")]),
        (
            "Sort app.log into top_errors.txt",
            [("grep ERROR app.log | sort | uniq -c | sort -rn > top_errors.txt", "+top_errors.txt")],
        ),
        (
            "Create customers_clean.csv from customers.csv",
            [
                ("cat > clean.py <<'E'\nimport csv\nE", "+clean.py"),
                ("python3 clean.py customers.csv > customers_clean.csv", "+customers_clean.csv"),
            ],
        ),
        (
            "Convert jpg files into the folder small",
            [
                ("mkdir -p small",),
                (
                    'for f in *.jpg; do convert "$f" -resize 800x "small/$f"; done',
                    "+small/beach.jpg",
                    "+small/hut.jpg",
                    "+small/pier.jpg",
                ),
            ],
        ),
        ("Archive documents into backup.tar.gz", [("tar czf backup.tar.gz documents", "+backup.tar.gz")]),
        (
            "Archive documents into backup",
            [("tar czf backup-$(date +%F).tar.gz documents", "+backup-2026-01-05.tar.gz")],
        ),
        ("Tag a release in git", [("git tag -a v1.2.0 -m 'Release 1.2.0'",)]),
        (
            "Commit changes to git and tag a release in git",
            [("git commit -am 'Release 1.2.0'",), ("git tag v1.2.0",)],
        ),
        (
            "Create big_orders.csv from shop.db",
            [("sqlite3 -csv shop.db 'SELECT name FROM orders' > big_orders.csv", "+big_orders.csv")],
        ),
        (
            "Rename scan files into invoice files",
            [
                (
                    'n=1; for f in scan_*.pdf; do mv "$f" "invoice_$n.pdf"; n=$((n+1)); done',
                    *("-scan_a.pdf", "-scan_b.pdf", "-scan_c.pdf"),
                    *("+invoice_1.pdf", "+invoice_2.pdf", "+invoice_3.pdf"),
                )
            ],
        ),
        (
            "Move IMG_001.jpg and IMG_002.jpg into the folder 2026/01",
            [
                ("mkdir -p 2026/01",),
                (
                    "mv IMG_001.jpg IMG_002.jpg 2026/01/",
                    *("-IMG_001.jpg", "-IMG_002.jpg", "+2026/01/IMG_001.jpg", "+2026/01/IMG_002.jpg"),
                ),
            ],
        ),
        ("Build hello from hello.c", [("gcc -o hello hello.c", "+hello")]),
        (
            "Create part files from big.csv",
            [("split -l 100 big.csv part_", "+part_aa", "+part_ab", "+part_ac")],
        ),
        ("Count py files in src into lines.txt", [("wc -l src/*.py > lines.txt", "+lines.txt")]),
        ("Compare old and new into changes.txt", [("diff -r old new > changes.txt", "+changes.txt")]),
        (
            "Download and filter notes.md into rows.json, list.json and 1 more",
            [
                ("curl -o rows.json https://example.org/rows.json", "+rows.json"),
                ("jq .rows rows.json > list.json", "+list.json"),
                ("grep -c TODO notes.md > todo.txt", "+todo.txt"),
            ],
        ),
        ("Update server.ini", [("sed -i 's/port=80/port=8080/' server.ini", "~server.ini")]),
        ("Sort names.txt", [("sort -o names.txt names.txt", "~names.txt")]),
        ("Remove a.log and b.log", [("rm a.log b.log", "-a.log", "-b.log")]),
        ("Create list.txt", [("ls | sort > list.txt", "+list.txt")]),
        ("Inspect sales.csv", [("sort -t, -k2 sales.csv",)]),
        ("Run du and df", [("du -sh * && df -h",)]),
        ("Run make", [("make",)]),
        ("Verify backup.sha256", [("sha256sum -c backup.sha256",)]),
    ],
)
def test_a_title_says_what_is_done_to_which_files(
    teach: Any, title: str, lines: list[tuple[str, ...]]
) -> None:
    assert title_of(teach, *lines) == title


def test_work_on_many_files_of_one_name_is_titled_by_that_name(teach: Any) -> None:
    steps = captured_steps(teach.reports(), ())
    assert inferred_title(steps, LastingNames(steps)) == "Sort, archive and checksum reports"


@pytest.mark.parametrize("words", [1, 4, 6, 8])
def test_a_title_of_long_names_stays_within_its_limit(teach: Any, words: int) -> None:
    source, result = f"{'_'.join(['sales'] * words)}.csv", f"{'_'.join(['total'] * words)}.csv"
    title = title_of(teach, (f"sort {source} > {result}", f"+{result}"))
    assert len(title) <= TITLE_LIMIT
    assert title.split()[0] in ("Sort", "Create")
    assert slug_from_title(title)
