"""Commands are repeated as a replay found: without lines typed in vain, a search that is to find nothing negated."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from activities.learning.lesson_replay import as_repeated, typed_in_vain
from contracts.learning.evidence import CommandUse, LeftOutCommand, LessonEvidence, RepeatedCommand
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from domain.learning.commands.typed_lines import with_typed_lines

TYPED = with_typed_lines("sqlite3 shop.db", [".mode csv", ".once out.csv", "select 1;"])


def event(command: str | None, *produced: str) -> ObservedActionEvent:
    return ObservedActionEvent(
        event_id=str(uuid4()),
        learn_session_id=str(uuid4()),
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        app_family="terminal",
        action_label="a command",
        terminal=TerminalObservation(
            command=command or "",
            exit_class=ExitClass.OK,
            working_folder=".",
            produced_files=tuple(
                ProducedFile(path=path, change="created", size_bytes=3) for path in produced
            ),
        ),
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("command", "produced", "written", "removed", "left"),
    [
        (TYPED, ["out.csv"], ["shop.db"], [], "sqlite3 shop.db"),
        (TYPED, ["out.csv", "log.txt"], ["out.csv"], [], "sqlite3 shop.db"),
        (TYPED, ["out.csv"], ["out.csv", "shop.db"], [], None),
        (TYPED, ["old.csv"], [], ["old.csv"], None),
        (TYPED, [], [], [], None),
        ("sort a.csv > out.csv", ["out.csv"], [], [], None),
    ],
)
def test_lines_that_did_not_make_what_they_had_made_are_left_out(
    command: str | None, produced: list[str], written: list[str], removed: list[str], left: str | None
) -> None:
    shown = event(command, *produced)
    use = CommandUse(event_id=shown.event_id, succeeded=True, written=tuple(written), removed=tuple(removed))
    found = typed_in_vain([shown], [use])
    commands = {key: one.terminal.command for key, one in found.items() if one.terminal}
    assert commands == ({shown.event_id: left} if left else {})


def test_a_command_that_the_replay_did_not_reach_is_repeated_without_them_too() -> None:
    shown = event(TYPED, "out.csv")
    assert set(typed_in_vain([shown], [])) == {shown.event_id}


def test_a_command_that_ends_well_as_it_is_repeated_may_not_fail_any_more() -> None:
    search, other = event("grep -l x *.csv"), event(TYPED)
    failed = [
        one.changed(terminal=one.terminal.changed(exit_class=ExitClass.FAILED))
        for one in (search, other)
        if one.terminal
    ]
    evidence = LessonEvidence(
        state_id=str(uuid4()),
        reproduced=True,
        repeated_as=(
            RepeatedCommand(event_id=search.event_id, command="! grep -l x *.csv", ends_well=True),
            RepeatedCommand(event_id=other.event_id, command="sqlite3 shop.db"),
        ),
        made_at=search.created_at,
    )
    ends = [
        (one.terminal.command, one.terminal.exit_class)
        for one in as_repeated(failed, evidence)
        if one.terminal
    ]
    assert ends == [("! grep -l x *.csv", ExitClass.OK), ("sqlite3 shop.db", ExitClass.FAILED)]


def test_what_a_command_made_has_the_names_that_it_is_repeated_with() -> None:
    shown, righted = event("sort a > totls.txt", "totls.txt"), event("mv totls.txt totals.txt", "totals.txt")
    evidence = LessonEvidence(
        state_id=str(uuid4()),
        reproduced=True,
        kept=(shown.event_id,),
        left_out=(LeftOutCommand(event_id=righted.event_id, reason="It only changed a mistyped name."),),
        repeated_as=(
            RepeatedCommand(event_id=shown.event_id, command="sort a > totals.txt", ends_well=True),
        ),
        uses=(
            CommandUse(event_id=shown.event_id, succeeded=True, written=("totls.txt",)),
            CommandUse(
                event_id=righted.event_id, succeeded=True, written=("totals.txt",), removed=("totls.txt",)
            ),
        ),
        made_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    first, _ = as_repeated([shown, righted], evidence)
    assert first.terminal is not None
    assert first.terminal.command == "sort a > totals.txt"
    assert [file.path for file in first.terminal.produced_files] == ["totals.txt"]
