"""Files of literal data that the work reads are asked about, and nothing else."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
import uuid_utils

from contracts.learning.evidence import CommandUse, LessonEvidence
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from domain.learning.comparison.made_up import (
    MadeUpInput,
    made_up_inputs,
    writes_literal_data,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)
Shown = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A command, the files that it reads, and those that it writes."""


def found_in(*shown: Shown) -> tuple[MadeUpInput, ...]:
    """What is asked about where each file is new when it is written first."""
    events: list[ObservedActionEvent] = []
    uses: list[CommandUse] = []
    there: set[str] = set()
    for command, read, written in shown:
        event_id = str(uuid_utils.uuid7())
        produced = tuple(
            ProducedFile(path=path, change="modified" if path in there else "created", size_bytes=1)
            for path in written
        )
        there |= set(written)
        terminal = TerminalObservation(
            command=command, exit_class=ExitClass.OK, working_folder=".", produced_files=produced
        )
        events.append(
            ObservedActionEvent(
                event_id=event_id,
                learn_session_id=str(uuid_utils.uuid7()),
                adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
                action_label=command[:80],
                terminal=terminal,
                created_at=NOW,
            )
        )
        uses.append(CommandUse(event_id=event_id, succeeded=True, read=read, written=written))
    evidence = LessonEvidence(
        state_id=str(uuid_utils.uuid7()), reproduced=True, uses=tuple(uses), made_at=NOW
    )
    return made_up_inputs(events, evidence)


def paths(found: Sequence[MadeUpInput]) -> list[str]:
    return [one.about for one in found]


SORT: Shown = ("sort in.txt > out.txt", ("in.txt",), ("out.txt",))


@pytest.mark.parametrize(
    "command",
    [
        "printf 'b\\na\\n' > in.txt",
        "echo b > in.txt",
        "echo b | cat > in.txt",
        "cat > in.txt <<'END'\nb\na\nEND",
        "cat <<END > in.txt\nb\nEND",
        "cat > in.txt <<'END'\nrowan $5\nEND",
        "cat > in.txt <<END\nrowan \\$5\nEND",
        "printf '%s\\n' 'rowan `5` *' \"~ {1..5}\" > in.txt",
        "echo rowan 5$ > in.txt",
    ],
)
def test_literal_data_that_is_worked_on_is_asked_about(command: str) -> None:
    assert writes_literal_data(command)
    (found,) = found_in((command, (), ("in.txt",)), SORT)
    assert found.about == "in.txt"
    assert "in.txt there already" in found.prompt


@pytest.mark.parametrize(
    "command",
    [
        "date > in.txt",
        'printf "%s" "$HOME" > in.txt',
        "echo `date` > in.txt",
        "echo *.txt > in.txt",
        "echo ~ > in.txt",
        "echo {1..5} > in.txt",
        "echo [ab].txt > in.txt",
        "printf '%(%F)T\\n' > in.txt",
        "cat > in.txt <<END\n$HOME\nEND",
        'cat > in.txt <<< "$HOME"',
        "for x in a b; do echo x; done > in.txt",
        "cat other.txt > in.txt",
        "cat < other.txt > in.txt",
        "printf 'b\\n' | sort > in.txt",
        "printf 'b\\n'",
        "printf 'b\\n > in.txt",
    ],
)
def test_what_is_worked_out_is_no_data_that_was_made_up(command: str) -> None:
    assert not writes_literal_data(command)
    assert not found_in((command, (), ("in.txt",)), SORT)


def test_data_that_is_appended_to_a_file_just_made_belongs_to_it() -> None:
    made = ("echo b > in.txt", (), ("in.txt",)), ("echo a >> in.txt", (), ("in.txt",))
    (found,) = found_in(*made, SORT)
    assert len(found.event_ids) == 2


def test_data_that_nothing_reads_is_a_result() -> None:
    assert not found_in(("echo done > state.txt", (), ("state.txt",)), SORT)


def test_a_line_added_to_a_result_is_a_part_of_the_work() -> None:
    line: Shown = ("echo end >> out.txt", (), ("out.txt",))
    count: Shown = ("wc -l out.txt > count.txt", ("out.txt",), ("count.txt",))
    assert not found_in(SORT, line, count)


def test_data_that_is_changed_before_it_is_read_is_not_the_datas_own() -> None:
    made: Shown = ("echo b > in.txt", (), ("in.txt",))
    assert not found_in(made, ("date > in.txt", (), ("in.txt",)), SORT)


def test_an_input_that_the_work_changes_itself_is_asked_about() -> None:
    made: Shown = ("echo b > in.txt", (), ("in.txt",))
    assert paths(found_in(made, ("sed -i s/b/c/ in.txt", ("in.txt",), ("in.txt",)))) == ["in.txt"]


@pytest.mark.parametrize(
    "shown",
    [
        (
            ("cat > sums.py <<'END'\nprint(1)\nEND", (), ("sums.py",)),
            ("python3 sums.py > out.txt", ("sums.py",), ("out.txt",)),
        ),
        (("echo wc > count", (), ("count",)), ("sh count > out.txt", ("count",), ("out.txt",))),
        (
            ("echo '{ print $1 }' > first.awk", (), ("first.awk",)),
            ("awk -f first.awk > out.txt", ("first.awk",), ("out.txt",)),
        ),
        (
            ("mkdir data", (), ()),
            ("echo b > data/in.txt", (), ("data/in.txt",)),
            ("sort data/in.txt > out.txt", ("data/in.txt",), ("out.txt",)),
        ),
        (
            ("install -d data", (), ()),
            ("echo b > data/in.txt", (), ("data/in.txt",)),
            ("sort data/in.txt > out.txt", ("data/in.txt",), ("out.txt",)),
        ),
    ],
)
def test_programs_and_what_lies_in_folders_of_the_work_are_not_asked_about(shown: tuple[Shown, ...]) -> None:
    assert not found_in(*shown)
