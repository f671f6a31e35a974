"""Lessons on texts: the most frequent errors of a log, and pages written in Markdown turned into HTML."""

import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.lessons.first.folders import files_below, read, write
from tests.lessons.lesson import Lesson

# ---- the most frequent errors of a log

MARCH = {
    "payment: card declined by the bank": 23,
    "stock: article not on the shelf": 17,
    "mail: mailbox of the customer is full": 12,
    "label: printer does not answer": 9,
    "payment: signature of the reply is wrong": 6,
    "login: session has expired": 4,
    "stock: negative quantity": 2,
}
MAY = {
    "label: no address on the order": 31,
    "login: session has expired": 26,
    "payment: card declined by the bank": 19,
    "mail: server refused the recipient": 11,
    "stock: shelf is locked for the count": 8,
    "label: printer does not answer": 5,
    "search: index is being rebuilt": 3,
    "stock: negative quantity": 1,
}


def _log(path: Path, month: str, errors: Mapping[str, int], seed: int) -> None:
    """Write a log in which each error stands as often as given, each time with another order number."""
    chance = random.Random(seed)
    events = [("ERROR", text) for text, count in errors.items() for _ in range(count)]
    events += [("INFO", "order accepted")] * 70 + [("WARN", "reply took longer than 2 s")] * 15
    events += [("INFO", "retry after ERROR in the last run")] * 14
    chance.shuffle(events)
    lines: list[str] = []
    for number, (level, text) in enumerate(events):
        day, hour, minute = 1 + number // 8, 6 + number % 8, chance.randrange(60)
        order = chance.randrange(100000, 999999)
        lines.append(
            f"{month}-{day:02d} {hour:02d}:{minute:02d}:{number % 60:02d} {level} {text} (order {order})\n"
        )
    write(path, "".join(lines))


def _march_logs(folder: Path) -> None:
    _log(folder / "logs" / "shop-2025-03.log", "2025-03", MARCH, 3)
    _log(folder / "logs" / "import-2025-03.log", "2025-03", {"file: unknown column": 5}, 4)
    write(folder / "logs" / "read me.txt", "One log for each month. Times are in UTC.\n")


def _may_logs(folder: Path) -> None:
    _log(folder / "logs" / "shop-2025-05.log", "2025-05", MAY, 5)
    _log(folder / "logs" / "shop-2025-04.log", "2025-04", {"stock: negative quantity": 40}, 6)
    _log(folder / "logs" / "import-2025-05.log", "2025-05", {"file: unknown column": 9}, 7)


def _check_errors(folder: Path) -> None:
    counted: Counter[str] = Counter()
    for line in read(folder / "logs" / "shop-2025-05.log").splitlines():
        found = re.fullmatch(r"\S+ \S+ ERROR (.*) \(order [0-9]+\)", line)
        if found:
            counted[found[1]] += 1
    expected = [f"{count} {text}" for text, count in counted.most_common(5)]
    assert [" ".join(line.split()) for line in read(folder / "top-errors.txt").splitlines()] == expected


ERRORS = Lesson(
    name="most_frequent_errors",
    goal="List the five most frequent errors of the shop's log with their counts, the largest first",
    prepare=_march_logs,
    typed=(
        "ls logs",
        "head -n 6 logs/shop-2025-03.log",
        "gerp ' ERROR ' logs/shop-2025-03.log | head -n 4",
        "grep -c ERROR logs/shop-2025-03.log",
        "grep ERROR logs/shop-2025-03.log | grep INFO | head -n 3",
        "grep -E '^[^ ]+ [^ ]+ ERROR ' logs/shop-2025-03.log | cut -d' ' -f4- | sort | uniq -c | "
        "sort -rn | head -n 5",
        "grep -E '^[^ ]+ [^ ]+ ERROR ' logs/shop-2025-03.log | cut -d' ' -f4- | "
        "sed -E 's/ \\(order [0-9]+\\)$//' | sort | uniq -c | sort -rn | head -n 5 > top-errors.txt",
        "cat top-errors.txt",
    ),
    facts=(
        (
            "^[^ ]+ [^ ]+ ERROR ",
            "level is ERROR",
            "third field is ERROR",
            "lines of level ERROR",
            "third word",
        ),
        (
            "\\(order [0-9]+\\)",
            "without the order number",
            "remove the order number",
            "strip the order number",
            "cut off the order number",
        ),
        ("uniq -c", "count equal lines", "count how often", "number of occurrences"),
        ("sort -rn", "sort -nr", "most frequent first", "descending by count", "sorted by count, descending"),
        ("head -n 5", "first five lines", "first 5", "top 5", "top five"),
        ("top-errors.txt",),
    ),
    absent=("gerp", "grep INFO"),
    parameters=("logs/shop-2025-03.log",),
    finds=(
        "which error messages occur most often in this log file",
        "rank the failures in the application log by how many times they happened",
        "top errors of the shop log",
    ),
    near_misses=(
        "delete old error lines from the shop's log",
        "list the latest errors of the log by time",
        "compress the log files of last month",
    ),
    other=_may_logs,
    other_values={"logs/shop-2025-03.log": "logs/shop-2025-05.log"},
    check=_check_errors,
)

# ---- Markdown to HTML

