"""Answers against the schemas that were pinned for them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from clients.mcp.output_schema import misfit

CANARY = "canary-c0ffee"

ROWS = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        "mode": {"enum": ["a", "b"]},
    },
    "required": ["rows"],
    "additionalProperties": False,
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["rows", "id", "mode", "x"]), inner)
    ),
    max_leaves=8,
)


@given(json_values)
@settings(deadline=None)
def test_whatever_fits_by_the_standard_fits_here(value: object):
    assert (misfit(value, ROWS) is None) == Draft202012Validator(ROWS).is_valid(value)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"rows": [{"id": 1}, {"id": CANARY}]}, "$.rows[1].id does not fit the rule type"),
        ({"rows": [], "mode": CANARY}, "$.mode does not fit the rule enum"),
        ({"rows": [], CANARY: 1}, "$ does not fit the rule additionalProperties"),
        (CANARY, "$ does not fit the rule type"),
        ({}, "$ does not fit the rule required"),
    ],
)
def test_a_misfit_is_told_by_its_place_and_rule_and_never_by_its_value(value: object, where: str):
    assert misfit(value, ROWS) == where


def test_a_key_that_the_schema_does_not_name_is_not_told_either():
    assert (
        misfit({CANARY: 1}, {"additionalProperties": {"type": "string"}}) == "$.* does not fit the rule type"
    )


def test_a_schema_cannot_have_anything_fetched():
    outside = {"$ref": "http://127.0.0.1:9/schema.json"}
    assert misfit({}, outside) == "the tool's output schema refers to something outside of it"


def test_a_schema_that_is_none_is_named_so():
    assert misfit({}, {"type": 7}) == "the tool's output schema is no JSON Schema"


def test_a_schema_that_goes_in_circles_ends():
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert misfit({}, circle) is None


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels):
        value = {"items": value}
    return value


@pytest.mark.parametrize("levels", [1_000, 100_000])
def test_what_is_nested_deeper_than_json_is_written_is_not_looked_at(levels: int):
    said = "the answer, or the tool's output schema, is nested too deep"
    assert misfit(nested(levels), {"type": "object"}) == said
    assert misfit({}, nested(levels)) == said


LINES = {
    "properties": {"line": {"pattern": "^[a-z]+$"}},
    "patternProperties": {"^x-": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("rule", "value", "where"),
    [
        ({}, {"line": "milk", "x-a": 1, "other": None}, None),
        ({}, {"line": f"{CANARY}!"}, "$.line does not fit the rule pattern"),
        ({}, {f"x-{CANARY}": "one"}, "$.* does not fit the rule type"),
        ({"additionalProperties": False}, {"line": "milk", "x-a": 1}, None),
        ({"additionalProperties": False}, {CANARY: 1}, "$ does not fit the rule additionalProperties"),
        ({"unevaluatedProperties": False}, {"line": "milk", "x-a": 1}, None),
        ({"unevaluatedProperties": False}, {CANARY: 1}, "$ does not fit the rule unevaluatedProperties"),
        ({"properties": {"id": {"pattern": "^(?!0)[0-9]+$"}}}, {"id": "10"}, None),
        (
            {"properties": {"id": {"pattern": "^(?!0)[0-9]+$"}}},
            {"id": "01"},
            "$.id does not fit the rule pattern",
        ),
    ],
)
def test_patterns_and_the_rules_that_rest_on_them_are_applied(
    rule: dict[str, object], value: object, where: str | None
):
    assert misfit(value, {**LINES, **rule}) == where


@pytest.mark.parametrize("trap", ["^(a+)+$", r"^(a+)+\1$", "^(?=(a+)+$)a"])
def test_a_pattern_that_would_take_for_ever_is_given_up_and_does_not_match(trap: str):
    bait = "a" * 5_000 + "!"
    assert misfit({"line": bait}, {"properties": {"line": {"pattern": trap}}}) == (
        "$.line does not fit the rule pattern"
    )
    named = {"patternProperties": {trap: {"type": "integer"}}, "additionalProperties": False}
    assert misfit({bait: 1}, named) == "$ does not fit the rule additionalProperties"


def test_a_schema_is_read_by_the_draft_that_it_names():
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"line": {"type": "string"}},
        "items": [{"$ref": "#/definitions/line"}],
    }
    assert misfit([1], old) == "$[0] does not fit the rule type"
    assert misfit(["milk"], old) is None


def test_a_format_is_a_remark_and_no_rule():
    assert misfit({"to": "nobody"}, {"properties": {"to": {"format": "email"}}}) is None
