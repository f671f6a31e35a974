"""Code that is written so that nobody reads it."""

import re
from collections.abc import Iterator, Sequence

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import WARNS, Found
from domain.imports.scanner.passages import Passage

_ESCAPES = re.compile(r"\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}", re.IGNORECASE)
_RENAMED = re.compile(r"\b_0x[0-9a-f]{4,}\b")
_MANY = 40


def obfuscated(statements: Sequence[Passage]) -> Iterator[Found]:
    """The first statement with many escaped letters or names that a packer gave."""
    for passage in statements:
        for pattern in (_ESCAPES, _RENAMED):
            if len(pattern.findall(passage.text)) >= _MANY:
                why = "Is packed so that a reader cannot follow it. Ship the source itself."
                yield Found(ScanCode.OBFUSCATED_CODE, WARNS, passage.line, passage.text, why)
                return
