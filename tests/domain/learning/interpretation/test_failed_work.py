"""A lesson none of whose effects happened says which commands failed."""

import pytest

from contracts.learning.observation import ObservedActionEvent
from domain.learning.interpretation.failed_work import failed_work, not_proved, nothing_shown
from tests.domain.conftest import Teaching

T = Teaching()


def lesson(*commands: str) -> list[ObservedActionEvent]:
    """The events of commands: one with ``!`` before it failed, one with ``>`` made that file where it did not."""
    return [_event(number, line) for number, line in enumerate(commands, start=1)]


def _event(number: int, line: str) -> ObservedActionEvent:
    if line.startswith("!"):
        return T.command(number, line[1:], exit_class="failed")
    return T.command(number, line, *(f"+{made}" for made in line.split("> ")[1:]))


@pytest.mark.parametrize(
    ("commands", "failed"),
    [
        (("!sort a.txt > b.txt", "!mkdir neu"), ["sort a.txt > b.txt", "mkdir neu"]),
        (("ls", "!sort a.txt > b.txt", "!cat b.txt"), ["sort a.txt > b.txt"]),
        (("mkdir neu", "!sort a.txt > neu/b.txt"), ["sort a.txt > neu/b.txt"]),
        (("!sotr a.txt > b.txt", "sort a.txt > b.txt"), []),
        (("!gerp x a.txt", "grep x a.txt"), []),
        (("!cat b.txt", "cat a.txt"), []),
        (("!make all", "sort a.txt > b.txt"), []),
    ],
)
def test_failed_work_is_named_where_nothing_that_was_shown_changed_a_file(
    commands: tuple[str, ...], failed: list[str]
) -> None:
    assert [one.command for one in map(not_proved, failed_work(lesson(*commands)))] == failed


def test_a_refusal_names_what_failed_and_what_to_do() -> None:
    said = nothing_shown(failed_work(lesson("!sort a.txt > b.txt", "!mkdir neu", "!touch c")))
    assert "“sort a.txt > b.txt” and “mkdir neu” failed" in said
    assert "show the task again" in said
    assert (
        len(nothing_shown(failed_work(lesson(*(f"!{'x' * n} > {'y' * 200}" for n in range(90, 93)))))) <= 240
    )
    assert "Nothing meaningful was captured" in nothing_shown(())
