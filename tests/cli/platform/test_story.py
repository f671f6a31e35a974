"""Telling steps: marks for people, one document for programs, and errors that are not swallowed."""

import io
import json

import pytest
from rich.console import Console

from cli.platform.story import Story


def tell(*, as_json: bool) -> tuple[Story, io.StringIO]:
    out = io.StringIO()
    return Story(Console(file=out, width=100), as_json=as_json), out


def test_a_step_ends_with_a_mark_and_what_came_of_it() -> None:
    story, out = tell(as_json=False)
    with story.step("Begin") as step:
        step.say("session 1")
    text = out.getvalue()
    assert text.startswith("✓ Begin")
    assert "    session 1" in text


def test_a_failed_step_is_marked_and_its_error_goes_on() -> None:
    story, out = tell(as_json=False)
    with pytest.raises(ValueError, match="broken"), story.step("Begin"):
        raise ValueError("broken")
    assert out.getvalue().startswith("✗ Begin")


def test_as_json_there_is_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    story, out = tell(as_json=True)
    with story.step("Begin") as step:
        step.facts["session_id"] = "s"
    story.end(ok=True, ability_id="a")
    document = json.loads(capsys.readouterr().out)
    assert out.getvalue() == ""
    assert document["ok"] is True
    assert document["ability_id"] == "a"
    assert [(one["step"], one["ok"], one["session_id"]) for one in document["steps"]] == [
        ("Begin", True, "s")
    ]


def test_what_a_step_says_in_brackets_is_not_taken_for_markup() -> None:
    story, out = tell(as_json=False)
    with story.step("Sort [a-z]"):
        pass
    assert "Sort [a-z]" in out.getvalue()
