"""Finds known secrets in a text without holding them: fingerprints of each one's ending and of its whole.

A text is looked through once, however many secrets are known. Endings are what is looked for first: tokens of one
issuer often begin alike, and seldom end so.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from contracts.platform.identity import ACCESS_TOKEN_PREFIX

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
