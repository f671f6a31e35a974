"""What a refusal says in a terminal: the sentence, where it is wrong beyond that, and what to do."""

import json

import pytest
import typer

from cli.platform.invocation import reporting_errors
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
    assert "admin_token" in said(capsys, "Send a valid access token.", "UNAUTHENTICATED")
