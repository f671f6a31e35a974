"""What an external AI runtime can do with tool servers by itself (DOC3 §1.1S "Runtime adapter record")."""

from enum import StrEnum

from contracts.base import VersionedContract


class MCPRuntimeKind(StrEnum):
    """A runtime that calls tools; none of them is a place where documents are."""

    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    CODEX = "codex"
    OPENCLAW_WORKER = "openclaw_worker"
    OTHER = "other"


class MCPRuntimeAdapter(VersionedContract):
    """What a runtime supports of its own; through the gateway every one has filtering, sign-in and receipts."""

    runtime: MCPRuntimeKind
    supports_remote_mcp: bool = False
    supports_local_bridge: bool = False
    supports_tool_filtering: bool = False
    supports_server_oauth: bool = False
    supports_receipt_hooks: bool = False
