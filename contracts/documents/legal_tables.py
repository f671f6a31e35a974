"""Settings of tables of contents and of authorities in legal briefs (DOC3 §4.5, L8722-8746)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from contracts.base import Contract

LEAST_PASSIM = 2
"""The lowest passim threshold, in pages: below it every citation would be "passim"."""

MOST_PASSIM = 1000
"""The highest passim threshold, in pages; longer briefs do not exist."""

_Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$"),
]


class CitationStyle(StrEnum):
    """The style manual that rules where the person has no preference (DOC3 §4.2)."""

    BLUEBOOK = "bluebook"
    CALIFORNIA = "california"
    TEXAS = "texas"
    CUSTOM = "custom"


class TablePagination(StrEnum):
    """How the pages of the tables and of the brief are numbered.

    DOC3 §4.10 (L9035-9039) explains a fourth scheme, ``custom``. It needs formats and start numbers that belong to one
    document, and the tool's own enumeration (L8733) leaves it out: it can be asked for, but is no default.
    """

    ROMAN_THEN_ARABIC = "roman_then_arabic"
    NO_NUMBERS_THEN_ARABIC = "no_numbers_then_arabic"
    CONSECUTIVE = "consecutive"


class CaseNameStyle(StrEnum):
    """How the names of cases are set off."""

    ITALIC = "italic"
    UNDERLINE = "underline"


class AuthorityCategory(StrEnum):
    """The categories of authorities, in the standard order of the Bluebook (§4.10)."""

    CASES = "cases"
    CONSTITUTIONAL_PROVISIONS = "constitutional_provisions"
    STATUTES = "statutes"
    RULES = "rules"
    REGULATIONS = "regulations"
    TREATISES = "treatises"
    OTHER_AUTHORITIES = "other_authorities"


class LegalTablesConfig(Contract):
    """Defaults for legal tables, some or all. A field that was not given is left as it is."""

    default_style: CitationStyle | None = None
    default_pagination: TablePagination | None = None
    default_case_name_style: CaseNameStyle | None = None
    default_toc_title: _Line | None = Field(default=None, description="Above the table of contents.")
    default_toa_title: _Line | None = Field(default=None, description="Above the table of authorities.")
    default_category_order: tuple[AuthorityCategory, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=len(AuthorityCategory),
        description="Each at most once; those left out follow in the standard order.",
    )
    default_model_preference: _Line | None = Field(
        default=None, description="The model that finds citations; none leaves the choice to routing."
    )
    passim_threshold: int | None = Field(
        default=None,
        ge=LEAST_PASSIM,
        le=MOST_PASSIM,
        description='From so many pages on, "passim" stands in place of page numbers.',
    )

    @field_validator("default_category_order")
    @classmethod
    def _each_once(cls, order: tuple[AuthorityCategory, ...] | None) -> tuple[AuthorityCategory, ...] | None:
        if order is not None and len(set(order)) != len(order):
            raise ValueError("name each category once")
        return order
