"""What a service offers to the handlers of skills: methods with checked arguments, and who asks (X-7).

A service owns what lasts. A handler reaches it through the broker alone, one permission a service, as
``context.<service>.<method>(name=value)``; a refusal reaches the handler as an error with its code.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from contracts.plain_problems import problem_sentence
from contracts.skills.invocation_work import InvocationOrder
from contracts.skills.manifest import SkillManifest
from skills.runtime.broker import BrokerRefused


@dataclass(frozen=True)
class Asker:
    """The invocation on whose behalf a service is asked.

    ``key`` stays the same over its attempts: what is done under it is done once. ``at`` is when this attempt began, by
    the clock of its workflow.
    """

    order: InvocationOrder
    manifest: SkillManifest
    attempt: int
    at: datetime

    @property
    def owner(self) -> str:
        """The user it is for."""
        return self.order.owner_user_id

    @property
    def call_id(self) -> str:
        """The id of the call it belongs to, as its caller says; without one, the invocation's."""
        context = self.order.context
        said = context.call.id if context is not None and context.call is not None else None
        return said or self.order.invocation_id

    @property
    def key(self) -> str:
        """The idempotency key of the invocation."""
        return self.order.invocation_id


@dataclass(frozen=True)
class Method:
    """One method: what it takes, what it does, and whether it only reads.

    ``run`` may raise ``BrokerRefused`` with a code of the skill's error table. Its answer is JSON.
    """

    takes: type[BaseModel]
    run: Callable[[Asker, Any], Awaitable[Any]]
    reads: bool = False


class Offering(Protocol):
    """A service as it is composed."""

    @property
    def methods(self) -> Mapping[str, Method]:
        """Its methods by name."""
        ...


async def ask(offering: Offering, asker: Asker, method: str, arguments: Mapping[str, Any]) -> Any:
    """Checks the arguments and runs one method.

    Raises:
        BrokerRefused: there is no such method, the arguments do not fit, or what the method refuses.
    """
    found = offering.methods.get(method)
    if found is None:
        names = ", ".join(sorted(offering.methods))
        raise BrokerRefused("INVALID_INPUT", f"There is no method {method[:60]}; there are {names}.")
    try:
        given = found.takes.model_validate(dict(arguments))
    except ValidationError as error:
        wrong = problem_sentence(error, whole="arguments")
        raise BrokerRefused("INVALID_INPUT", f"{method}: {wrong}") from None
    return await found.run(asker, given)
