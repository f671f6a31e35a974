"""Which commands may be checks of the work: they change nothing and read what it made or works on."""

from uuid import uuid4

import pytest

from contracts.learning.evidence import CommandUse
from domain.learning.proof.checks import asks_for_a_check, possible_checks


@pytest.mark.parametrize(
    ("goal", "asks"),
    [
        ("Back up the records; check it", True),
        ("Unpack the tables and verify them", True),
        ("Make sure that the archive is intact", True),
        ("Write the checksums of the photos", False),
        ("Compare the two releases", False),
    ],
)
def test_the_goal_says_whether_something_is_to_be_checked(goal: str, asks: bool) -> None:
    assert asks_for_a_check(goal) is asks


def possible(*steps: tuple[str, str, str], ok: bool = True) -> list[str]:
    """The lines that may be checks, each step a line with what it read and wrote; those that wrote are the work."""
    uses = [
        CommandUse(
            event_id=str(uuid4()), succeeded=ok, read=tuple(read.split()), written=tuple(written.split())
        )
        for _, read, written in steps
    ]
    found = possible_checks(
        [line for line, _, _ in steps], uses, {one.event_id for one in uses if one.written}
    )
    return [line for (line, _, _), use in zip(steps, uses, strict=True) if use.event_id in found]


MADE = ("tar -czf a.tgz records", "records/a", "a.tgz")


@pytest.mark.parametrize(
    "check", [("tar -dzf a.tgz", "a.tgz records/a", ""), ("python3 check.py", "check.py a.tgz", "")]
)
def test_it_reads_what_was_made_or_is_worked_on(check: tuple[str, str, str]) -> None:
    assert possible(MADE, check) == [check[0]]


def test_looking_around_other_files_and_what_was_changed_afterwards_are_no_checks() -> None:
    assert possible(MADE, ("tar -tzf a.tgz | head", "a.tgz", ""), ("ls records", "records/a", "")) == []
    assert possible(MADE, ("unzip -t other.zip", "other.zip", "")) == []
    assert possible(("tar -tf a.tgz && gzip -t a.tgz", "a.tgz", ""), MADE) == []


def test_what_failed_is_no_check() -> None:
    assert possible(MADE, ("gzip -t a.tgz", "a.tgz", ""), ok=False) == []
