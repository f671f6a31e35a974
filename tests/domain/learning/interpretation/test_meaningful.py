from datetime import UTC, datetime

import pytest

from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from contracts.learning.session import ObservationMode
from domain.learning.interpretation.meaningful import is_meaningful, is_on_target, lets_in, matches_whitelist


def an_event(kind: str, label: str, **changes: object) -> ObservedActionEvent:
    values: dict[str, object] = {
        "event_id": "0190163d-8694-739b-aea5-966c26f8ad91",
        "learn_session_id": "0190163d-8694-739b-aea5-966c26f8ad92",
        "adapter_kind": ObservationAdapterKind(kind),
        "action_label": label,
        "created_at": datetime(2026, 1, 2, tzinfo=UTC),
    }
    return ObservedActionEvent.model_validate(values | changes)


def a_command(
    command: str, *, exit_class: ExitClass = ExitClass.OK, produced: str = ""
) -> ObservedActionEvent:
    files = (ProducedFile(path=produced, change="created", size_bytes=0),) if produced else ()
    terminal = TerminalObservation(
        command=command, exit_class=exit_class, working_folder=".", produced_files=files
    )
    return an_event("terminal_command", command[:240], terminal=terminal, caused_state_change=bool(files))


@pytest.mark.parametrize(
    "command",
    [
        "", "   ", "# a note", "ls", "ls -la src", "pwd", "clear", "cd build", "cd", "history", "cd a && ls",
        "ls | wc -l", "ls -t | head -3; pwd", "exit", "apprentice-pause", "apprentice-resume", "which python",
    ],
)  # fmt: skip
def test_looking_moving_and_steering_the_recorder_are_not_meaningful(command: str) -> None:
    assert not is_meaningful(a_command(command))


@pytest.mark.parametrize(
    "command",
    [
        "make report", "cd build && make", "ls > files.txt", "ls | xargs rm", "ls $(touch x)", "cat notes.txt",
        "git push", "FOO=1 ./run.sh", "for f in *; do mv $f x; done", "sha256:0123456789abcdef",
    ],
)  # fmt: skip
def test_a_command_that_does_something_is_meaningful(command: str) -> None:
    assert is_meaningful(a_command(command))


def test_a_failed_command_is_meaningful() -> None:
    assert is_meaningful(a_command("make report", exit_class=ExitClass.FAILED))


def test_a_looking_command_that_made_a_file_is_meaningful() -> None:
    assert is_meaningful(a_command("ls", produced="index.txt"))


@pytest.mark.parametrize(
    "kind", ["keyboard_shortcut", "file_dialog", "process_launch", "midi", "mcp_receipt", "wrapper_receipt"]
)
def test_shortcuts_files_processes_and_receipts_are_always_meaningful(kind: str) -> None:
    assert is_meaningful(an_event(kind, "something"))


@pytest.mark.parametrize("kind", ["browser_dom", "accessibility_ui", "mouse_click"])
@pytest.mark.parametrize(
    ("label", "changed", "meaningful"),
    [
        ("click Save", True, True),
        ("click the margin", False, False),
        ("menu File > Export", False, True),
        ("mouse move", True, False),
        ("hover Save", True, False),
        ("focus changed", True, False),
        ("scroll down", False, False),
        ("scroll down", True, True),
    ],
)
def test_an_action_in_a_user_interface_counts_when_it_changes_a_state(
    kind: str, label: str, changed: bool, meaningful: bool
) -> None:
    assert is_meaningful(an_event(kind, label, caused_state_change=changed)) is meaningful


@pytest.mark.parametrize("entry", ["EDITOR", "com.example.editor", "quarterly  report"])
def test_a_whitelist_entry_matches_application_bundle_or_window(entry: str) -> None:
    event = an_event(
        "mouse_click",
        "click",
        app_family="Editor",
        bundle_id="com.example.Editor",
        window_title="* Quarterly Report (2) – Editor",
    )
    assert matches_whitelist(event, ["mail", entry])


def test_a_whole_window_title_matches() -> None:
    event = an_event("mouse_click", "click", window_title="Quarterly Report – Editor")
    assert matches_whitelist(event, ["quarterly report – editor"])


@pytest.mark.parametrize("entry", ["edit", "report", "com.example"])
def test_a_part_of_a_name_is_no_match(entry: str) -> None:
    event = an_event(
        "mouse_click",
        "click",
        app_family="Editor",
        bundle_id="com.example.editor",
        window_title="Quarterly Report – Editor",
    )
    assert not matches_whitelist(event, [entry])


def test_an_empty_whitelist_lets_everything_pass() -> None:
    assert matches_whitelist(an_event("mouse_click", "click"), [])


@pytest.mark.parametrize(
    ("scope", "kept"),
    [("none", True), ("inside_agent", True), ("outside_agent", False), ("mixed", False)],
)
def test_the_whitelist_binds_only_what_is_watched_outside_the_agent(scope: str, kept: bool) -> None:
    event = an_event("mouse_click", "click", app_family="Mail")
    assert is_on_target(event, ObservationMode(scope), ["Editor"]) is kept


@pytest.mark.parametrize(
    ("kind", "whitelist", "kept"),
    [
        ("terminal_command", (), True),
        ("terminal_command", ("Terminal",), True),
        ("terminal_command", ("mail", "terminal"), True),
        ("terminal_command", ("browser",), False),
        ("terminal_command", ("mail",), False),
        ("wrapper_receipt", ("terminal",), True),
        ("wrapper_receipt", ("mail",), False),
        ("browser_dom", ("browser",), True),
        ("browser_dom", ("https://shop.example",), True),
        ("browser_snapshot", ("Orders",), True),
        ("browser_dom", ("terminal",), False),
        ("process_launch", ("terminal",), False),
        ("process_launch", ("mail",), True),
    ],
)
def test_a_recorder_is_let_in_where_anything_that_it_reports_may_be_kept(
    kind: str, whitelist: tuple[str, ...], kept: bool
) -> None:
    asked = ObservationAdapterKind(kind)
    assert lets_in(asked, ObservationMode.OUTSIDE_AGENT, whitelist) is kept
    assert lets_in(asked, ObservationMode.MIXED, whitelist) is kept
    assert lets_in(asked, ObservationMode.INSIDE_AGENT, whitelist)
    assert not lets_in(asked, ObservationMode.NONE, whitelist)
