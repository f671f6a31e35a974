"""An MCP tool offered to agents: input and output schema, required scope, handler.

Results are structured content that fits the output schema, and the same as text.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcp_types import CallToolResult, ContentBlock, InputRequiredResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ValidationError
from uuid_utils import uuid7

from api.services import Services
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.plain_problems import field_problems, in_a_sentence
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from domain.mcp.policy_facts import runtime_of
from gateways.platform.updates import OWN_KEY_PREFIX
from stores.platform.canonical import canonical_json, digest_of

Taken = TypeVar("Taken", bound=BaseModel)

_KEY_PREFIX = "agent-"
# An agent's key is no client's key of the REST API: the same text may stand for different requests there.


@dataclass(frozen=True)
class AgentRequest:
    """The caller and the protocol's metadata of a tool call."""

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
    """Whether the client supports URL elicitation."""

    def runtime(self, claimed: str | None) -> str | None:
        """The calling runtime: the token's, else the one the agent claims, else its client's name."""
        return runtime_of(self.caller, claimed, self.client_name)

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
        """The idempotency key of this request, else a generated one."""
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
        return caller.may(self.scope)

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


_HINTS: dict[ErrorCode, str] = {
    ErrorCode.FORBIDDEN: "Ask a person for a token with that scope; do not try again with this one.",
    ErrorCode.ABILITY_NOT_FOUND: "find_ability says which abilities there are.",
    ErrorCode.ABILITY_TOOL_NOT_ALLOWED: "Use only tools that the skill's allowed-tools name; tell the user.",
    ErrorCode.MCP_SERVER_NOT_FOUND: "find_tool says which tools of which servers may be called.",
    ErrorCode.MCP_TOOL_NOT_FOUND: "find_tool says which tools of which servers may be called.",
    ErrorCode.MCP_POLICY_BLOCKED: "A person forbade this call; do not try again, tell the user.",
    ErrorCode.MCP_DISPATCH_NOT_FOUND: "Use the dispatch_id that call_tool answered.",
    ErrorCode.VALIDATION_FAILED: "Correct the arguments by the tool's input schema.",
}
"""The next step for an agent, by error code, where the refusal does not contain one."""


def structured(answer: BaseModel, *, content: list[ContentBlock] | None = None) -> CallToolResult:
    """``answer`` as structured content; ``content`` is shown instead of its JSON."""
    return CallToolResult(
        content=content or [TextContent(text=answer.model_dump_json(exclude_none=True))],
        structured_content=answer.model_dump(mode="json"),
    )


def refused(refusal: Refusal, correlation_id: str) -> CallToolResult:
    """A refusal as a tool error: the code, what is wrong, and what to do next; then all of it as JSON.

    It is text alone: clients hold structured content against the tool's output schema, of an error too.
    """
    fallback = (
        "Try again in a few seconds." if refusal.retryable else "Do not repeat the same call; tell the user."
    )
    error: dict[str, Any] = {
        "code": refusal.code.value,
        "message": refusal.message,
        "retryable": refusal.retryable,
        "next_step": refusal.extra.get("next_action") or _HINTS.get(refusal.code, fallback),
        "correlation_id": correlation_id,
        **{name: value for name, value in refusal.extra.items() if name != "next_action"},
    }
    text = "\n".join((f"{error['code']}: {error['message']}", f"Next: {error['next_step']}"))
    return CallToolResult(
        content=[TextContent(text=text), TextContent(text=canonical_json({"error": error}))], is_error=True
    )


def invalid_arguments(error: ValidationError) -> Refusal:
    """Which argument is wrong, and how; never its value, which may be a secret in the wrong place."""
    problems = field_problems(error, whole="arguments")
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        clipped(in_a_sentence(problems), 240),
        fields=[one._asdict() for one in problems[:20]],
    )
