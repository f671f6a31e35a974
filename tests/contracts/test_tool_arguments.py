"""What a tool is given is what a person was shown: whole, and the same to every reader."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from contracts.mcp.tools import LARGEST_INTEGER, MOST_LEVELS, ToolArguments

ARGUMENTS: TypeAdapter[dict[str, Any]] = TypeAdapter(ToolArguments)
READABLE = st.recursive(
    st.none() | st.booleans() | st.text() | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def as_a_browser(text: str) -> Any:
    """Numbers as JavaScript has them."""
    return json.loads(text, parse_int=float)


@given(st.dictionaries(st.text(), READABLE, max_size=4))
def test_what_is_taken_says_the_same_to_every_reader(arguments: dict[str, Any]) -> None:
    taken = ARGUMENTS.validate_json(json.dumps(arguments))
    assert taken == arguments
    assert as_a_browser(json.dumps(taken)) == arguments


@pytest.mark.parametrize("number", [LARGEST_INTEGER + 1, -LARGEST_INTEGER - 1, 2**64, 10**300])
@pytest.mark.parametrize("place", [lambda n: n, lambda n: [n], lambda n: {"a": [{"b": n}]}])
def test_an_integer_that_some_readers_round_is_refused_wherever_it_stands(number: int, place: Any) -> None:
    with pytest.raises(ValidationError, match="give it as text"):
        ARGUMENTS.validate_json(json.dumps({"line": place(number)}))


def test_what_is_nested_too_deeply_is_refused() -> None:
    nested: dict[str, Any] = {}
    for _ in range(MOST_LEVELS - 1):
        nested = {"a": nested}
    assert ARGUMENTS.validate_python(nested) == nested
    with pytest.raises(ValidationError, match="nested deeper"):
        ARGUMENTS.validate_python({"a": nested})
