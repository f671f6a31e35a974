"""The answer of a language model that was asked which abilities fit a request."""

from pydantic import Field

from contracts.base import Contract


class ModelFitAnswer(Contract):
    """The abilities that do what is asked for, by the numbers they were shown under."""

    fits: tuple[int, ...] = Field(max_length=50)
