"""State facts from values of any length: texts are cut to what the contract takes, and control characters replaced."""

import re

from contracts.base import clipped
from contracts.learning.witness import StateFact

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class FactMaker:
    """Makes the facts of one witness, whose texts fit the contract and one line."""

    def __init__(self, witness: str) -> None:
        self.witness = witness

    def __call__(self, subject: str, aspect: str, value: bool | int | str) -> StateFact:
        """The fact that ``aspect`` of ``subject`` has ``value``."""
        if isinstance(value, str):
            value = _line(value, 240)
        elif not isinstance(value, bool) and abs(value) >= 2**63:
            value = str(value)[:240]
        return StateFact(
            subject=_line(subject, 400), aspect=_line(aspect, 160), value=value, witness=self.witness
        )


def _line(text: str, limit: int) -> str:
    storable = text.encode("utf-8", errors="replace").decode("utf-8")
    return clipped(_CONTROLS.sub("�", storable), limit)
