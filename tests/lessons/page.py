"""Writes the end of ``docs/lessons.md`` anew from the list of known failures: the table, and every failure.

Usage: ``.venv/bin/python -m tests.lessons.page``.
"""

from pathlib import Path

from tests.lessons.catalogue import LESSONS
from tests.lessons.known_failures import KNOWN_FAILURES
from tests.lessons.report import written

PAGE = Path(__file__).parents[2] / "docs" / "lessons.md"
HEADING = "## The table\n\n"


def main() -> None:
    """Replaces what follows the heading of the table."""
    text, heading, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(text + heading + written(LESSONS, KNOWN_FAILURES), encoding="utf-8")


if __name__ == "__main__":
    main()
