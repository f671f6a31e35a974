"""Which commands may be checks of the work: they change nothing and read what it made or works on."""

from uuid import uuid4

import pytest

from contracts.learning.evidence import CommandUse
from domain.learning.proof.checks import PossibleCheck, asks_for_a_check, check_proof, possible_checks


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


def possible(*steps: tuple[str, str, str], status: int = 0, asked: bool = True) -> list[str]:
    """The lines that may be checks, each step a line with what it read and wrote; those that wrote are the work."""
    uses = [
        CommandUse(
            event_id=str(uuid4()), succeeded=True, read=tuple(read.split()), written=tuple(written.split())
        )
        for _, read, written in steps
    ]
    found = possible_checks(
        [line for line, _, _ in steps],
        uses,
        [status] * len(steps),
        {one.event_id for one in uses if one.written},
        asked=asked,
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


def test_what_failed_is_no_check_but_for_a_search_that_found_nothing() -> None:
    assert possible(MADE, ("gzip -t a.tgz", "a.tgz", ""), status=1) == []
    assert possible(MADE, ("diff -q a.tgz b.tgz", "a.tgz", ""), status=1) == []
    assert possible(MADE, ("grep -l x a.tgz", "a.tgz", ""), status=1, asked=False) == ["grep -l x a.tgz"]
    assert possible(MADE, ("grep -l x a.tgz", "a.tgz", ""), status=2) == []


def test_where_no_check_is_asked_for_it_is_of_what_the_work_made() -> None:
    of_input = ("grep -q x records/a", "records/a", "")
    assert possible(MADE, of_input, asked=False) == []
    assert possible(MADE, ("jq -e .a a.tgz", "a.tgz", ""), asked=False) == ["jq -e .a a.tgz"]


def check(command: str, status: int = 0, *about: str) -> PossibleCheck:
    return PossibleCheck(command, about or ("out.csv",), status, is_asked=False)


@pytest.mark.parametrize(
    ("one", "without", "before", "told"),
    [
        (check("grep -l x *.csv", 1), 0, {"out.csv"}, True),
        (check("grep -l x *.csv", 1), 1, {"out.csv"}, False),
        (check("grep -l x *.csv", 1), 2, set[str](), False),
        (check("grep y out.csv"), 1, {"out.csv"}, True),
        (check("grep y out.csv"), 2, set[str](), False),
        (check("python3 show.py out.csv"), 1, set[str](), False),
        (check("python3 check.py out.csv"), 1, {"out.csv"}, True),
        (check("jq -e .port out.csv"), 2, set[str](), True),
        (check("jq -e .port out.csv"), 0, {"out.csv"}, False),
        (check("jq -e .port out.csv"), None, {"out.csv"}, False),
    ],
)
def test_without_the_work_it_ends_otherwise(
    one: PossibleCheck, without: int | None, before: set[str], told: bool
) -> None:
    assert one.is_told_by(without, before) is told


def test_a_search_that_has_to_find_nothing_is_repeated_as_its_negation_and_said_of_all_files() -> None:
    proof = check_proof(check("grep -l x *.csv", 1, "a.csv", "b.csv"), "without the work", held_for=3)
    assert (proof.condition.argument, proof.condition.path) == ("! grep -l x *.csv", "*.csv")
    assert proof.condition.statement == "The search by grep finds nothing in *.csv"
    assert (proof.holds_for, proof.tried) == (3, 3)


def test_a_check_says_what_it_is_about_and_a_search_what_it_finds() -> None:
    def said(command: str) -> str:
        return check_proof(check(command, 0, "a.csv"), "without the work", held_for=1).condition.statement

    assert said("sha256sum -c a.csv") == "The check of a.csv by sha256sum passes"
    assert said("grep -q done a.csv") == "The check of a.csv by grep passes: it finds lines that match 'done'"
