"""Effective settings of legal tables, and the check of a change to them (DOC3 §4.3, §4.5).

They are a standing order of the person, kept with the person's preferences and not with the skill, so that they
hold wherever citations are handled (L8264-8295). What the person set wins over the default. The rank between the
two, the active style manual's own rule, does not cover these eight fields.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from contracts.documents.legal_tables import (
    AuthorityCategory,
    CaseNameStyle,
    CitationStyle,
    LegalTablesConfig,
    TablePagination,
)
from contracts.errors import ErrorCode, Refusal
from contracts.platform.configuration import ConfigurationIntent, ConfigurationTarget, IntentRequester

PREFIX = "legal_tables."
"""Begins the name of each of these fields among a person's preferences."""

DEFAULTS = LegalTablesConfig(
    default_style=CitationStyle.BLUEBOOK,
    default_pagination=TablePagination.ROMAN_THEN_ARABIC,
    default_case_name_style=CaseNameStyle.ITALIC,
    default_toc_title="TABLE OF CONTENTS",
    default_toa_title="TABLE OF AUTHORITIES",
    default_category_order=tuple(AuthorityCategory),
    default_model_preference=None,
    passim_threshold=5,
)
"""What holds where the person set nothing (§4.2, §4.5, §4.10)."""


def own(fields: Mapping[str, Any]) -> LegalTablesConfig:
    """What the person set, of all preferences that are kept; what cannot be used is left out."""
    return LegalTablesConfig.model_validate(
        {name: value for name, value in _kept(fields).items() if _usable(name, value)}
    )


def unusable(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Names, without prefix, of what is kept and is no field here or no value for it, in alphabetical order.

    Any client may send preferences, and nothing compares them with this contract on the way.
    """
    return tuple(sorted(name for name, value in _kept(fields).items() if not _usable(name, value)))


def effective(fields: Mapping[str, Any]) -> LegalTablesConfig:
    """All eight values in effect, given all preferences that are kept: the person's own before the default.

    An order that names only some categories goes on with the others in the standard order.
    """
    mine = own(fields)
    named = mine.default_category_order or ()
    order = (*named, *(one for one in AuthorityCategory if one not in named))
    return DEFAULTS.changed(**mine.model_dump(exclude_none=True) | {"default_category_order": order})


def intent_of(
    config: LegalTablesConfig,
    *,
    intent_id: str,
    correlation_id: str,
    created_at: datetime,
    requested_by: IntentRequester = IntentRequester.WRAPPER,
) -> ConfigurationIntent:
    """The wish that the given fields of ``config`` hold from now on; one given as null goes back to its default.

    Each field has a place of its own among the preferences: a wish about some leaves the others as they are.

    Raises:
        Refusal: ``VALIDATION_FAILED`` when no field was given.
    """
    given = config.model_dump(mode="json", include=config.model_fields_set)
    if not given:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            f"There is nothing to set; give at least one of {', '.join(LegalTablesConfig.model_fields)}.",
            fields=["config"],
        )
    return ConfigurationIntent(
        intent_id=intent_id,
        target=ConfigurationTarget.USER_PREFERENCE,
        payload={f"{PREFIX}{name}": value for name, value in given.items()},
        requested_by=requested_by,
        correlation_id=correlation_id,
        created_at=created_at,
    )


def _kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(PREFIX): value
        for name, value in fields.items()
        if name.startswith(PREFIX) and value is not None
    }


def _usable(name: str, value: Any) -> bool:
    try:
        LegalTablesConfig.model_validate({name: value})
    except ValidationError:
        return False
    return True
