"""Answers in the protocol's words: structured content that fits the tool's schema, and the same as text."""

from typing import Any

from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import BaseModel, ValidationError

from contracts.base import clipped
from contracts.errors import ERROR_RULES, ErrorCode, Refusal

_HINTS: dict[ErrorCode, str] = {
    ErrorCode.FORBIDDEN: "Ask a person for a token with that scope; do not try again with this one.",
    ErrorCode.ABILITY_NOT_FOUND: "find_ability says which abilities there are.",
    ErrorCode.MCP_SERVER_NOT_FOUND: "find_tool says which tools of which servers may be called.",
    ErrorCode.MCP_TOOL_NOT_FOUND: "find_tool says which tools of which servers may be called.",
    ErrorCode.MCP_POLICY_BLOCKED: "A person forbade this call; do not try again, tell the user.",
    ErrorCode.MCP_DISPATCH_NOT_FOUND: "Use the dispatch_id that call_tool answered.",
    ErrorCode.VALIDATION_FAILED: "Correct the arguments by the tool's input schema.",
}
"""What an agent does about a refusal, where the refusal does not say so itself."""


def structured(answer: BaseModel, *, content: list[ContentBlock] | None = None) -> CallToolResult:
    """``answer`` as structured content; ``content`` is shown instead of its JSON."""
    return CallToolResult(
        content=content or [TextContent(text=answer.model_dump_json(exclude_none=True))],
        structured_content=answer.model_dump(mode="json"),
    )


def refused(refusal: Refusal, correlation_id: str) -> CallToolResult:
    """A refusal as a tool error: the code, what is wrong, and what to do next."""
    retryable = ERROR_RULES[refusal.code].retryable
    fallback = "Try again in a few seconds." if retryable else "Do not repeat the same call; tell the user."
    error: dict[str, Any] = {
        "code": refusal.code.value,
        "message": refusal.message,
        "retryable": retryable,
        "next_step": refusal.extra.get("next_action") or _HINTS.get(refusal.code, fallback),
        "correlation_id": correlation_id,
        **{name: value for name, value in refusal.extra.items() if name != "next_action"},
    }
    text = "\n".join((f"{error['code']}: {error['message']}", f"Next: {error['next_step']}"))
    return CallToolResult(
        content=[TextContent(text=text)], structured_content={"error": error}, is_error=True
    )


def invalid_arguments(error: ValidationError) -> Refusal:
    """Which argument is wrong, and how; never its value, which may be a secret in the wrong place."""
    fields = [
        {
            "path": clipped(".".join(str(part) for part in found["loc"]) or "arguments", 160),
            "problem": clipped(found["msg"], 200),
        }
        for found in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = f" ({len(fields) - 1} more)" if len(fields) > 1 else ""
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        clipped(f"{fields[0]['path']}: {fields[0]['problem']}{more}", 240),
        fields=fields[:20],
    )
