"""One value of a JSON text is changed, and every other byte stays (OC-15, X-16)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.platform.json_editing import NotEditable, with_value

PATH = ("session", "links")

CASES = (
    ("{}", '{"session": {"links": 1}}'),
    ("{ }\n", '{"session": {"links": 1} }\n'),
    ('{"session":{}}', '{"session":{"links": 1}}'),
    (
        '{"a" : 1e3,\t"session": {"links" : {"x": [1, 2]} , "b": 0}}',
        '{"a" : 1e3,\t"session": {"links" : 1 , "b": 0}}',
    ),
    (
        '{"links": 5, "session": {"x": {"links": 6}}}',
        '{"links": 5, "session": {"links": 1, "x": {"links": 6}}}',
    ),
    (' {"s\\u0065ssion": {"links": "}"}} ', ' {"s\\u0065ssion": {"links": 1}} '),
)


@pytest.mark.parametrize(("before", "after"), CASES)
def test_the_value_is_changed_where_it_stands(before: str, after: str) -> None:
    assert with_value(before, PATH, 1) == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "{",
        '{"session": 1}',
        '{"session": {}, "session": {}}',
        '{"session": {"links": 1, "links": 2}}',
        "{} // x",
    ],
)
def test_a_text_that_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(NotEditable):
        with_value(text, PATH, 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), VALUES, st.sampled_from([None, 2]))
def test_whatever_else_stands_there_stays(whole: dict[str, Any], value: Any, indent: int | None) -> None:
    whole = {key: one for key, one in whole.items() if key != "session"} | {"session": {"other": value}}
    changed = json.loads(with_value(json.dumps(whole, indent=indent), PATH, value))
    assert changed == whole | {"session": {"other": value, "links": value}}
