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
    assert misfit({}, circle) == "the answer, or the tool's output schema, is nested too deep"


def test_a_regular_expression_that_takes_for_ever_is_not_run():
    trap = "^(a+)+$"
    schema = {
        "type": "object",
        "properties": {"line": {"pattern": trap}},
        "patternProperties": {trap: {"type": "integer"}},
        "additionalProperties": False,
        "unevaluatedProperties": False,
    }
    assert misfit({"line": "a" * 60 + "!", "a" * 60 + "!": 1}, schema) is None
