"""``apprentice learn practice`` against a whole running service."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from api.platform.openapi import examples
from cli.platform.output import ExitCode
from cli.practice.practice_commands import practice_view
from contracts.practice.practice import PracticeRun

pytestmark = pytest.mark.thorough


def test_practice_says_what_was_tried_and_what_comes_next(person, tmp_path: Path) -> None:
    figures = tmp_path / "harvest.csv"
    figures.write_text("pears,3\napples,9\n")
    arguments = ("--allow", "sort", "--makes", "ranked.csv=apples,9", "--check", "sort -c ranked.csv")
    result = person.types(
        "learn", "practice", "Sort the harvest into ranked.csv", *arguments, "--file", str(figures)
    )
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "reached" in result.stdout
    assert "sort harvest.csv > ranked.csv" in result.stdout
    assert "2 of 40 actions used" in result.stdout
    assert "apprentice learn propose" in result.stdout


def test_practice_that_does_not_know_how_asks(person) -> None:
    arguments = ("--allow", "sort", "--makes", "no/such/place.csv")
    result = person.types("learn", "practice", "Make something out of nothing", *arguments)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "asks" in result.stdout
    assert "Which command does it?" in " ".join(result.stdout.split())
    session = person.gets("learn", "list")["sessions"][0]["learn_session_id"]
    told = " ".join(result.stdout.split())
    assert f"Next: `apprentice learn cancel {session}`, then `apprentice learn practice` again" in told
    assert person.types("learn", "cancel", session).exit_code == ExitCode.OK
    again = person.types("learn", "practice", "Make something out of nothing", *arguments)
    assert again.exit_code == ExitCode.OK, "the step that was named is one that is taken"


def test_a_result_of_which_only_a_text_was_looked_for_is_told_so(person, tmp_path: Path) -> None:
    lines = tmp_path / "in.txt"
    lines.write_text("a 1\nb 2\nc 3\n")
    arguments = ("--allow", "cat {input} > {output}", "--makes", "r.txt=c 3", "--file", str(lines))
    result = person.types("learn", "practice", "Reverse the lines", *arguments)
    told = " ".join(result.stdout.split())
    assert "reached" in told
    assert "Of r.txt only the given text was looked for, not what else is in there." in told
    assert "with `--check COMMAND`" in told


def test_an_idea_below_the_confidence_asked_for_is_asked_about(person, tmp_path: Path) -> None:
    figures = tmp_path / "harvest.csv"
    figures.write_text("pears,3\napples,9\n")
    arguments = ("--allow", "sort", "--makes", "ranked.csv", "--file", str(figures), "--confirm-below", "1")
    result = person.types("learn", "practice", "Sort the harvest into ranked.csv", *arguments)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "sort harvest.csv > ranked.csv?" in " ".join(result.stdout.split())


def test_a_file_that_is_no_text_is_refused_before_anything_is_begun(person, tmp_path: Path) -> None:
    picture = tmp_path / "picture.bin"
    picture.write_bytes(b"\xff\xfe\x00")
    arguments = ("--allow", "sort", "--makes", "out.csv", "--file", str(picture))
    result = person.types("learn", "practice", "Sort it", *arguments)
    assert result.exit_code == ExitCode.USAGE
    assert person.gets("learn", "list")["sessions"] == []


def test_a_goal_that_was_seen_by_a_files_making_alone_is_told_with_how_to_check_more(
    person, tmp_path: Path
) -> None:
    figures = tmp_path / "yield.csv"
    figures.write_text("pears,3\napples,9\n")
    arguments = ("--allow", "sort", "--makes", "ranked.csv", "--file", str(figures))
    result = person.types("learn", "practice", "Sort the yield into ranked.csv", *arguments)
    told = " ".join(result.stdout.split())
    assert "reached" in told
    assert "Only that ranked.csv came to be was checked, not what it holds." in told
    assert "`--check COMMAND`" in told
    assert person.types("learn", "propose", "--no-ask").exit_code == ExitCode.OK
    proposal = " ".join(person.types("learn", "show").stdout.split())
    assert "Only that ranked.csv came to be was checked" in proposal


@pytest.mark.parametrize(
    ("by", "note", "said"),
    [
        ("model:small-writer", "", "suggested by model:small-writer"),
        ("deterministic", "small-writer was asked: HTTP 500.", "small-writer was asked: HTTP 500."),
    ],
)
def test_an_attempt_says_whose_idea_it_was(by: str, note: str, said: str) -> None:
    run = PracticeRun.model_validate(examples().responses["PracticeRun"])
    (attempt,) = run.attempts
    idea = attempt.idea.changed(proposed_by=by, proposer_note=note)
    shown = run.changed(attempts=(attempt.changed(idea=idea),))
    console = Console(width=100, record=True, file=StringIO())
    console.print(practice_view(shown))
    assert said in console.export_text()
