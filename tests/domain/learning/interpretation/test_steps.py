from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.learning.session import Coaching, CoachingConstraint
from domain.learning.commands.operations import NetChange
from domain.learning.interpretation.coaching import refuse_broken_constraints
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps, total_effects


def commands(steps: tuple[DemonstratedStep, ...]) -> list[str]:
    return [e.terminal.command if e.terminal else e.action_label for e in all_events(steps)]


def test_a_realistic_demonstration_is_reduced_to_what_was_meant(teach: Any) -> None:
    steps = captured_steps(teach.reports(), ())
    assert [s.label for s in steps] == [
        "Write reports/sales.csv",
        "Sort into reports/top.txt",
        "Archive into reports.tgz",
        "Checksum into reports.sha256",
    ]
    assert commands(steps)[0] == "mkdir -p reports"
    assert len(commands(steps)) == 5


def test_events_are_taken_in_the_order_they_happened(teach: Any) -> None:
    events = teach.reports()
    assert captured_steps(list(reversed(events)), ()) == captured_steps(events, ())


def test_a_trim_keeps_the_event_it_names(teach: Any) -> None:
    marks = [teach.mark("trim_start", 20, to_event=6), teach.mark("trim_end", 21, to_event=9)]
    assert [s.label for s in captured_steps(teach.reports(), marks)] == [
        "Sort into reports/top.txt",
        "Archive into reports.tgz",
    ]


def test_the_newest_trim_of_a_kind_holds(teach: Any) -> None:
    marks = [teach.mark("trim_start", 21, to_event=1), teach.mark("trim_start", 20, to_event=9)]
    assert len(captured_steps(teach.reports(), marks)) == 4


def test_a_trim_to_an_event_that_is_gone_cuts_nothing(teach: Any) -> None:
    assert len(captured_steps(teach.reports(), [teach.mark("trim_start", 20, to_event=999)])) == 4


def test_trims_that_cross_leave_nothing(teach: Any) -> None:
    marks = [teach.mark("trim_start", 20, to_event=9), teach.mark("trim_end", 21, to_event=4)]
    assert captured_steps(teach.reports(), marks) == ()


def test_what_happens_during_a_pause_is_left_out(teach: Any) -> None:
    events = [
        teach.command(1, "touch a.txt", "0a.txt"),
        teach.command(3, "touch private.txt", "0private.txt"),
        teach.command(5, "cp a.txt b.txt", "+b.txt"),
    ]
    marks = [teach.mark("pause", 2), teach.mark("resume", 4)]
    assert commands(captured_steps(events, marks)) == ["touch a.txt", "cp a.txt b.txt"]
    assert commands(captured_steps(events, marks[:1])) == ["touch a.txt"]


def test_marked_steps_carry_the_persons_label(teach: Any) -> None:
    marks = [
        teach.mark("mark_step", 3.5, "Prepare the figures"),
        teach.mark("mark_step", 8.5, "Pack  them\n"),
    ]
    steps = captured_steps(teach.reports(), marks)
    assert [(s.label, s.marked) for s in steps] == [
        ("Prepare (mkdir)", False),
        ("Prepare the figures", True),
        ("Pack them", True),
    ]
    assert [e.path for e in steps[2].produced] == ["reports.tgz", "reports.sha256"]


def test_a_mark_can_name_the_event_it_begins_with(teach: Any) -> None:
    steps = captured_steps(teach.reports(), [teach.mark("mark_step", 30, "Pack", to_event=9)])
    assert steps[-1].label == "Pack"
    assert len(steps[-1].events) == 2


def test_a_failed_command_that_was_tried_again_is_dropped_and_its_file_counts_as_new(teach: Any) -> None:
    events = [
        teach.command(1, "tar czf a.tgz srcc", "+a.tgz", exit_class="failed"),
        teach.command(2, "tar czf a.tgz src", "~a.tgz"),
    ]
    steps = captured_steps(events, ())
    assert commands(steps) == ["tar czf a.tgz src"]
    assert steps[0].produced[0].change is NetChange.CREATED


def test_a_failed_command_that_left_a_result_and_was_not_repeated_stays(teach: Any) -> None:
    events = [
        teach.command(1, "diff a.txt b.txt > changes.txt", "+changes.txt", exit_class="failed"),
        teach.command(2, "gzip -k notes.txt", "+notes.txt.gz"),
    ]
    assert len(commands(captured_steps(events, ()))) == 2


def test_an_interrupted_command_without_result_is_dropped(teach: Any) -> None:
    events = [teach.command(1, "make", exit_class="interrupted"), teach.command(2, "touch a", "0a")]
    assert commands(captured_steps(events, ())) == ["touch a"]


@pytest.mark.parametrize(
    "looking",
    [
        "ls -la", "cat a.txt", "pwd", "git status", "git diff", "tar tzf a.tgz", "head a.txt | sort", "man tar",
        "vim notes.txt", "echo $HOME", "history", "tar --help", "find . -name '*.txt'", "sort a.txt",
    ],
)  # fmt: skip
def test_looking_around_and_editors_that_wrote_nothing_are_dropped(teach: Any, looking: str) -> None:
    events = [teach.command(1, looking), teach.command(2, "cp a.txt b.txt", "+b.txt")]
    assert commands(captured_steps(events, ())) == ["cp a.txt b.txt"]


@pytest.mark.parametrize(
    "acting", ["git commit -m x", "sort -o a.txt a.txt", "find . -name x -delete", "sha256sum -c a.sha256"]
)
def test_commands_that_only_resemble_looking_stay(teach: Any, acting: str) -> None:
    events = [teach.command(1, acting), teach.command(2, "cp a.txt b.txt", "+b.txt")]
    assert commands(captured_steps(events, ())) == [acting, "cp a.txt b.txt"]


