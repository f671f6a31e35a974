"""Judge of doubtful fits: asks the configured language model, remembers its answers, and never keeps a lookup waiting.

A lookup is answered without the model where it fails, is slow, or has too many questions open.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from time import monotonic

import structlog
from anyio import from_thread

from clients.learning.model_endpoint import ModelEndpoint, ModelFailure
from clients.platform.key_reference import KeyUnavailable
from domain.abilities.fit.deciding import Doubt
from domain.learning.model.answer import UnusableAnswer
from domain.learning.model.fit_question import fit_question, read_fits

KEPT = 4096
"""How many answers are remembered, one for each request and ability."""

MOST_OPEN = 4
"""The most questions at a time."""

PAUSE_SECONDS = 30.0
"""How long nothing is asked after a question that failed."""

_log = structlog.get_logger(__name__)


class FitJudge:
    """Decides which of some doubtful abilities do what is asked. Safe to share between threads.

    It is called in a worker thread of the event loop (``anyio.to_thread``), which the question is sent from.
    """

    def __init__(self, endpoint: ModelEndpoint, *, clock: Callable[[], float] = monotonic) -> None:
        """``endpoint`` has a time-out that a person who looks something up would wait for."""
        self._endpoint = endpoint
        self._clock = clock
        self._lock = threading.Lock()
        self._open = threading.BoundedSemaphore(MOST_OPEN)
        self._known = OrderedDict[tuple[str, str, str], bool]()
        self._paused_until = 0.0

    def __call__(self, request: str, doubts: Sequence[Doubt]) -> dict[str, bool]:
        """Which abilities do what is asked, by their ids; those that nobody could decide are left out.

        An answer is of the words that were sent: for an ability that has changed, the model is asked again.
        """
        found = self._remembered(request, doubts)
        unknown = [one for one in doubts if one.ability_id not in found]
        if unknown and self._clock() >= self._paused_until and self._open.acquire(blocking=False):
            try:
                found |= self._asked(request, unknown)
            finally:
                self._open.release()
        return found

    def _asked(self, request: str, doubts: Sequence[Doubt]) -> dict[str, bool]:
        try:
            answer = from_thread.run(self._endpoint.ask, fit_question(request, doubts))
            found = read_fits(answer, doubts)
        except (ModelFailure, KeyUnavailable, UnusableAnswer) as problem:
            self._paused_until = self._clock() + PAUSE_SECONDS
            _log.warning("fit_not_decided", model=self._endpoint.model, reason=str(problem))
            return {}
        with self._lock:
            self._known.update({_key(request, one): found[one.ability_id] for one in doubts})
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return found

    def _remembered(self, request: str, doubts: Sequence[Doubt]) -> dict[str, bool]:
        found: dict[str, bool] = {}
        with self._lock:
            for one in doubts:
                key = _key(request, one)
                if key in self._known:
                    self._known.move_to_end(key)
                    found[one.ability_id] = self._known[key]
        return found


def _key(request: str, doubt: Doubt) -> tuple[str, str, str]:
    return (" ".join(request.split()), doubt.title, doubt.goal)
