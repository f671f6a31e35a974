"""State behind the files of a folder as facts, and their changes: git, databases, packages, links.

Our addition to DOC3 §0C.22: what a demonstration changed is evidence beyond the list of its files.
"""

from typing import Self

from pydantic import Field, model_validator

from contracts.base import Contract, Text80, Text160, Text240, Text400

MAX_FACTS = 50_000
"""The most facts of one observation."""

MAX_STATE_CHANGES = 2_000
"""The most changes between two observations."""

StateValue = bool | int | Text240
"""A number, a yes or no, or a text."""


class StateFact(Contract):
    """One thing that holds of a folder: the ``aspect`` of a ``subject`` has a ``value``.

    Subjects are paths relative to the folder, or ``git`` (``git in sub``). Aspects may name a part:
    ``branch main``, ``table orders: rows``, ``package tabulate``.
    """

    subject: Text400
    aspect: Text160
    value: StateValue
    witness: Text80 = Field(default="", description="What saw it: git, databases, packages, links.")

    @property
    def key(self) -> tuple[str, str]:
        """What tells facts of one observation from each other."""
        return self.subject, self.aspect


class StateObservation(Contract):
    """The facts of a folder at one moment, by subject and aspect."""

    facts: tuple[StateFact, ...] = Field(default=(), max_length=MAX_FACTS)
    partial: tuple[Text80, ...] = Field(
        default=(), max_length=20, description="The witnesses that a limit stopped before they were done."
    )

    @property
    def by_key(self) -> dict[tuple[str, str], StateFact]:
        """The facts by subject and aspect."""
        return {fact.key: fact for fact in self.facts}


class StateChange(Contract):
    """A fact that came (``before`` is None), went (``after`` is None) or has another value now."""

    subject: Text400
    aspect: Text160
    before: StateValue | None = None
    after: StateValue | None = None

    @model_validator(mode="after")
    def _is_a_change(self) -> Self:
        if type(self.before) is type(self.after) and self.before == self.after:
            raise ValueError("before and after are the same")
        return self
