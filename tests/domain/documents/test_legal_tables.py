"""Whose defaults are in effect for legal tables, and what a wish to change them says."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from uuid_utils import uuid7

from contracts.documents.legal_tables import AuthorityCategory, LegalTablesConfig
from contracts.errors import ErrorCode, Refusal
from contracts.platform.configuration import ConfigurationIntent
from domain.documents.legal_tables import DEFAULTS, effective, intent_of, own, unusable
from domain.platform.configuration_intents import applied, check

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "default_style": st.sampled_from(["bluebook", "california", "texas", "custom"]),
    "default_pagination": st.sampled_from(["roman_then_arabic", "no_numbers_then_arabic", "consecutive"]),
    "default_case_name_style": st.sampled_from(["italic", "underline"]),
    "default_toc_title": st.sampled_from(["CONTENTS", "Table of contents"]),
    "default_toa_title": st.sampled_from(["AUTHORITIES", "Authorities cited"]),
    "default_category_order": st.permutations([one.value for one in AuthorityCategory]),
    "default_model_preference": st.sampled_from(["claude-opus-4-1", "gpt-5", "a local one"]),
    "passim_threshold": st.integers(2, 1000),
}
SOME = st.fixed_dictionaries({}, optional={name: st.none() | value for name, value in VALUES.items()})


def wish(**values: Any) -> ConfigurationIntent:
    return intent_of(
        LegalTablesConfig.model_validate(values),
        intent_id=str(uuid7()),
        correlation_id="a-wrapper",
        created_at=datetime.now(UTC),
    )


def test_where_nothing_is_set_the_documents_defaults_hold() -> None:
    assert effective({}) == DEFAULTS
    assert DEFAULTS.model_dump(mode="json") == {
        "default_style": "bluebook",
        "default_pagination": "roman_then_arabic",
        "default_case_name_style": "italic",
        "default_toc_title": "TABLE OF CONTENTS",
        "default_toa_title": "TABLE OF AUTHORITIES",
        "default_category_order": [
            "cases",
            "constitutional_provisions",
            "statutes",
            "rules",
            "regulations",
            "treatises",
            "other_authorities",
        ],
        "default_model_preference": None,
        "passim_threshold": 5,
    }


def test_a_wish_is_a_preference_of_the_person_with_one_place_for_each_field() -> None:
    sent = wish(default_style="texas", passim_threshold=3, default_toc_title=None)
    assert (sent.target, sent.capability_id, sent.requested_by) == ("user_preference", None, "wrapper")
    assert sent.payload == {
        "legal_tables.default_style": "texas",
        "legal_tables.passim_threshold": 3,
        "legal_tables.default_toc_title": None,
    }


@given(before=SOME, change=SOME.filter(bool))
def test_what_is_wished_holds_the_rest_stays_and_null_is_the_default(
    before: dict[str, Any], change: dict[str, Any]
) -> None:
    kept = applied({"language": "de"}, {f"legal_tables.{name}": value for name, value in before.items()})
    sent = wish(**change)
    check(sent)
    after = applied(kept, sent.payload)

    expected = {**DEFAULTS.model_dump(mode="json"), **own(kept).model_dump(mode="json", exclude_none=True)}
    for name, value in change.items():
        expected[name] = DEFAULTS.model_dump(mode="json")[name] if value is None else value
    assert effective(after).model_dump(mode="json") == expected
    assert after["language"] == "de"
    assert unusable(after) == ()


def test_categories_that_an_order_leaves_out_follow_in_the_standard_order() -> None:
    order = effective({"legal_tables.default_category_order": ["treatises", "rules"]}).default_category_order
    assert order is not None
    assert [one.value for one in order] == [
        "treatises",
        "rules",
        "cases",
        "constitutional_provisions",
        "statutes",
        "regulations",
        "other_authorities",
    ]


def test_a_kept_value_that_cannot_be_used_is_named_and_the_default_holds() -> None:
    kept = {
        "legal_tables.passim_threshold": "often",
        "legal_tables.colour": "red",
        "legal_tables.default_style": "california",
        "passim_threshold": 9,
    }
    assert unusable(kept) == ("colour", "passim_threshold")
    assert own(kept) == LegalTablesConfig.model_validate({"default_style": "california"})
    assert effective(kept).passim_threshold == 5


def test_a_wish_for_nothing_is_refused_with_the_fields_there_are() -> None:
    with pytest.raises(Refusal, match="default_toa_title") as refused:
        wish()
    assert refused.value.code is ErrorCode.VALIDATION_FAILED


@pytest.mark.parametrize(
    "wrong",
    [
        {"default_style": "greenbook"},
        {"default_pagination": "custom"},
        {"default_case_name_style": "bold"},
        {"default_toc_title": " "},
        {"default_toa_title": "one\ntwo"},
        {"default_toa_title": "x" * 121},
        {"default_category_order": []},
        {"default_category_order": ["cases", "cases"]},
        {"default_category_order": ["exhibits"]},
        {"passim_threshold": 1},
        {"passim_threshold": 1001},
        {"passim_threshold": 2.5},
        {"passim": 5},
    ],
)
def test_a_value_out_of_bounds_is_no_configuration(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LegalTablesConfig.model_validate(wrong)
