import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.documents.redaction_patterns import KINDS, SHOWN_CHARACTERS, hint_of, patterns_of


def kinds_in(text: str) -> list[tuple[str, str]]:
    return [
        (pattern.kind, match[0])
        for pattern in patterns_of(())
        for match in pattern.expression.finditer(text)
        if pattern.is_right(match[0])
    ]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("write to jane.doe+x@mail.example.org.", "email", "jane.doe+x@mail.example.org"),
        ("IBAN DE89 3704 0044 0532 0130 00 please", "iban", "DE89 3704 0044 0532 0130 00"),
        ("GB29NWBK60161331926819", "iban", "GB29NWBK60161331926819"),
        ("card 4111-1111-1111-1111", "credit_card", "4111-1111-1111-1111"),
        ("378282246310005", "credit_card", "378282246310005"),
        ("SSN 123-45-6789.", "ssn", "123-45-6789"),
        ("call +49 30 1234567 now", "phone", "+49 30 1234567"),
        ("(030) 123 45 67", "phone", "(030) 123 45 67"),
    ],
)
def test_each_kind_is_found_where_it_stands(text: str, kind: str, value: str) -> None:
    assert (kind, value) in kinds_in(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("DE89 3704 0044 0532 0130 01", "iban"),
        ("4111 1111 1111 1112", "credit_card"),
        ("0000 0000 0000 0000", "credit_card"),
        ("000-12-3456", "ssn"),
        ("900-12-3456", "ssn"),
        ("2026-11-21", "phone"),
        ("21.11.2026", "phone"),
        ("version 1.2", "phone"),
    ],
)
def test_what_only_looks_like_a_kind_is_none(text: str, kind: str) -> None:
    assert kind not in [found for found, _ in kinds_in(text)]


def test_a_request_without_patterns_looks_for_every_kind_and_one_with_a_text_for_that_alone() -> None:
    assert [one.kind for one in patterns_of(())] == list(KINDS)
    (only,) = patterns_of(("Project Falcon",))
    assert only.kind == "literal"
    assert only.expression.search("the PROJECT\n  falcon") is not None


def test_signs_in_a_text_mean_themselves() -> None:
    (only,) = patterns_of(("a.b (c)*",))
    assert only.expression.search("a.b (c)*") is not None
    assert only.expression.search("aXb (c)") is None


@given(st.sampled_from(KINDS), st.from_regex(r"[A-Za-z0-9@.+ \-]{8,40}", fullmatch=True))
def test_a_hint_shows_at_most_four_characters_of_the_value(kind: str, value: str) -> None:
    shown = [one for one in hint_of(kind, value) if one.isalnum()]
    assert len(shown) <= SHOWN_CHARACTERS


def test_a_hint_of_an_asked_for_text_shows_nothing_of_it() -> None:
    assert hint_of("literal", "Falcon") == "6 characters, as asked for"
