"""What a refusal says in a terminal: the sentence, where it is wrong beyond that, and what to do."""

import inspect
import json
from typing import Annotated

import pytest
import typer

from cli.platform.invocation import reporting_errors
from cli.platform.option_names import OptionNames
from cli.platform.output import begin
from clients.apprentice.transport import ApiRefusal


def said(
    capsys: pytest.CaptureFixture[str], message: str, code: str = "VALIDATION_FAILED", **extra: object
) -> str:
    refusal = ApiRefusal(code, message, status=422, retryable=False, correlation_id="c-1", extra=extra)
    with pytest.raises(typer.Exit), reporting_errors():
        raise refusal
    return capsys.readouterr().err


def test_places_are_told_in_words_and_what_the_sentence_says_already_is_not_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fields = [{"path": "body.name", "problem": "is empty"}, {"path": "body.age", "problem": "is no number"}]
    told = said(capsys, "body.name: is empty", fields=fields)
    assert "Look at: body.age: is no number.\n" in told
    assert "Look at" not in said(capsys, "body.name: is empty", fields=fields[:1])
    assert "Look at: redirect_uri.\n" in said(capsys, "It does not lead back.", fields=["redirect_uri"])


def test_a_refusal_keeps_its_code_and_keys_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    begin(["show", "--json"])
    told = {"fields": [{"path": "body.name"}], "allowed": ["start"]}
    refusal = ApiRefusal("SOME_CODE", "No.", status=409, retryable=True, correlation_id="c-1", extra=told)
    with pytest.raises(typer.Exit), reporting_errors():
        raise refusal
    error = json.loads(capsys.readouterr().out)["error"]
    assert error == {
        "code": "SOME_CODE",
        "message": "No.",
        "retryable": True,
        "correlation_id": "c-1",
        **told,
    }
    begin([])


def test_whoever_names_a_wrong_token_is_told_that_the_machines_own_needs_no_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = said(capsys, "Send a valid access token.", "UNAUTHENTICATED")
    assert "in the file admin_token of its data directory" in told


def test_what_is_possible_instead_is_named_as_it_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "No.", "INVALID_LEARN_STATE_TRANSITION", allowed=["set-test-policy", "reject"])
    assert 'It takes now: `apprentice learn test-policy`, `apprentice learn reject --reason "WHY"`.\n' in told


def test_a_problem_whose_place_the_sentence_names_is_still_told_with_its_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fields = [
        {"path": "x", "problem": "is not known; known are turns"},
        {"path": "turns", "problem": "is required"},
    ]
    told = said(capsys, "x: is not known; known are turns (1 more)", fields=fields)
    assert "Look at: turns: is required.\n" in told


def test_advice_that_the_sentence_has_already_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "There is no such ability; list them with `apprentice abilities list`."
    assert said(capsys, sentence, "ABILITY_NOT_FOUND").count("abilities list") == 1
    assert "abilities list" in said(capsys, "There is no such ability.", "ABILITY_NOT_FOUND")


def test_a_sentence_that_is_its_own_problem_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "There is no parameter colour; this ability has none."
    told = said(capsys, sentence, fields=[{"path": "values.colour", "problem": sentence}])
    assert told.count(sentence) == 1
    assert "Look at: values.colour.\n" in told


def a_command(
    names: Annotated[list[str] | None, typer.Option("--from-run")],
    values: Annotated[list[str] | None, typer.Option("--set")],
    goal: Annotated[str, typer.Argument()],
    max_actions: int = 3,
) -> None:
    """Stands for a command with options."""


NAMES = OptionNames(
    [*inspect.signature(a_command).parameters.values()], {"runs": "names", "goal_text": "goal"}
)


@pytest.mark.parametrize(
    ("path", "option"),
    [
        ("runs.0", "--from-run"),
        ("body.runs.1", "--from-run"),
        ("values.colour", "--set colour"),
        ("goal_text", "GOAL"),
        ("budget.max_actions", "--max-actions"),
        ("body.unknown.0", "body.unknown.0"),
    ],
)
def test_a_field_is_called_by_the_option_that_fills_it(path: str, option: str) -> None:
    assert NAMES.of(path) == option


def test_a_problem_that_the_service_finds_names_the_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    fields = [{"path": "body.runs.0", "problem": "not a UUID"}]
    refusal = ApiRefusal(
        "VALIDATION_FAILED",
        "body.runs.0: not a UUID",
        status=422,
        retryable=False,
        correlation_id="c-1",
        extra={"fields": fields},
    )
    with pytest.raises(typer.Exit), reporting_errors(NAMES):
        raise refusal
    told = capsys.readouterr().err
    assert "--from-run: not a UUID (VALIDATION_FAILED)" in told
    assert "Look at" not in told
