"""The trigger tests that a drafted skill brings along (DOC3 §1.1P, §1.8A; rows P-26, P-42)."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from contracts.base import Contract

TRIGGER_TESTS_PATH = "tests/triggers.json"
"""Where a draft keeps its cases, a JSON array of ``TriggerCase``, inside the skill's folder."""

MIN_CASES_PER_KIND = 3
"""The fewest cases of each kind that a skill must bring."""


class TriggerCaseKind(StrEnum):
    """What a case is to show."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    PARAPHRASE = "paraphrase"


class TriggerCase(Contract):
    """One thing that somebody might say, and whether the skill is meant by it."""

    input: Annotated[str, StringConstraints(max_length=240, pattern=r"\S")]
    should_trigger: bool
    kind: TriggerCaseKind

    @model_validator(mode="after")
    def _kind_agrees(self) -> Self:
        if self.should_trigger is (self.kind is TriggerCaseKind.NEGATIVE):
            raise ValueError(
                f"a {self.kind} case cannot have should_trigger {str(self.should_trigger).lower()}"
            )
        return self


TRIGGER_CASES = TypeAdapter(Annotated[tuple[TriggerCase, ...], Field(max_length=150)])
"""Reads the content of ``tests/triggers.json``."""