HANDBOOK = {
    "index.md": "# Handbook\n\nFor all who work in the **repair shop**.\n\n- opening\n- tools & parts\n",
    "opening hours.md": (
        "# Opening\n\nThe door is opened at 7:30.\n\n## On Saturdays\n\n- only **two** people\n"
        "- no deliveries if the queue is < 3\n\nThe last one locks the gate.\n"
    ),
    "parts.md": (
        "# Tools & parts\n\nTake parts out of the store only with a **slip**.\n\n## Return\n\n"
        "Clean them first.\n\n- **oil** goes into the blue can\n- screws > 8 mm go into box 4\n"
    ),
}
GUIDE = {
    "index.md": "# Guide of the reading room\n\n- borrowing\n- **copying**\n- room plan\n",
    "borrowing.md": (
        "# Borrowing\n\nUp to **6** books & 2 maps.\n\n## Fees\n\nNone if the delay is < 3 days.\n\n"
        "- day 4: a letter\n- day 10: a **second** letter\n\n## Renewal\n\nAsk at the desk.\n"
    ),
    "copying.md": "# Copying\n\n**Black** copies only.\n\n- pages > A3 are not possible\n",
    "Möbel und Räume.md": "# Räume\n\nZwei Säle, ein **Flur**.\n\n## Möbel\n\n- Tische\n- Stühle\n- Regale\n",
}


def _site(folder: Path, pages: Mapping[str, str], note: str) -> None:
    for name, text in pages.items():
        write(folder / "pages" / name, text)
    write(folder / "pages" / "to do.txt", note)


def _handbook(folder: Path) -> None:
    _site(folder, HANDBOOK, "A page on the lift is missing.\n")


def _guide(folder: Path) -> None:
    _site(folder, GUIDE, "Opening hours are to be added.\n")


def _html(markdown: str, edition: str) -> str:
    """What the taught conversion makes of a page."""
    lines: list[str] = ["<!DOCTYPE html>", '<meta charset="utf-8">']
    listed = False
    for raw in markdown.splitlines():
        line = raw.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        line = re.sub(r"\*\*([^*]*)\*\*", r"<strong>\1</strong>", line)
        if listed and not line.startswith("- "):
            lines.append("</ul>")
            listed = False
        if line.startswith("## "):
            lines.append(f"<h2>{line[3:]}</h2>")
        elif line.startswith("# "):
            lines.append(f"<h1>{line[2:]}</h1>")
        elif line.startswith("- "):
            if not listed:
                lines.append("<ul>")
            listed = True
            lines.append(f"<li>{line[2:]}</li>")
        elif line:
            lines.append(f"<p>{line}</p>")
    if listed:
        lines.append("</ul>")
    lines.append(f"<footer>Edition {edition}</footer>")
    return "\n".join(lines) + "\n"


def _check_site(folder: Path) -> None:
    expected = {name.removesuffix(".md") + ".html": _html(text, "2026") for name, text in GUIDE.items()}
    assert {name: read(path) for name, path in files_below(folder / "site").items()} == expected
    assert read(folder / "pages" / "index.md") == GUIDE["index.md"]


MARKDOWN = Lesson(
    name="markdown_pages_to_html",
    goal="Turn the Markdown pages into HTML pages for the site, with the edition at the foot of each page",
    prepare=_handbook,
    typed=(
        "ls pages",
        "cat 'pages/opening hours.md'",
        """cat > page.awk <<'END'
{ gsub(/</, "\\\\&lt;"); gsub(/>/, "\\\\&gt;"); gsub(/&/, "\\\\&amp;") }
{ while (match($0, /\\*\\*[^*]*\\*\\*/))
    $0 = substr($0, 1, RSTART - 1) "<strong>" substr($0, RSTART + 2, RLENGTH - 4) "</strong>" \\
         substr($0, RSTART + RLENGTH) }
list && !/^- / { print "</ul>"; list = 0 }
/^## / { print "<h2>" substr($0, 4) "</h2>"; next }
/^# / { print "<h1>" substr($0, 3) "</h1>"; next }
/^- / { if (!list) print "<ul>"; list = 1; print "<li>" substr($0, 3) "</li>"; next }
/./ { print "<p>" $0 "</p>" }
END { if (list) print "</ul>"; print "<footer>Edition " edition "</footer>" }
BEGIN { print "<!DOCTYPE html>"; print "<meta charset=\\"utf-8\\">" }
END""",
        "awk -v edition=2025 -f page.awk pages/parts.md",
        """ed page.awk <<'END'
1c
{ gsub(/&/, "\\\\&amp;"); gsub(/</, "\\\\&lt;"); gsub(/>/, "\\\\&gt;") }
.
w
q
END""",
        "awk -v edition=2025 -f page.awk pages/parts.md",
        "mkdir site",
        """for page in pages/*.md; do
  awk -v edition=2025 -f page.awk "$page" > "site/$(basename "$page" .md).html"
done""",
        "ls site; cat 'site/opening hours.html'",
    ),
    facts=(
        ("gsub(/&/", "&amp;", "escape the ampersand first", "ampersand before the angle brackets"),
        ("<strong>", "two asterisks become strong", "bold text"),
        ("<h2>", "second-level heading", "headings of two levels"),
        ("<ul>", "lists are enclosed", "list items"),
        ("<footer>Edition", "edition in the footer", "footer with the edition"),
        (
            "basename",
            "same name with .html",
            "keeps its name with the ending .html",
            "one .html for each .md",
        ),
        ("pages/*.md", "every Markdown page of the folder pages", "each .md file in pages"),
    ),
    absent=('"\\\\&gt;"); gsub(/&/', "to do.txt"),
    parameters=("2025",),
    finds=(
        "convert the .md files of the handbook to web pages",
        "generate html from markdown with awk",
        "build the site out of the markdown sources",
    ),
    near_misses=(
        "turn the HTML pages of the site back into Markdown",
        "check the Markdown pages for broken links",
        "print the edition of the Markdown handbook as PDF",
    ),
    other=_guide,
    other_values={"2025": "2026"},
    check=_check_site,
)

LESSONS = (ERRORS, MARKDOWN)
