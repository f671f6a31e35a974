"""The services that handlers of skills may reach, put together for one invocation."""

from collections.abc import Mapping
from functools import partial

from activities.skills.services.offered import Asker, Offering, ask
from skills.runtime.runner import Service


class SkillServices:
    """Every service that this installation has, by the name that a manifest asks for it."""

    def __init__(self, offerings: Mapping[str, Offering]) -> None:
        self._offerings = offerings
        self.reads = frozenset(
            f"{service}.{name}"
            for service, offering in offerings.items()
            for name, method in offering.methods.items()
            if method.reads
        )
        """The methods that change nothing, as ``service.method``."""

    def of(self, asker: Asker) -> Mapping[str, Service]:
        """The services as ``asker`` reaches them; the broker decides which of them it may."""
        return {name: partial(ask, offering, asker) for name, offering in self._offerings.items()}
