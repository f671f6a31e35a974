"""Secrets that a tool server was given and says again: in an answer, in what it has against a call, in a listing.

What it says is kept, shown and given to agents, so a secret in it is masked before it goes anywhere.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from clients.mcp.call_failures import ToolCallFailed
from contracts.mcp.server_registry import MCPServerRegistryEntry
from domain.learning.named_secrets import MASK, is_secret_name

SHORTEST = 8
"""Shorter ones would be found in what is no secret at all."""

_M = TypeVar("_M", bound=BaseModel)


class EchoedSecrets:
    """The secrets that one server is given."""

    def __init__(
        self,
        server: MCPServerRegistryEntry,
        bearer: str | None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """``bearer`` is sent along; of a program's variables, those count whose name is a secret's."""
        refs = server.command.environment_refs if server.command is not None else {}
        named = (
            environ.get(ref, "") for name, ref in refs.items() if is_secret_name(name) or is_secret_name(ref)
        )
        # The longest first: one may be part of another.
        given = sorted({bearer or "", *named}, key=len, reverse=True)
        self._secrets = tuple(secret for secret in given if len(secret) >= SHORTEST)

    def masked(self, said: _M) -> _M:
        """``said`` with every secret masked that was given."""
        if not self._secrets:
            return said
        plain = said.model_dump(mode="json", by_alias=False)
        masked = self._in(plain)
        return said if masked == plain else type(said).model_validate(masked)

    @contextmanager
    def masked_failures(self) -> Generator[None]:
        """A failure that leaves the block says no secret.

        Raises:
            ToolCallFailed: the same, masked.
        """
        try:
            yield
        except ToolCallFailed as raised:
            masked = self.masked(raised.failure)
            if masked is raised.failure:
                raise
            raise ToolCallFailed(masked) from None

    def _in(self, value: Any) -> Any:
        match value:
            case str():
                for secret in self._secrets:
                    value = value.replace(secret, MASK)
                return value
            case list():
                return [self._in(part) for part in cast("list[Any]", value)]
            case dict():
                parts = cast("dict[str, Any]", value)
                return {self._in(name): self._in(part) for name, part in parts.items()}
            case _:
                return value
