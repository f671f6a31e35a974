"""Words for what does not fit a schema (AM-12, CH-02, X-10, X-32): each place, each bound, no value."""

from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from domain.platform.json_formats import has_format
from domain.platform.json_schema import misfit, misfits, schema_problem
from tests.domain.platform.test_json_schema import CANARY, ROWS, any_schema, json_values


@pytest.mark.parametrize(
    ("rule", "value", "problem"),
    [
        ({"type": "string"}, 1, "is not of type string"),
        ({"type": ["string", "null"]}, 1, "is not of type string or null"),
        ({"maxLength": 200}, "x" * 201, "has more than 200 characters"),
        ({"minLength": 1}, "", "has fewer than 1 character"),
        ({"minItems": 1}, [], "has fewer than 1 item"),
        ({"maxItems": 50}, [0] * 51, "has more than 50 items"),
        ({"minimum": 0.01}, 0.009, "is less than 0.01"),
        ({"maximum": 500}, 501, "is more than 500"),
        ({"exclusiveMinimum": 0}, 0, "is not more than 0"),
        ({"enum": ["announce", "conversation"]}, CANARY, "is none of announce, conversation"),
        ({"const": True}, False, "is not True"),
        ({"pattern": "^[0-9]+(h|d)$"}, "24m", "does not match the pattern ^[0-9]+(h|d)$"),
        ({"format": "uuid"}, CANARY, "is no UUID"),
        (
            {"format": "date-time"},
            "2026-02-22T09:00",
            "is no date and time with an offset, such as 2026-02-22T09:00:00Z",
        ),
        ({"format": "uri"}, CANARY, "is no absolute address (URI)"),
        ({"uniqueItems": True}, [1, 1], "has the same item twice"),
        ({"minProperties": 1}, {}, "has fewer than 1 name"),
        ({"anyOf": [{"type": "null"}, {"type": "array"}]}, 1, "fits none of the forms that are allowed"),
    ],
)
def test_a_broken_rule_is_said_with_its_bound(rule: Any, value: object, problem: str) -> None:
    found = misfits({"field": value}, {"properties": {"field": rule}})
    assert found == (("field", problem),)


def test_every_missing_and_every_unknown_name_is_told_where_it_belongs() -> None:
    schema = {
        "type": "object",
        "properties": {
            "content": {
                "type": "object",
                "properties": {"script": {}, "captions": {"items": {"type": "string"}}},
                "required": ["script", "content_id"],
                "additionalProperties": False,
            }
        },
    }
    value = {"content": {"captions": ["a", 1], "scrpit": CANARY, "nul": 0, "no name!": 1}}
    assert set(misfits(value, schema)) == {
        ("content.script", "is required"),
        ("content.content_id", "is required"),
        ("content.captions[1]", "is not of type string"),
        ("content.scrpit", "is not known; known are script, captions"),
        ("content.nul", "is not known; known are script, captions"),
    }


def test_the_whole_has_an_empty_path() -> None:
    assert misfits([], {"type": "object"}) == (("", "is not of type object"),)


def test_what_is_not_allowed_at_all_is_told_of_its_object() -> None:
    assert misfits({"a": 1}, {"properties": {"a": False}}) == (("", "is not allowed here"),)


def test_at_most_so_many_are_told() -> None:
    assert len(misfits([1] * 1_000, {"items": {"type": "string"}}, most=20)) == 20


def test_a_schema_that_cannot_be_applied_is_a_misfit_of_the_whole() -> None:
    assert misfits({}, {"type": 7}) == (("", "the schema is no JSON Schema"),)
    assert misfits({}, {"$ref": "#/nowhere"}) == (("", "the schema refers to something outside of it"),)


@pytest.mark.acceptance("CH-02")
@given(json_values)
@settings(deadline=None)
def test_there_are_words_exactly_where_it_does_not_fit_by_the_standard(value: object) -> None:
    fits = Draft202012Validator(ROWS).is_valid(value)
    assert (misfits(value, ROWS, formats=False) == ()) == fits
    assert (misfits(value, ROWS, known_good=True) == ()) == fits


@given(
    json_values, any_schema.filter(lambda schema: CANARY not in str(schema) and "format" not in str(schema))
)
def test_whatever_the_schema_the_words_hold_no_value_and_agree_with_the_first_misfit(
    value: object, schema: dict[str, object]
) -> None:
    told = misfits({"a": CANARY, "items": value}, schema, most_steps=50_000)
    assert CANARY not in str(told)
    assert all(len(path) <= 120 and len(problem) <= 240 for path, problem in told)
    assert (told == ()) == (misfit({"a": CANARY, "items": value}, schema, 50_000) is None)


@pytest.mark.acceptance("CH-33", "CH-40", "CH-51")
@pytest.mark.parametrize(
    ("name", "fits", "fails"),
    [
        ("uuid", "6f1c1e0a-3a0b-4c6e-9d6c-2f6d9b9d7c11", "6f1c1e0a3a0b4c6e9d6c2f6d9b9d7c11"),
        ("uuid", "6F1C1E0A-3A0B-4C6E-9D6C-2F6D9B9D7C11", "6f1c1e0a-3a0b-4c6e-9d6c-2f6d9b9d7c11\n"),
        ("date-time", "2026-02-22T09:00:00Z", "2026-02-22T09:00:00"),
        ("date-time", "2026-02-22T09:00:00.123456+01:00", "2026-02-30T09:00:00Z"),
        ("date-time", "2016-12-31T23:59:60Z", "2026-02-22"),
        ("date-time", "2026-02-22t09:00:00z", "2026-02-22T24:01:00Z"),
        ("date-time", "2026-02-22T09:00:00-23:59", "٢٠٢٦-02-22T09:00:00Z"),
        ("date", "2024-02-29", "2026-02-29"),
        ("uri", "https://example.org/a?b=%20#c", "https://example.org/a b"),
        ("uri", "urn:isbn:123", "/relative"),
        ("uri", "http://[::1]:8080/x", "https://example.org/%zz"),
        ("uri", "a:b", "https://example.org/\r\nSet-Cookie: a"),
    ],
)
def test_formats_that_the_skill_documents_name_are_rules(name: str, fits: str, fails: str) -> None:
    assert has_format(name, fits) is True
    assert has_format(name, fails) is False


def test_other_formats_stay_remarks() -> None:
    assert misfits("nobody", {"format": "email"}) == ()


@pytest.mark.acceptance("CH-02")
@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}, None),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, None),
        ({"properties": {"$ref": {"type": "string"}}}, None),
        ({"const": {"$ref": "http://127.0.0.1:9/x"}}, None),
        ([], "the schema is no object"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#"},
            "the schema names another draft than 2020-12",
        ),
        (
            {"properties": {"limit": {"type": "integr"}}},
            "the schema is no JSON Schema at $.properties.limit.type",
        ),
        ({"required": True}, "the schema is no JSON Schema at $.required"),
        ({"$ref": "http://127.0.0.1:9/x"}, "the schema refers to something outside of it"),
        ({"items": {"$ref": "#/$defs/none"}}, "the schema refers to something outside of it"),
    ],
)
def test_a_schema_is_2020_12_and_stands_alone(schema: object, problem: str | None) -> None:
    assert schema_problem(schema) == problem
