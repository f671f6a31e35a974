import json
from datetime import UTC, datetime
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.base import Contract
from stores.platform.canonical import canonical_json, digest_of, document_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
).filter(lambda value: "\\ud" not in json.dumps(value))


class Part(Contract):
    name: str
    note: str | None = None


class Colour(StrEnum):
    RED = "red"


@given(st.dictionaries(st.text(alphabet="abcdef"), JSON))
def test_the_order_in_which_keys_were_put_in_does_not_matter(value: dict[str, object]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_json(backwards) == canonical_json(value)
    assert document_bytes(backwards) == document_bytes(value)


@given(st.lists(JSON))
def test_nothing_is_lost_and_a_line_stays_a_line(value: list[object]) -> None:
    assert json.loads(canonical_json(value)) == value
    assert "\n" not in canonical_json(value)
    assert json.loads(document_bytes(value)) == value


def test_models_inside_anything_lose_the_fields_that_are_none() -> None:
    assert canonical_json({"part": Part(name="a"), "none": None}) == '{"none":null,"part":{"name":"a"}}'
    assert canonical_json((Part(name="é", note="n"),)) == '[{"name":"é","note":"n"}]'
    assert canonical_json({"colour": Colour.RED}) == '{"colour":"red"}'


def test_a_time_is_spelled_as_on_the_wire() -> None:
    assert canonical_json([datetime(2026, 1, 2, 3, tzinfo=UTC)]) == '["2026-01-02T03:00:00.000000Z"]'


def test_a_file_for_people_is_indented_and_ends_with_one_newline() -> None:
    assert document_bytes({"b": 1, "a": "ü"}) == '{\n  "a": "ü",\n  "b": 1\n}\n'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", datetime(2026, 1, 1)])
def test_what_json_cannot_carry_faithfully_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical_json([value])


def test_a_value_without_a_json_form_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="set has no JSON form"):
        canonical_json([{1}])


def test_text_and_its_bytes_have_the_same_digest() -> None:
    assert digest_of("grün") == digest_of("grün".encode())
    assert digest_of(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
