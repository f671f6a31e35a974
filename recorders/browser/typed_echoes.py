"""Masking what a person typed where the page repeats it ("Welcome, Ada"), without ever knowing what it was.

The page sends a keyed digest of each typed value, never the value; the key is drawn anew for each recording and
kept in memory only. A text is searched for windows of the same length and digest that are whole words.
"""

import secrets

ECHO = "…"
"""What stands where a page repeated a typed value."""

SHORTEST = 3
"""Shorter values are not looked for: they would be found in ordinary words."""

MOST_VALUES = 500
"""The newest typed values that are looked for."""

_MODULI = (67_108_859, 67_108_837)
"""Below 2**26, so that a browser's numbers hold every product exactly."""

Digest = tuple[int, int, int]
"""A value's length in UTF-16 units and its two polynomial digests."""


class TypedEchoes:
    """The typed values of one recording, as digests."""

    def __init__(self) -> None:
        self.key = tuple((secrets.randbelow(m - 1000) + 500, m) for m in _MODULI)
        self._values: dict[Digest, None] = {}

    def add(self, digest: Digest) -> None:
        """Remembers one typed value."""
        if digest[0] < SHORTEST:
            return
        self._values[digest] = None
        if len(self._values) > MOST_VALUES:
            del self._values[next(iter(self._values))]

    def mask(self, text: str) -> str:
        """``text`` with every typed value replaced, letter case aside."""
        shown = " ".join(text.split())
        lower = shown.lower()
        if len(lower) != len(shown):
            # Places differ in the two: what is cut out must be what was searched.
            shown = lower
        found = [span for length in {d[0] for d in self._values} for span in self._spans(lower, length)]
        for start, end in sorted(_merged(found), reverse=True):
            shown = f"{shown[:start]}{ECHO}{shown[end:]}"
        return shown if found else text

    def _spans(self, text: str, length: int) -> list[tuple[int, int]]:
        # In UTF-16 units, as the page counts; ``places`` leads back to characters.
        places = [at for at, c in enumerate(text) for _ in range(2 if ord(c) > 0xFFFF else 1)]
        places.append(len(text))
        encoded = text.encode("utf-16-le", "surrogatepass")
        units = [encoded[i] + (encoded[i + 1] << 8) + 1 for i in range(0, len(encoded), 2)]
        if length > len(units):
            return []
        rolled = [_windows(units, length, base, modulus) for base, modulus in self.key]
        spans = [
            (places[at], places[at + length])
            for at, (one, two) in enumerate(zip(*rolled, strict=True))
            if (length, one, two) in self._values
        ]
        return [(start, end) for start, end in spans if _is_whole(text, start, end)]


def _windows(units: list[int], length: int, base: int, modulus: int) -> list[int]:
    """The digest of every window of ``length`` units, each from the one before it."""
    top = pow(base, length - 1, modulus)
    value = 0
    for unit in units[:length]:
        value = (value * base + unit) % modulus
    digests = [value]
    for gone, new in zip(units, units[length:], strict=False):
        value = ((value - gone * top) * base + new) % modulus
        digests.append(value)
    return digests


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() and text[start].isalnum()) and not (
        text[end : end + 1].isalnum() and text[end - 1].isalnum()
    )


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
