"""Fills the input of a skill from facts of the world model, where a reference stands for the value (003 L46-48; AI-29).

A reference is ``{"$fact": {"subject": …, "predicate": …}}``, with ``"as": "number"`` or ``"integer"`` where the input
wants no text. A fact that is not known, or that others contradict as surely, is a precondition that is not met: nothing
is guessed.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError

from contracts.base import Contract
from contracts.errors import ErrorCode, Refusal
from contracts.memory.memory import Name120, Name200, WorldFact
from contracts.skills.manifest import BrokerService, SkillManifest

REFERENCE = "$fact"
MOST_LEVELS = 16

Known = Callable[[str, str], Sequence[WorldFact]]
"""The facts of a subject and predicate that hold, the surest first."""


_PRINTED = r"^[^\x00-\x1f\x7f]+$"
"""No control characters, which no fact has."""


class PreconditionUnmet(Exception):
    """What a call needs is not there, such as a fact that is not known for sure; ``precondition`` names it."""

    def __init__(self, precondition: str, why: str) -> None:
        super().__init__(f"{precondition}: {why}")
        self.precondition = precondition
        self.why = why

    def refusal(self) -> Refusal:
        """The refusal of the call; it does not repeat what a fact says."""
        return Refusal(
            ErrorCode.PRECONDITION_UNMET,
            f"What the call needs is not there: {self.why}."[:240],
            precondition=self.precondition[:240],
        )


class FactReference(Contract):
    """Which fact's object is wanted."""

    subject: Annotated[Name200, Field(pattern=_PRINTED)]
    predicate: Annotated[Name120, Field(pattern=_PRINTED)]
    form: str = Field(default="text", alias="as", pattern=r"^(text|number|integer)$")


def has_references(given: Any, level: int = 0) -> bool:
    """Whether a fact is referred to anywhere."""
    if level > MOST_LEVELS:
        return False
    if isinstance(given, Mapping):
        named = cast("Mapping[str, Any]", given)
        return REFERENCE in named or any(has_references(one, level + 1) for one in named.values())
    return isinstance(given, list) and any(has_references(one, level + 1) for one in cast("list[Any]", given))


def filled(given: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """The input with the objects of the facts that it refers to.

    Raises:
        PreconditionUnmet: a reference is malformed, or its fact is not known for sure.
    """
    return {name: _filled(value, known, 0) for name, value in given.items()}


def unmet(
    manifest: SkillManifest, services: Collection[BrokerService], known: Known
) -> PreconditionUnmet | None:
    """The first precondition that a skill declares and that is not met: a service, or a fact that is not known."""
    for one in manifest.preconditions:
        if one.service is not None and one.service not in services:
            return PreconditionUnmet(one.name, f"the service {one.service.value} is not configured here")
        if one.fact is None:
            continue
        subject, _, predicate = one.fact.rpartition(" ")
        if not known(subject, predicate):
            return PreconditionUnmet(one.name, one.description or f"{one.fact} is not known")
    return None


def _filled(value: Any, known: Known, level: int) -> Any:
    if level > MOST_LEVELS:
        return value
    if isinstance(value, list):
        return [_filled(one, known, level + 1) for one in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    named = cast("Mapping[str, Any]", value)
    if REFERENCE not in named:
        return {name: _filled(one, known, level + 1) for name, one in named.items()}
    try:
        if len(named) > 1:
            raise ValueError
        wanted = FactReference.model_validate(named[REFERENCE])
    except (ValidationError, ValueError):
        raise PreconditionUnmet(
            REFERENCE, "a reference has subject and predicate, and nothing beside it"
        ) from None
    return _object(wanted, known)


def _object(wanted: FactReference, known: Known) -> Any:
    name = f"{wanted.subject} {wanted.predicate}"
    found = known(wanted.subject, wanted.predicate)
    if not found:
        raise PreconditionUnmet(name, "the fact is not known")
    if len(found) > 1 and found[1].confidence >= found[0].confidence:
        raise PreconditionUnmet(name, "facts contradict each other, and none is surer")
    said = found[0].object
    if wanted.form == "text":
        return said
    try:
        return int(said) if wanted.form == "integer" else float(said)
    except ValueError:
        raise PreconditionUnmet(name, f"the fact is no {wanted.form}") from None
