"""Reads a request and the goal of an ability together: whether what is asked for is what the ability does.

The transformer of ``sentence_model`` with weights of our own (``pair_model.onnx``), trained further from those of
the package by ``python -m bench.pair_training``. Two sentences that are read together tell works apart that vectors
take for alike. What it says is a number and no reason.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.sentence_model import (
    DIMENSIONS,
    ModelUnavailable,
    extra,
    loaded_once,
    packaged_weights,
    session_of,
    tokenizer,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_TOKENS = 60
"""What is said beyond these, by either side, is not read."""

KEPT_IN_MEMORY = 16_384
"""How many answers stay in memory."""

GRAPH = Path(__file__).with_name("pair_model.onnx")

DIGEST = "2138c76543d867e903fb015ce6461e10a3c6ad083a5c5e65f6d8bd4a2f3b7619"

BEGIN, END = 101, 102
"""The tokens before both texts, and behind each."""

WORDS, PLACES = (30_522, 161_538, 11_882_049), (512, 12_004_200, 12_200_872)
"""What words and places mean stays as the package has it: how many there are, and where its file has their
numbers (int8) and the scale of each (float)."""


class PairModel:
    """Says how likely a request asks for what a goal does. Safe to share between threads.

    Raises:
        ModelUnavailable: A package is not installed, or a file is another one than expected.
    """

    def __init__(self) -> None:
        try:
            graph = GRAPH.read_bytes()
        except OSError as error:
            raise ModelUnavailable(f"{GRAPH.name} cannot be read ({error.strerror}).") from error
        if hashlib.sha256(graph).hexdigest() != DIGEST:
            raise ModelUnavailable(f"{GRAPH.name} is another file than expected.")
        self._session, self._tokenizer, self._np = session_of(graph), tokenizer(), extra("numpy")
        packaged = packaged_weights()
        self._words, self._places = (_Meanings(self._np, packaged, *where) for where in (WORDS, PLACES))
        self.log_odds: Callable[[str, str], float] = lru_cache(KEPT_IN_MEMORY)(self._log_odds)
        """Of a request and a goal: above 0 for likely, and the more the surer."""

    def _log_odds(self, request: str, goal: str) -> float:
        asked, done = self._tokens(request), self._tokens(goal)
        ids = [BEGIN, *asked, END, *done, END]
        inputs = {
            "words": self._words.of(ids) + self._places.of(range(len(ids))),
            "kinds": self._np.repeat([0, 1], (len(asked) + 2, len(done) + 1)),
        }
        return float(self._session.run(None, inputs)[0][0])

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids[:MAX_TOKENS]


class _Meanings:
    """Rows of int8 in the package's file, each with a scale."""

    def __init__(self, numpy: Any, file: bytes, count: int, rows_at: int, scales_at: int) -> None:
        rows = numpy.frombuffer(file, numpy.int8, count * DIMENSIONS, rows_at)
        scales = numpy.frombuffer(file, numpy.float32, count, scales_at)
        # Copied: otherwise all of the file stayed in memory.
        self._rows: NDArray[np.int8] = rows.reshape(count, DIMENSIONS).copy()
        self._scales: NDArray[np.float32] = scales.reshape(count, 1).copy()

    def of(self, numbers: Sequence[int]) -> "NDArray[np.float32]":
        return self._rows[numbers] * self._scales[numbers]


pair_model = loaded_once(PairModel)
"""The model of this process; raises ``ModelUnavailable``."""


def read_together() -> Callable[[str, str], float] | None:
    """``PairModel.log_odds`` of this process's model; None where it cannot be used."""
    try:
        return pair_model().log_odds
    except ModelUnavailable:
        return None
