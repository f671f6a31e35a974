"""``apprentice inbox`` against a whole running service."""

import json

import pytest


@pytest.mark.acceptance("AM-16")
def test_the_inbox_says_what_waits_and_what_to_type(person) -> None:
    assert "Nothing waits for you" in person.types("inbox").stdout
    asked = person.gets("skills", "run", "send-message", "message=The lift is stuck")
    assert asked["requires_confirmation"], asked
    (item,) = person.gets("inbox")["items"]
    assert (item["item_id"], item["kind"]) == (asked["invocation_id"], "confirmation")
    assert item["text"] == asked["confirmation_prompt"]
    assert item["arguments"]["message"] == "The lift is stuck"
    shown = person.types("inbox", "--kind", "confirmation").stdout
    assert "The lift is stuck" in shown
    assert f"apprentice skills confirm {asked['invocation_id']}" in " ".join(shown.split())
    assert "Nothing waits for you" in person.types("inbox", "--kind", "approval").stdout
    assert person.types("skills", "refuse", asked["invocation_id"]).exit_code == 0
    assert json.loads(person.types("inbox", "--json").stdout)["items"] == []
