"""Answers against the schemas that were pinned for them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from domain.platform.json_schema import misfit

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
    assert misfit({}, outside) == "the schema refers to something outside of it"


def test_a_schema_that_is_none_is_named_so():
    assert misfit({}, {"type": 7}) == "the schema is no JSON Schema"


def test_a_schema_that_goes_in_circles_ends():
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert misfit({}, circle) == "the value, or its schema, is nested too deep"


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels):
        value = {"items": value}
    return value


@pytest.mark.parametrize("levels", [1_000, 100_000])
def test_what_is_nested_too_deep_is_not_followed(levels: int):
    said = "the value, or its schema, is nested too deep"
    tree = {"properties": {"items": {"$ref": "#"}}}
    assert misfit(nested(levels), tree) == said
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
        ({"properties": {"line": {}}}, {"x-a": "one"}, "$.* does not fit the rule type"),
    ],
)
def test_patterns_and_the_rules_that_rest_on_them_are_applied(
    rule: dict[str, object], value: object, where: str | None
):
    assert misfit(value, {**LINES, **rule}) == where


def test_names_that_nothing_evaluates_are_told_where_names_have_no_patterns():
    closed = {"allOf": [{"properties": {"line": {}}}], "unevaluatedProperties": False}
    assert misfit({"line": "milk"}, closed) is None
    assert misfit({CANARY: 1}, closed) == "$ does not fit the rule unevaluatedProperties"
    assert misfit({CANARY: 1}, {**closed, "patternProperties": {"^x-": {}}}) is None


def test_a_pattern_that_takes_time_is_matched_all_the_same():
    bait = "a" * 50_000 + "!"
    trap = "^(a+)+$"
    assert misfit({"line": bait}, {"properties": {"line": {"pattern": trap}}}) == (
        "$.line does not fit the rule pattern"
    )
    named = {"patternProperties": {trap: {"type": "integer"}}, "additionalProperties": False}
    assert misfit({bait: 1}, named) == "$ does not fit the rule additionalProperties"


@pytest.mark.parametrize("pattern", [r"^(a+)+\1$", "^(?=(a+)+$)a", "(a{1000}){1000}", "("])
def test_a_pattern_that_cannot_be_matched_in_linear_time_is_not_applied(pattern: str):
    bait = "a" * 5_000 + "!"
    assert misfit({"line": bait}, {"properties": {"line": {"pattern": pattern}}}) is None
    named = {"patternProperties": {pattern: {"type": "integer"}}, "additionalProperties": False}
    assert misfit({bait: "one"}, named) is None


def doubling(levels: int) -> dict[str, object]:
    """A schema that looks at each level twice as often as at the one above."""
    parts = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": {**parts, f"a{levels}": {"type": "object"}}}


MANY_PATTERNS = {"allOf": [{"properties": {"line": {"pattern": f"^(a|b){{9}}{n}?"}}} for n in range(80)]}
ELSEWHERE = {"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [doubling(30)]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({}, doubling(40)),
        ({}, {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a0"}], "$defs": doubling(40)["$defs"]}),
        ({}, {**doubling(40), "unevaluatedProperties": False}),
        ({}, {"$defs": ELSEWHERE["allOf"][0]["$defs"], "allOf": [ELSEWHERE]}),
        ({"line": "a" * 9}, MANY_PATTERNS),
        (
            {"rows": list(range(200_000))},
            {"properties": {"rows": {"items": {"allOf": [{}, {"type": "integer"}]}}}},
        ),
    ],
)
def test_a_check_ends_after_so_many_steps(value: object, schema: dict[str, object]):
    assert misfit(value, schema, 100_000) == "the schema takes too long to check"


def test_the_first_misfit_ends_a_check():
    rows = {"rows": ["one", *range(1_000_000)]}
    schema = {"properties": {"rows": {"items": {"type": "integer"}}}}
    assert misfit(rows, schema, 10) == "$.rows[0] does not fit the rule type"


@given(st.lists(json_values, max_size=4))
def test_what_is_unique_by_the_standard_is_unique_here(values: list[object]):
    unique = {"uniqueItems": True}
    assert (misfit(values, unique) is None) == Draft202012Validator(unique).is_valid(values)


@pytest.mark.parametrize(
    ("values", "unique"),
    [
        ([1, True], True),
        ([1, 1.0], False),
        ([0, False, None, "", [], {}], True),
        ([[1, {"a": 1}], [1.0, {"a": 1}]], False),
    ],
)
def test_one_and_true_are_two_things_and_one_and_one_point_nought_are_one(values: list[object], unique: bool):
    assert (misfit(values, {"uniqueItems": True}) is None) is unique


def test_a_part_that_names_another_draft_is_read_by_the_same_rules():
    trap = {"$schema": "https://json-schema.org/draft/2020-12/schema", "pattern": r"^(a+)+\1$"}
    assert misfit({"line": "a" * 60 + "!"}, {"properties": {"line": trap}}) is None
    assert misfit({"$schema": 1}, {"properties": {"$schema": {"type": "string"}}}) == (
        "$.$schema does not fit the rule type"
    )
    assert misfit({"$schema": "x"}, {"const": {"$schema": "x"}}) is None


def test_a_schema_is_read_by_the_draft_that_it_names():
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"line": {"type": "string"}},
        "items": [{"$ref": "#/definitions/line"}],
    }
    assert misfit([1], old) == "$[0] does not fit the rule type"
    assert misfit(["milk"], old) is None


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        ({}, {"$schema": 7}, "the schema is no JSON Schema"),
        ({}, {"$schema": "http://127.0.0.1:9/own", "type": "array"}, "$ does not fit the rule type"),
        ({}, {"$ref": "http://[bad"}, "the schema refers to something outside of it"),
        ({}, {"$ref": "#/nowhere"}, "the schema refers to something outside of it"),
        ({"a": 1}, {"properties": {"a": False}}, "$ does not fit the rule false"),
        (
            {"a": 10**400},
            {"properties": {"a": {"multipleOf": 0.01}}},
            "there is a number that is too large to check",
        ),
    ],
)
def test_whatever_a_schema_holds_the_check_says_what_it_found(
    value: object, schema: dict[str, object], said: str
):
    assert misfit(value, schema) == said


KEYWORDS = sorted(
    {*Draft202012Validator.VALIDATORS, *Draft7Validator.VALIDATORS, "$schema", "$id", "$defs", "$anchor"}
)
some_words = st.sampled_from(
    ["#", "#/$defs/a", "a", "x-", "^a", "(", "object", "string", "http://[bad", "", CANARY]
)
any_schema = st.dictionaries(
    st.sampled_from(KEYWORDS),
    st.recursive(
        st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | some_words,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*KEYWORDS, "a"]), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@given(json_values, any_schema)
def test_whatever_a_server_sends_is_answered_with_a_sentence_that_holds_no_value(
    value: object, schema: dict[str, object]
):
    said = misfit(value, schema, 50_000)
    assert said is None or (CANARY not in said and said.isprintable())


def test_a_format_is_a_remark_and_no_rule():
    assert misfit({"to": "nobody"}, {"properties": {"to": {"format": "email"}}}) is None
