"""Writes the table of ``docs/lessons.md`` anew from the list of known failures.

Usage: ``.venv/bin/python -m tests.lessons.page``.
"""

import re
from pathlib import Path

from tests.lessons.catalogue import LESSONS
from tests.lessons.known_failures import KNOWN_FAILURES
from tests.lessons.report import written

PAGE = Path(__file__).parents[2] / "docs" / "lessons.md"


def main() -> None:
    """Replaces the one table whose first column is called lesson."""
    text = PAGE.read_text(encoding="utf-8")
    table = written(LESSONS, KNOWN_FAILURES)
    PAGE.write_text(
        re.sub(r"^\| lesson \|.*?\n(?!\|)", lambda _: table, text, flags=re.M | re.S), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
