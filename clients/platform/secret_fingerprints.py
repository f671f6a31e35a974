"""Finds known secrets in a text without holding them: fingerprints of each one's ending and of its whole.

A text is looked through once, however many secrets are known. Endings are what is looked for first: tokens of one
issuer often begin alike, and seldom end so.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from contracts.platform.identity import ACCESS_TOKEN_PREFIX
from domain.learning.redaction.secret_names import MASK

SHORTEST = 8
"""Characters. Shorter secrets would be found in what is no secret at all."""

ACCESS_TOKEN = re.compile(re.escape(ACCESS_TOKEN_PREFIX) + r"[A-Za-z0-9_-]{43}")
"""Every access token of this service has this form, whosever it is."""

_KEY = secrets.token_bytes(32)
_DIGEST_BYTES = 16


class Fingerprint(NamedTuple):
    """What is kept of one secret: it recognises the secret, in this process alone, and does not say it."""

    ending: int
    length: int
    digest: bytes


class Fingerprints:
    """Those of many secrets. Immutable."""

    def __init__(self, known: Iterable[Fingerprint] = ()) -> None:
        self._by_ending: dict[int, set[tuple[int, bytes]]] = {}
        for one in known:
            self._by_ending.setdefault(one.ending, set()).add((one.length, one.digest))

    def __len__(self) -> int:
        return sum(map(len, self._by_ending.values()))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a known secret begins and ends in ``text``, by their ends; they may overlap."""
        known = self._by_ending
        if not known:
            return
        last = len(text) - SHORTEST + 1
        for at in [at for at in range(last) if hash(text[at : at + SHORTEST]) in known]:
            end = at + SHORTEST
            for length, digest in known[hash(text[at:end])]:
                if length <= end and _digest(text[end - length : end]) == digest:
                    yield end - length, end


NO_SECRETS = Fingerprints()
"""Where no secret is kept."""

OwnSecrets = Callable[[], Fingerprints]
"""Gives those that this installation keeps. It may take its time, so it belongs in a thread."""


class SecretMask:
    """Masks secrets in JSON values: those of ``own``, those ``given``, and all that has an access token's form."""

    def __init__(self, own: Fingerprints, given: Iterable[str] = ()) -> None:
        """Of those given, the ones shorter than :data:`SHORTEST` are left as they are."""
        self._own = own
        self._given = tuple(secret for secret in set(given) if len(secret) >= SHORTEST)

    def masked(self, value: Any) -> Any:
        """``value`` with every secret masked, in names of objects too."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.masked(part) for part in cast("list[Any]", value)]
            case dict():
                parts = cast("dict[str, Any]", value)
                return {self.text(name): self.masked(part) for name, part in parts.items()}
            case _:
                return value

    def text(self, text: str) -> str:
        """``text`` with every secret masked."""
        return covered(text, self._spans(text), MASK) if len(text) >= SHORTEST else text

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self._given:
            start = text.find(secret)
            while start >= 0:
                yield start, start + len(secret)
                start = text.find(secret, start + 1)
        for token in ACCESS_TOKEN.finditer(text):
            yield token.span()
        yield from self._own.spans(text)


def fingerprints_of(secret: str) -> Iterator[Fingerprint]:
    """One for each way in which a secret is written in an answer: as it is, in a JSON text, in an address."""
    for written in {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
    }:
        if len(written) >= SHORTEST:
            yield Fingerprint(hash(written[-SHORTEST:]), len(written), _digest(written))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES, key=_KEY
    ).digest()


def covered(text: str, spans: Iterable[tuple[int, int]], mask: str) -> str:
    """``text`` with ``mask`` in the place of each span; of spans that overlap one mask is left."""
    pieces: list[str] = []
    done = begun = ended = 0
    for start, end in (*sorted(spans), (len(text), len(text))):
        if start < ended:
            ended = max(ended, end)
            continue
        if ended > begun:
            pieces += (text[done:begun], mask)
            done = ended
        begun, ended = start, end
    return "".join((*pieces, text[done:]))
