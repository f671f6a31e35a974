"""Asks the configured models of the content skills: the one that is wanted, then the others (002 L202, L284)."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import structlog

from clients.learning.model_endpoint import ModelEndpoint, ModelFailure, ModelTooSlow
from clients.platform.key_reference import KeyUnavailable
from domain.learning.model.prompt import ModelQuestion
from domain.skills.content.questions import UnusableAnswer
from skills.runtime.broker import BrokerRefused

log = structlog.get_logger(__name__)

T = TypeVar("T")

MakeEndpoint = Callable[[str, float], ModelEndpoint]
"""An endpoint by the model's name, with the seconds that one question to it may take."""


class TooSlow(Exception):
    """The model did not answer in time."""


class ContentModels:
    """The models by name; none where none is configured, and then rules and templates do the work (O-17)."""

    def __init__(self, names: tuple[str, ...], make: MakeEndpoint) -> None:
        self.names = names
        self._make = make

    async def ask(
        self, wanted: str | None, question: ModelQuestion, read: Callable[[str], T], within_seconds: float
    ) -> tuple[T, str, tuple[str, ...]]:
        """The answer as ``read`` takes it, the model that gave it, and warnings about those that did not.

        Raises:
            TooSlow: the first model that was reached took too long; the time is over then.
            BrokerRefused: ``LLM_ERROR``, where none of the models could answer.
        """
        order = sorted(self.names, key=lambda name: name != wanted)
        warnings = list[str]()
        for name in order:
            if wanted is not None and wanted not in self.names and not warnings:
                warnings.append(f"LLM_ERROR: {wanted} is not configured.")
            try:
                answer = await self._make(name, within_seconds).ask(question)
                return read(answer), name, tuple(warnings)
            except ModelTooSlow:
                raise TooSlow(name) from None
            except (ModelFailure, KeyUnavailable, UnusableAnswer) as error:
                log.warning("a model of the content skills failed", model=name, error=type(error).__name__)
                warnings.append(f"LLM_ERROR: {name}: {error}.")
        raise BrokerRefused("LLM_ERROR", " ".join(warnings)[:500])


def endpoints(
    addresses: Mapping[str, str], read_key: Callable[[str], str | None], max_output_tokens: int
) -> ContentModels:
    """The models at their addresses; ``read_key`` gives the key of a model, read at each use."""

    def make(name: str, within_seconds: float) -> ModelEndpoint:
        return ModelEndpoint(
            addresses[name],
            name,
            lambda: read_key(name),
            timeout_seconds=within_seconds,
            max_output_tokens=max_output_tokens,
        )

    return ContentModels(tuple(addresses), make)
