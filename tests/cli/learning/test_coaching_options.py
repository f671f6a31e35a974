"""A coach gives goal, hints and constraints on the command line."""

import pytest

from cli.platform.output import ExitCode


def test_a_goal_alone_makes_it_a_coaching_session_inside_the_agent(person) -> None:
    session = person.gets("learn", "create", "--goal", "The quarter is summed up")["session"]

    assert (session["entry_mode"], session["observation_mode"]) == ("coaching_agent", "inside_agent")
    assert session["coaching"]["goal"] == "The quarter is summed up"


def test_hints_and_constraints_reach_the_session_as_they_were_meant(person) -> None:
    words = [
        "--mode", "coaching_agent", "--goal", "The quarter is summed up",
        "--hint", "The total is filled in", "--hint", "The pack is there",
        "--use-when", "A quarter has ended", "--not-when", "The year is asked for",
        "--constraint", "Send nothing", "--keep", "in/q3.csv", "--without", "curl",
    ]  # fmt: skip
    coaching = person.gets("learn", "create", *words)["session"]["coaching"]

    assert [(hint["kind"], hint["text"]) for hint in coaching["hints"]] == [
        ("checkpoint", "The total is filled in"),
        ("checkpoint", "The pack is there"),
        ("use_when", "A quarter has ended"),
        ("not_when", "The year is asked for"),
    ]
    assert [
        (one["text"], one["kept_paths"], one["forbidden_programs"]) for one in coaching["constraints"]
    ] == [
        ("Send nothing", [], []),
        ("in/q3.csv stays as it is", ["in/q3.csv"], []),
        ("Do not use curl", [], ["curl"]),
    ]


def test_the_status_of_a_coaching_session_sends_nobody_to_a_recorder(person) -> None:
    person.types("learn", "create", "--goal", "The quarter is summed up")
    text = person.types("learn", "status").stdout

    assert "agent" in text
    assert "apprentice record" not in text


def test_hints_without_a_goal_are_a_usage_error(person) -> None:
    refused = person.types("learn", "create", "--hint", "The total is filled in")

    assert refused.exit_code == ExitCode.USAGE
    assert "--goal" in refused.stderr


def test_a_demonstration_is_not_coached(person) -> None:
    refused = person.types("learn", "create", "--mode", "demonstrating_skill", "--goal", "Sum up")

    assert refused.exit_code == ExitCode.USAGE
    assert "coaching_agent" in refused.stderr


def test_a_file_outside_the_working_folder_cannot_be_kept(person) -> None:
    refused = person.types("learn", "create", "--goal", "Sum up", "--keep", "/etc/passwd")

    assert refused.exit_code == ExitCode.USAGE


@pytest.mark.thorough
def test_a_recorder_that_cannot_record_now_keeps_the_session_from_beginning(person) -> None:
    refused = person.types("learn", "create", "--require-adapter", "midi")

    assert refused.exit_code == ExitCode.REFUSED
    assert "ADAPTER_UNAVAILABLE" in refused.stderr
    assert person.types("learn", "status").exit_code == ExitCode.USAGE


def test_a_recorder_that_is_there_is_no_hindrance(person) -> None:
    created = person.gets("learn", "create", "--require-adapter", "terminal_command")

    assert created["session"]["state"] == "armed"
