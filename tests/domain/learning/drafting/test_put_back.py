"""What cannot be put back into a lesson is refused, with the reason and what to do."""

from datetime import UTC, datetime

import pytest

from contracts.errors import Refusal
from contracts.learning.evidence import CommandUse, LessonEvidence
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    TerminalObservation,
)
from domain.learning.drafting.put_back import KeptState, check_put_back

IDS = [f"01890000-0000-7000-8000-{n:012d}" for n in range(9)]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SORT, COUNT, MISSPELT, FAILED, READER, UNREPEATED = IDS[:6]
LINES = {
    SORT: "sort app.log > sorted.log",
    COUNT: "wc -l sorted.log > count.txt",
    MISSPELT: "srot app.log",
    FAILED: "grep -c ERROR app.log",
    READER: "cat count.txt",
    UNREPEATED: "cat sorted.log",
}
METHOD = frozenset({SORT})


def event(event_id: str) -> ObservedActionEvent:
    ended = ExitClass.FAILED if event_id in (FAILED, MISSPELT) else ExitClass.OK
    return ObservedActionEvent(
        event_id=event_id,
        learn_session_id=IDS[6],
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        app_family="terminal",
        action_label=LINES[event_id],
        terminal=TerminalObservation(command=LINES[event_id], exit_class=ended, working_folder="."),
        created_at=NOW,
    )


EVENTS = {one: event(one) for one in LINES}
EVIDENCE = LessonEvidence(
    state_id=IDS[7],
    reproduced=True,
    kept=(SORT,),
    uses=(
        CommandUse(event_id=SORT, succeeded=True, read=("app.log",), written=("sorted.log",)),
        CommandUse(event_id=COUNT, succeeded=True, read=("sorted.log",), written=("count.txt",)),
        CommandUse(event_id=MISSPELT, succeeded=False),
        CommandUse(event_id=FAILED, succeeded=False, read=("app.log",)),
        CommandUse(event_id=READER, succeeded=True, read=("count.txt",)),
    ),
    made_at=NOW,
)


def check(*wanted: str, method: frozenset[str] = METHOD, gone: frozenset[str] = frozenset()) -> None:
    state = KeptState(paths={"app.log"} - gone, gone=gone, missing={MISSPELT: "srot"})
    check_put_back(wanted, method | {*wanted}, EVIDENCE, EVENTS, state)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (MISSPELT, "there is no program srot here; show the task again with it spelt right"),
        (FAILED, "it failed when it was shown; show the task again with it done right"),
        (READER, "it needs count.txt of “wc -l sorted.log > count.txt”; put that back too"),
        (UNREPEATED, "the replay did not repeat it; show the task again with it"),
    ],
)
def test_what_cannot_be_repeated_is_refused_with_what_to_do(wanted: str, why: str) -> None:
    with pytest.raises(Refusal, match="cannot be put back") as refused:
        check(wanted)
    assert why in refused.value.message


def test_a_command_whose_input_is_no_longer_kept_is_refused() -> None:
    with pytest.raises(Refusal, match=r"what app\.log held is no longer kept"):
        check(SORT, method=frozenset(), gone=frozenset({"app.log"}))


def test_an_unknown_command_is_refused_with_where_they_are_listed() -> None:
    with pytest.raises(Refusal, match="`apprentice learn show` lists them"):
        check(IDS[8])


def test_commands_that_need_each_other_are_put_back_together() -> None:
    check(COUNT)
    check(COUNT, READER)
