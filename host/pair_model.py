"""Reads a request and the goal of an ability together: whether what is asked for is what the ability does.

The transformer of ``sentence_model`` with weights of our own (``pair_model.npz``), trained further from those of
the package by ``python -m bench.pair_training``. Two sentences that are read together tell works apart that vectors
take for alike. What it says is a number and no reason.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from host.sentence_model import Encoder, ModelUnavailable, loaded_once

MAX_TOKENS = 60
"""What is said beyond these, by either side, is not read."""

KEPT_IN_MEMORY = 16_384
"""How many answers stay in memory."""

WEIGHTS = Path(__file__).with_name("pair_model.npz")

HEAD, BIAS = "head.weight", "head.bias"
"""The names in that file of what is added to the transformer. The others are ``NAME@PLACE`` in the package's file."""

DIGEST = "0c01a25f167f3b2fb502ac563ba93a13ca681732c8892b7ac779919a6babfc0a"

BEGIN, END = 101, 102
"""The tokens before both texts, and behind each."""


class PairModel:
    """Says how likely a request asks for what a goal does. Safe to share between threads.

    Raises:
        ModelUnavailable: A package is not installed, or a file is another one than expected.
    """

    def __init__(self) -> None:
        try:
            import numpy as np
        except ImportError as error:
            raise ModelUnavailable(f"{error.name or error} is not installed.") from error
        try:
            content = WEIGHTS.read_bytes()
        except OSError as error:
            raise ModelUnavailable(f"{WEIGHTS.name} cannot be read ({error.strerror}).") from error
        if hashlib.sha256(content).hexdigest() != DIGEST:
            raise ModelUnavailable(f"{WEIGHTS.name} is another file than expected.")
        with np.load(BytesIO(content)) as kept:
            self._head, self._bias = kept[HEAD], float(kept[BIAS][0])
            named = (name.rpartition("@") for name in kept.files if "@" in name)
            self._encoder = Encoder({int(place): kept[f"{name}@{place}"] for name, _, place in named})
        self._np = np
        self.log_odds: Callable[[str, str], float] = lru_cache(KEPT_IN_MEMORY)(self._log_odds)
        """Of a request and a goal: above 0 for likely, and the more the surer."""

    def _log_odds(self, request: str, goal: str) -> float:
        asked, done = self._tokens(request), self._tokens(goal)
        ids = [BEGIN, *asked, END, *done, END]
        kinds = [0] * (len(asked) + 2) + [1] * (len(done) + 1)
        rows = self._encoder.read(ids, kinds)
        return float(self._np.concatenate((rows[0], rows.mean(axis=0))) @ self._head) + self._bias

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._encoder.tokenizer.encode(text, add_special_tokens=False).ids
        return ids[:MAX_TOKENS]


pair_model = loaded_once(PairModel)
"""The model of this process; raises ``ModelUnavailable``."""


def read_together() -> Callable[[str, str], float] | None:
    """``PairModel.log_odds`` of this process's model; None where it cannot be used."""
    try:
        return pair_model().log_odds
    except ModelUnavailable:
        return None
