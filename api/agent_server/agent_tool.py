"""One tool that agents are offered: its schemas, its scope, and what it does."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcp_types import CallToolResult, InputRequiredResult, Tool, ToolAnnotations
from pydantic import BaseModel
from uuid_utils import uuid7

from api.mcp_callers import runtime_of
from api.own_keys import OWN_KEY_PREFIX
from api.services import Services
from contracts.learning.aggregate import CommitKey
from contracts.runtime.identity import Principal, Scope
from stores.canonical import canonical_json, digest_of

Taken = TypeVar("Taken", bound=BaseModel)

_KEY_PREFIX = "agent-"
# An agent's key is no client's key of the REST API: the same text may stand for different requests there.


@dataclass(frozen=True)
class AgentRequest:
    """Who calls, with what the protocol says beside the arguments."""

    services: Services
    caller: Principal
    correlation_id: str
    operations: frozenset[str]
    """What this deployment answers; a tool of a part that is not whole refuses."""
    client_name: str | None = None
    """What the client calls itself; its own word."""
    idempotency_key: str | None = None
    resumed_state: str | None = None
    """What was answered before as the state to come back with."""
    opens_links: bool = False
    """Whether the client can show its user a link and say when that is done."""

    def runtime(self, said: str | None) -> str | None:
        """The runtime that calls: the token's, else what the agent says, else its client's name."""
        return runtime_of(self.caller, said, self.client_name)

    def key_for(self, tool: str, given: BaseModel) -> CommitKey | None:
        """The key of this request, if it has one."""
        if self.idempotency_key is None:
            return None
        request = {"tool": tool, "given": given.model_dump(mode="json")}
        return CommitKey(
            owner_user_id=self.caller.user_id,
            key=_KEY_PREFIX + self.idempotency_key,
            request_digest=digest_of(canonical_json(request)),
        )

    def key_or_own(self, tool: str, given: BaseModel) -> CommitKey:
        """The key of this request, else one that nobody can ask with again."""
        own = CommitKey(
            owner_user_id=self.caller.user_id,
            key=f"{OWN_KEY_PREFIX}{uuid7()}",
            request_digest=digest_of(canonical_json({"tool": tool})),
        )
        return self.key_for(tool, given) or own


@dataclass(frozen=True)
class AgentTool(Generic[Taken]):
    """A tool. ``run`` raises ``Refusal`` for what is refused."""

    name: str
    title: str
    description: str
    scope: Scope
    takes: type[Taken]
    answers: type[BaseModel]
    annotations: ToolAnnotations
    run: Callable[[AgentRequest, Taken], Awaitable[CallToolResult | InputRequiredResult]]

    def allowed(self, caller: Principal) -> bool:
        """Whether the caller's token has the scope; ``admin`` has every right."""
        return self.scope in caller.scopes or Scope.ADMIN in caller.scopes

    def described(self) -> Tool:
        """The tool as it is listed."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_schema(self.takes, "validation"),
            output_schema=_schema(self.answers, "serialization"),
            annotations=self.annotations,
        )


def _schema(model: type[BaseModel], mode: Any) -> dict[str, Any]:
    return model.model_json_schema(mode=mode)
