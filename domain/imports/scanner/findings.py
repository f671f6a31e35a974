"""Make findings: the line as it may be shown, and the weight that its standing leaves it."""

from dataclasses import dataclass

from contracts.base import clipped
from contracts.imports.compatibility import FindingSeverity
from contracts.imports.scanning import ScanCode, ScanConfidence, ScanFinding
from domain.learning.redaction.redaction import redact
from domain.platform.visible_text import visible

_MAX_QUOTE = 240
_BEFORE = 60
"""How much of a long line is quoted before what was found."""

_AROUND = 8_000
"""How much of a longer line, on both sides of what was found, is looked through for secrets and quoted from."""

_ONLY_NAMED = "Named, and as it reads not done or asked for. "


@dataclass(frozen=True, slots=True)
class Weight:
    """How grave and how sure."""

    severity: FindingSeverity
    confidence: ScanConfidence


BLOCKS = Weight(FindingSeverity.ERROR, ScanConfidence.HIGH)
WARNS = Weight(FindingSeverity.WARNING, ScanConfidence.MEDIUM)
HINTS = Weight(FindingSeverity.INFO, ScanConfidence.MEDIUM)
NAMES = Weight(FindingSeverity.INFO, ScanConfidence.LOW)


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found in one file: where in the text of a passage, and how much it weighs."""

    code: ScanCode
    weight: Weight
    line: int | None
    quote: str
    why: str
    at: int = 0

    def named(self) -> "Found":
        """The same, of something that is only spoken of."""
        return Found(self.code, NAMES, self.line, self.quote, _ONLY_NAMED + self.why, self.at)


def finding(found: Found, path: str) -> ScanFinding:
    """The finding as it is shown: secrets masked, unseen characters spelled out, clipped."""
    # Masked before it is clipped: the part of a secret that a clip leaves may no longer look like one.
    start = max(0, found.at - _AROUND)
    quote = visible(redact(found.quote[start : found.at + _AROUND]).text).strip()
    begin = max(0, min(found.at - start, len(quote)) - _BEFORE) if len(quote) > _MAX_QUOTE else 0
    return ScanFinding(
        code=found.code,
        severity=found.weight.severity,
        confidence=found.weight.confidence,
        path=clipped(visible(path), 240),
        line=found.line,
        quote=clipped(("…" if begin or start else "") + quote[begin:], _MAX_QUOTE),
        why=clipped(found.why, 400),
    )
