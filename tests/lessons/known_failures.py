"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: a lesson that is not in it must pass, and one that is in it must fail where it says.
``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.catalogue import LESSONS
from tests.lessons.verdicts import Aspect

NOTHING_TO_REHEARSE_ON = "the rehearsal has none of the files that the task works on"

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    lesson.name: dict.fromkeys(Aspect, NOTHING_TO_REHEARSE_ON) for lesson in LESSONS
}

PASSED = 0
"""How many of the thirty meet every expectation."""
