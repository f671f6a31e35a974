"""Inputs of skills: cleaned, completed, refused one past each bound (AM-12, AM-15, AM-41, CH-07, O-9, X-10, X-32)."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.skills.errors import SKILL_ERRORS
from contracts.skills.manifest import SkillManifest
from domain.skills.arguments import (
    InputRefused,
    clean_input,
    exported_parameters,
    is_confirmed,
    named_by,
    openai_tool,
)
from tests.domain.skills.manifests import acting, manifest

TRENDS = manifest(
    name="fetch-trends",
    properties={
        "platform": {"type": "string", "enum": ["twitter", "news", "market", "reddit", "tiktok"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
        "timeWindow": {"type": "string", "pattern": "^[0-9]+(h|d)$", "default": "24h"},
        "minEngagement": {"type": "integer", "minimum": 0, "default": 10_000},
        "excludeTopics": {"type": "array", "items": {"type": "string"}, "maxItems": 50, "default": []},
    },
    required=["platform"],
    input_errors={"platform": "INVALID_PLATFORM"},
)
MESSAGE = manifest(
    name="send-message",
    properties={
        "message": {"type": "string", "maxLength": 1000},
        "caller_name": {"type": "string", "maxLength": 100},
        "urgency": {"type": "string", "enum": ["normal", "urgent"]},
    },
    required=["message"],
    multiline=("message",),
)
FREE = manifest(
    properties={"text": {"type": "string"}, "items": {"type": "array"}, "tree": {"type": "object"}, "n": {}}
)
CONTENT = manifest(
    properties={
        "content": {
            "type": "object",
            "properties": {
                "script": {"type": "string", "maxLength": 10_000},
                "captions": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["script"],
        },
        "goals": {"type": "array", "maxItems": 2, "items": {"type": "string", "pattern": r"\S"}},
        "rules": {
            "type": "object",
            "properties": {"offensive": {"type": "boolean", "default": True}},
            "default": {},
        },
        "persona": {"$ref": "#/$defs/persona"},
    },
    input_errors={
        "content": "INVALID_CONTENT",
        "content.captions[]": "INVALID_INPUT",
        "goals[]": "INVALID_GOALS",
        "persona": "INVALID_PERSONA",
    },
)
CONTENT = CONTENT.changed(
    input_schema={
        **CONTENT.input_schema,
        "$defs": {
            "persona": {
                "type": "object",
                "properties": {"voice": {"type": "string"}, "language": {"default": "en"}},
                "required": ["voice"],
            }
        },
    }
)


def refused(given_: dict[str, Any], skill: SkillManifest) -> tuple[str, dict[str, str]]:
    with pytest.raises(InputRefused) as caught:
        clean_input(given_, skill)
    error = caught.value.error
    assert error.http_status == SKILL_ERRORS[error.code].http_status
    assert error.recovery
    return error.code, {field.path: field.problem for field in error.fields}


@pytest.mark.acceptance("CH-07")
def test_defaults_are_filled_in() -> None:
    assert clean_input({"platform": "news", "limit": 500}, TRENDS) == {
        "platform": "news",
        "limit": 500,
        "timeWindow": "24h",
        "minEngagement": 10_000,
        "excludeTopics": [],
    }


def test_defaults_of_parts_are_filled_in_where_the_part_is_there() -> None:
    cleaned = clean_input({"persona": {"voice": "calm"}}, CONTENT)
    assert cleaned == {"persona": {"voice": "calm", "language": "en"}, "rules": {"offensive": True}}


def test_a_default_that_is_filled_in_is_a_copy() -> None:
    clean_input({"platform": "news"}, TRENDS)["excludeTopics"].append("a")
    assert clean_input({"platform": "news"}, TRENDS)["excludeTopics"] == []


@pytest.mark.acceptance("CH-07")
@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("limit", 0, "is less than 1"),
        ("limit", 501, "is more than 500"),
        ("limit", "50", "is not of type integer"),
        ("limit", True, "is not of type integer"),
        ("timeWindow", "24", "does not match the pattern ^[0-9]+(h|d)$"),
        ("timeWindow", "24m", "does not match the pattern ^[0-9]+(h|d)$"),
        ("minEngagement", -1, "is less than 0"),
        ("excludeTopics", ["a"] * 51, "has more than 50 items"),
        (
            "limits",
            1,
            "is not known; known are platform, limit, timeWindow, minEngagement, excludeTopics",
        ),
    ],
)
def test_one_past_each_bound_is_refused_with_the_bound(field: str, value: object, problem: str) -> None:
    """X-10, X-32: INVALID_INPUT 400 with the field."""
    assert refused({"platform": "news", field: value}, TRENDS) == ("INVALID_INPUT", {field: problem})


@pytest.mark.acceptance("CH-13", "CH-19", "CH-26", "CH-32")
@pytest.mark.acceptance("X-32")
def test_a_field_is_refused_under_the_code_that_its_document_names() -> None:
    """X-32."""
    assert refused({"platform": "myspace"}, TRENDS)[0] == "INVALID_PLATFORM"
    assert refused({}, TRENDS) == ("INVALID_PLATFORM", {"platform": "is required"})
    assert refused({"content": {}}, CONTENT) == ("INVALID_CONTENT", {"content.script": "is required"})
    assert refused({"goals": ["  "]}, CONTENT)[0] == "INVALID_GOALS"
    assert refused({"goals": ["a"] * 3}, CONTENT)[0] == "INVALID_INPUT"
    assert refused({"persona": {}}, CONTENT) == ("INVALID_PERSONA", {"persona.voice": "is required"})


def test_the_longest_path_decides_the_code() -> None:
    assert refused({"content": {"script": "a", "captions": [1]}}, CONTENT)[0] == "INVALID_INPUT"
    assert named_by("content.captions[3]", ["content", "content.captions", "cont"]) == "content.captions"
    assert named_by("contents", ["content"]) is None


def test_a_documented_code_comes_before_the_general_one() -> None:
    assert refused({"platform": "myspace", "limit": 0}, TRENDS)[0] == "INVALID_PLATFORM"


def test_a_skill_may_give_a_code_its_own_status() -> None:
    skill = TRENDS.changed(errors={"INVALID_PLATFORM": {"http_status": 404, "recovery": "See the list."}})
    with pytest.raises(InputRefused) as caught:
        clean_input({"platform": "myspace"}, skill)
    assert (caught.value.error.http_status, caught.value.error.recovery) == (404, "See the list.")


@pytest.mark.acceptance("AM-12", "AM-41")
def test_control_characters_go_and_line_ends_stay_where_several_lines_are_meant() -> None:
    """O-9."""
    text = "a\x00b\x1b[31mc\r\nd\te\x7f\x9bf"
    assert clean_input({"message": text, "caller_name": text}, MESSAGE) == {
        "message": "ab[31mc\nd\tef",
        "caller_name": "ab[31mcdef",
    }


def test_what_is_counted_is_the_text_without_them() -> None:
    assert clean_input({"message": "m" * 1000 + "\x00"}, MESSAGE)["message"] == "m" * 1000
    assert refused({"message": "m" * 1001}, MESSAGE) == (
        "INVALID_INPUT",
        {"message": "has more than 1000 characters"},
    )


@pytest.mark.acceptance("AM-42")
def test_a_text_of_nothing_but_control_characters_is_empty() -> None:
    """The handler is asked, and asks the caller to repeat."""
    assert clean_input({"message": "\x00\x1f"}, MESSAGE) == {"message": ""}


@pytest.mark.acceptance("AM-12")
@pytest.mark.parametrize(
    ("fits", "fails", "path", "problem"),
    [
        ({"text": "x" * 4000}, {"text": "x" * 4001}, "text", "has more than 4000 characters"),
        ({"items": [0] * 1000}, {"items": [0] * 1001}, "items", "has more than 1000 items"),
        (
            {"n": 2**53 - 1},
            {"n": 2**53},
            "n",
            "is too large a number",
        ),
    ],
)
@pytest.mark.acceptance("O-9")
def test_general_limits_hold_where_the_schema_names_none(
    fits: dict[str, Any], fails: dict[str, Any], path: str, problem: str
) -> None:
    """O-9."""
    assert clean_input(fits, FREE) == fits
    assert refused(fails, FREE) == ("INVALID_INPUT", {path: problem})


def test_a_length_of_the_schema_takes_the_place_of_the_general_one() -> None:
    """O-1 has a script of 10,000 characters."""
    assert clean_input({"content": {"script": "s" * 10_000}}, CONTENT)["content"]["script"]
    assert refused({"content": {"script": "s" * 10_001}}, CONTENT)[0] == "INVALID_CONTENT"


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.acceptance("AM-12")
@pytest.mark.acceptance("O-9")
def test_nesting_and_size_of_the_whole_are_bounded() -> None:
    """O-9: depth 16 and 256 KiB, both counted on the whole input."""
    assert clean_input({"tree": nested(15)}, FREE)
    assert refused({"tree": nested(16)}, FREE)[1] == {"input": "is nested deeper than 16 levels"}
    assert refused({"tree": nested(100_000)}, FREE)[1] == {"input": "is nested deeper than 16 levels"}
    room = 262_144 - len(json.dumps({"items": [""] * 100}, separators=(",", ":")))
    fits = {"items": ["é" * 2 * (room // 400)] * 99 + ["x" * (room - 99 * 4 * (room // 400))]}
    size = len(json.dumps(fits, ensure_ascii=False, separators=(",", ":")).encode())
    assert size == 262_144
    assert clean_input(fits, FREE) == fits
    fits["items"][-1] += "x"
    assert refused(fits, FREE)[1] == {"input": "is larger than 262144 bytes as JSON"}


@pytest.mark.acceptance("CH-51")
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, json.loads("1e400")])
def test_what_is_no_number_of_json_is_refused(number: float) -> None:
    assert refused({"n": number}, FREE)[1] == {"n": "is no finite number"}
    assert refused({"items": [number]}, FREE)[1] == {"items[0]": "is no finite number"}


def test_text_that_is_no_unicode_is_refused() -> None:
    assert refused({"text": json.loads('"\\ud800"')}, FREE)[1] == {
        "input": "has a text that is no valid Unicode"
    }


@pytest.mark.acceptance("AM-12", "AM-21")
def test_unknown_names_are_refused_even_if_the_schema_does_not_close_itself() -> None:
    """`recipient` and `to` have no effect because they are no arguments."""
    for name in ("recipient", "to", "telegramId"):
        code, fields = refused({"message": "hello", name: "somebody"}, MESSAGE)
        assert (code, list(fields)) == ("INVALID_INPUT", [name])
    assert list(refused({"content": {"script": "s", "scrpit": 1}}, CONTENT)[1]) == ["content.scrpit"]
    assert refused({"text": "", "bad\x1bname": 1}, FREE)[0] == "INVALID_INPUT"


def test_a_schema_that_opens_itself_stays_open() -> None:
    """O-1: sources of trends differ in their further keys."""
    trend = {"type": "object", "properties": {"topic": {"type": "string"}}, "additionalProperties": True}
    skill = manifest(properties={"trends": {"type": "array", "items": trend}})
    given_ = {"trends": [{"topic": "a\x00", "source_rank": 1, "note": "b\x00"}]}
    assert clean_input(given_, skill) == {"trends": [{"topic": "a", "source_rank": 1, "note": "b"}]}
    assert refused({"trends": [{"bad\x00": 1}]}, skill)[1] == {
        "trends[0]": "has a name with control characters"
    }


def test_a_default_that_holds_itself_ends() -> None:
    skill = manifest()
    endless = {"type": "object", "properties": {"a": {"$ref": "#", "default": {}}}}
    assert refused({}, skill.changed(input_schema=endless))[0] == "INVALID_INPUT"


def test_no_value_is_told() -> None:
    canary = "canary-c0ffee"
    with pytest.raises(InputRefused) as caught:
        clean_input({"message": [canary], "urgency": canary, "caller_name": canary * 10}, MESSAGE)
    assert canary not in caught.value.error.model_dump_json()


@pytest.mark.acceptance("AM-13", "AM-15")
@pytest.mark.parametrize("said", [True, False, "true", 1, None])
@pytest.mark.acceptance("X-2")
def test_confirmed_never_reaches_the_handler_and_counts_as_the_boolean_alone(said: object) -> None:
    """X-2."""
    assert clean_input({"message": "hello", "confirmed": said}, MESSAGE) == {"message": "hello"}
    assert is_confirmed({"confirmed": said}) is (said is True)


SENDING = acting(
    name="send-message",
    properties={"message": {"type": "string"}},
    required=["message"],
    confirmation_prompt="Would you like me to leave that message?",
    function_description="Leave a message for the operator.",
)


@pytest.mark.acceptance("AM-15")
@pytest.mark.acceptance("X-2")
def test_models_see_confirmed_where_the_skill_can_ask() -> None:
    """Optional, boolean, and its words tell the model to ask first."""
    schema = exported_parameters(SENDING)
    assert schema["required"] == ["message"]
    assert schema["properties"]["confirmed"]["type"] == "boolean"
    assert "Would you like me to leave that message?" in schema["properties"]["confirmed"]["description"]
    assert "confirmed" not in SENDING.input_schema["properties"]
    assert exported_parameters(TRENDS) == TRENDS.input_schema


def test_one_action_that_asks_is_enough() -> None:
    """X-8."""
    create = {"when": {"text": ("create",)}, "effect": "create", "confirmation_required": True}
    calendar = acting(confirmation_required=False, actions=(create,))
    assert "confirmed" in exported_parameters(calendar)["properties"]
    assert "confirmed" not in exported_parameters(calendar.changed(actions=()))["properties"]


@pytest.mark.acceptance("AM-10")
def test_a_skill_is_exported_in_the_shape_of_openai() -> None:
    assert openai_tool(SENDING) == {
        "type": "function",
        "function": {
            "name": "send_message",
            "description": "Leave a message for the operator.",
            "parameters": exported_parameters(SENDING),
        },
    }
    assert openai_tool(TRENDS)["function"]["description"] == "A skill for tests."


texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["text", "items", "tree", "n", "confirmed"]), values))
def test_cleaning_twice_is_cleaning_once(given_: dict[str, Any]) -> None:
    try:
        once = clean_input(given_, FREE)
    except InputRefused:
        return
    assert clean_input(once, FREE) == once


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "content": st.fixed_dictionaries({}, optional={"script": texts, "captions": st.lists(texts)}),
            "rules": st.fixed_dictionaries({}, optional={"offensive": st.booleans()}),
            "persona": st.fixed_dictionaries({}, optional={"voice": texts, "language": texts}),
            "goals": st.lists(texts, max_size=3),
        },
    )
)
def test_defaults_are_filled_in_once(given_: dict[str, Any]) -> None:
    try:
        once = clean_input(given_, CONTENT)
    except InputRefused:
        return
    assert clean_input(once, CONTENT) == once