def test_a_demonstration_of_looking_keeps_its_looking(teach: Any) -> None:
    events = [teach.command(1, "grep -c ERROR app.log"), teach.command(2, "tail -n 20 app.log")]
    assert commands(captured_steps(events, ())) == ["grep -c ERROR app.log", "tail -n 20 app.log"]


def test_a_repetition_counts_once_but_appending_twice_counts_twice(teach: Any) -> None:
    events = [
        teach.command(1, "sort a > b", "+b"),
        teach.command(2, "sort  a > b", "~b"),
        teach.command(3, "echo x >> log", "+log"),
        teach.command(4, "echo x >> log", "~log"),
    ]
    assert commands(captured_steps(events, ())) == ["sort a > b", "echo x >> log", "echo x >> log"]


def test_something_made_by_a_slip_and_removed_at_once_is_dropped(teach: Any) -> None:
    events = [
        teach.command(1, "touch repots.txt", "0repots.txt"),
        teach.command(2, "rm repots.txt", "-repots.txt"),
        teach.command(3, "mkdir repots"),
        teach.command(4, "rmdir repots"),
        teach.command(5, "touch reports.txt", "0reports.txt"),
    ]
    assert commands(captured_steps(events, ())) == ["touch reports.txt"]


def test_a_temporary_file_that_was_used_is_no_slip(teach: Any) -> None:
    events = [
        teach.command(1, "sort a.txt > tmp.txt", "+tmp.txt"),
        teach.command(2, "uniq tmp.txt > out.txt", "+out.txt"),
        teach.command(3, "rm tmp.txt", "-tmp.txt"),
    ]
    steps = captured_steps(events, ())
    assert len(commands(steps)) == 3
    assert {e.path: e.change for e in total_effects(steps)} == {
        "tmp.txt": NetChange.TRANSIENT,
        "out.txt": NetChange.CREATED,
    }


def test_a_change_of_folder_belongs_to_what_follows_and_is_noise_at_the_end(teach: Any) -> None:
    events = [
        teach.command(1, "mkdir site"),
        teach.command(2, "cd site"),
        teach.command(3, "touch index.html", "0site/index.html", folder="site"),
        teach.command(4, "cd ..", folder="site"),
    ]
    steps = captured_steps(events, ())
    assert len(steps) == 1
    assert commands(steps) == ["mkdir site", "cd site", "touch index.html"]


def test_commands_on_the_same_file_are_one_step(teach: Any) -> None:
    events = [
        teach.command(1, "cp a.txt a.bak", "+a.bak"),
        teach.command(2, "mv a.bak old/a.txt", "-a.bak", "+old/a.txt"),
        teach.command(3, "sort b > c", "+c"),
    ]
    assert [len(s.events) for s in captured_steps(events, ())] == [2, 1]


def test_a_file_that_was_there_before_and_is_removed_counts_as_deleted(teach: Any) -> None:
    steps = captured_steps([teach.command(1, "rm old.txt", "-old.txt")], ())
    assert steps[0].label == "Remove old.txt"
    assert steps[0].produced[0].change is NetChange.DELETED


def test_a_file_removed_and_made_anew_later_counts_as_modified(teach: Any) -> None:
    events = [
        teach.command(1, "rm a.txt", "-a.txt"),
        teach.command(2, "sort b > c", "+c"),
        teach.command(3, "cp c a.txt", "+a.txt"),
    ]
    assert {e.path: e.change for e in total_effects(captured_steps(events, ()))}[
        "a.txt"
    ] is NetChange.MODIFIED


def test_nothing_captured_gives_no_steps() -> None:
    assert captured_steps((), ()) == ()


COMMANDS = [
    "ls",
    "mkdir d",
    "sort a > b",
    "cp a b",
    "rm a",
    "cd d",
    "vim a",
    "echo 'open",
    "",
    "x | | y",
    "git log",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(COMMANDS),
            st.sampled_from(["ok", "failed", "interrupted"]),
            st.lists(st.sampled_from(["+a", "~a", "-a", "+b", "~d/c"]), max_size=2, unique=True),
        ),
        max_size=10,
    )
)
@settings(max_examples=60, deadline=None)
def test_steps_are_a_part_of_the_capture_in_its_order(
    teach: Any, shown: list[tuple[str, str, list[str]]]
) -> None:
    events = [teach.command(i, c, *files, exit_class=ended) for i, (c, ended, files) in enumerate(shown)]
    kept = [e.event_id for e in all_events(captured_steps(events, ()))]
    every = [e.event_id for e in events]
    assert kept == [i for i in every if i in kept]
    assert len(set(kept)) == len(kept)


def test_a_step_with_a_command_that_cannot_be_read_is_marked(teach: Any) -> None:
    steps = captured_steps([teach.command(1, "echo 'open"), teach.command(2, "cp 'a b")], ())
    assert [s.label for s in steps] == ["Run a command that cannot be read"] * 2


@pytest.mark.parametrize("command", ["rm notes.txt", "echo $(rm notes.txt)", "echo 'open; rm notes.txt"])
def test_a_forbidden_program_is_found_even_in_a_command_that_cannot_be_read(teach: Any, command: str) -> None:
    coaching = Coaching(
        goal="Tidy up", constraints=(CoachingConstraint(text="No rm", forbidden_programs=("rm",)),)
    )
    steps = captured_steps([teach.command(1, command, "+a.txt")], ())

    with pytest.raises(Refusal) as refusal:
        refuse_broken_constraints(coaching, steps)
    assert refusal.value.code is ErrorCode.CONSTRAINT_BROKEN
