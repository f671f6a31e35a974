"""What is learned from thirty recorded lessons, held to what is known to fail."""

from pathlib import Path

import pytest

from tests.fixtures.stack import connect, running_stack, stack_settings
from tests.lessons.catalogue import LESSONS
from tests.lessons.harness import run_lessons
from tests.lessons.known_failures import FOUND, KNOWN_FAILURES, PASSED, REFUSED
from tests.lessons.page import HEADING, PAGE
from tests.lessons.report import totals, written
from tests.lessons.verdicts import Outcome

pytestmark = pytest.mark.anyio


def test_the_list_of_known_failures_is_about_lessons_that_are_there() -> None:
    assert set(KNOWN_FAILURES) <= {lesson.name for lesson in LESSONS}
    assert len(LESSONS) - len(KNOWN_FAILURES) == PASSED


def test_the_page_on_lessons_shows_what_is_known_to_fail() -> None:
    # `.venv/bin/python -m tests.lessons.page` writes it anew.
    assert PAGE.read_text(encoding="utf-8").endswith(HEADING + written(LESSONS, KNOWN_FAILURES))


@pytest.mark.thorough
@pytest.mark.timeout(600)
async def test_the_lessons_are_learned_as_far_as_the_list_of_known_failures_says(
    temporal_address: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    # One run for all: a request is looked up among all thirty abilities.
    settings = stack_settings(tmp_path, find_by_meaning=True)
    async with running_stack(settings, await connect(temporal_address)) as stack:
        outcomes = await run_lessons(stack, LESSONS, tmp_path / "lessons")
    for outcome in outcomes:
        with subtests.test(lesson=outcome.lesson.name):
            _holds(outcome)
    found = totals(outcomes)
    assert found["passed"] >= PASSED
    assert found["fit"]["found"] >= FOUND
    assert found["fit"]["refused"] >= REFUSED


def _holds(outcome: Outcome) -> None:
    known = KNOWN_FAILURES.get(outcome.lesson.name, {})
    new = {
        aspect: outcome.verdicts[aspect].reason for aspect in outcome.failed_aspects if aspect not in known
    }
    assert new == {}
    met = [aspect.value for aspect in known if outcome.verdicts[aspect].passed]
    assert met == [], "these are met now: take them off the list of known failures"
