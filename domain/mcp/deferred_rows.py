"""Server rows that are shown but cannot be registered or called: parked, deferred or design only in the documents.

DOC3 L1840, Appendix FW-02…FW-14, §7B–§7D, §8; ``doc3_rows.md`` §3 item 32.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.servers import MCPRuntimeAdapter, MCPRuntimeKind, MCPServerRegistryEntry

_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DeferredRow:
    """A row of the list, and why it cannot be used."""

    entry: MCPServerRegistryEntry
    why: str
    adapter: MCPRuntimeAdapter | None = None


def _row(
    server_id: str,
    name: str,
    provider: MCPProvider,
    transport: MCPTransport,
    tools: str,
    why: str,
    data_classes: tuple[str, ...] = (),
) -> DeferredRow:
    return DeferredRow(
        MCPServerRegistryEntry(
            server_id=server_id,
            provider=provider,
            display_name=name,
            transport=transport,
            supported_tools=tuple(tools.split()),
            data_classes=data_classes,
            enabled=False,
            active_build_surface=False,
            supports_smoke_test=False,
            created_at=_SINCE,
            updated_at=_SINCE,
        ),
        why,
    )


_CUSTOM = MCPProvider.CUSTOM_REMOTE
_NATIVE = MCPProvider.PROVIDER_NATIVE
_PARKED = "It is parked: out of the active build until a release takes it up."
_WATCHED = "It is on the watch-list until a vendor's connector covers it well."
_RUNTIME = "It is a runtime that calls tools, not a server that has them; policy says what it may call."
_NATIVE_FIRST = "It is deferred: native mail and calendar paths come first and must not be shadowed."

_RUNTIMES = (
    (
        "runtime-openai",
        "OpenAI Responses / ChatGPT Apps",
        MCPRuntimeAdapter(
            runtime=MCPRuntimeKind.OPENAI_RESPONSES, supports_remote_mcp=True, supports_tool_filtering=True
        ),
    ),
    (
        "runtime-claude",
        "Claude API / Claude Code",
        MCPRuntimeAdapter(
            runtime=MCPRuntimeKind.ANTHROPIC_MESSAGES, supports_remote_mcp=True, supports_tool_filtering=True
        ),
    ),
    (
        "runtime-codex",
        "Codex",
        MCPRuntimeAdapter(
            runtime=MCPRuntimeKind.CODEX,
            supports_remote_mcp=True,
            supports_local_bridge=True,
            supports_tool_filtering=True,
            supports_server_oauth=True,
        ),
    ),
    (
        "runtime-perplexity",
        "Perplexity / other AI runtimes",
        MCPRuntimeAdapter(runtime=MCPRuntimeKind.OTHER),
    ),
)

DEFERRED_ROWS: tuple[DeferredRow, ...] = (
    _row(
        "elnor-knowledge",
        "Apprentice knowledge",
        _CUSTOM,
        MCPTransport.REMOTE_HTTP,
        "knowledge.search knowledge.fetch_document knowledge.document_index knowledge.support_packs",
        _PARKED,
    ),
    _row(
        "elnor-projects",
        "Apprentice project resolver",
        _CUSTOM,
        MCPTransport.REMOTE_HTTP,
        "project.search project.metadata project.documents project.deadlines project.contacts",
        _PARKED,
    ),
    _row(
        "elnor-local-files",
        "Apprentice local files",
        _CUSTOM,
        MCPTransport.LOCAL_BRIDGE,
        "files.list files.read",
        f"{_PARKED} It stays off until a folder is approved.",
        ("confidential",),
    ),
    _row(
        "elnor-admin-health",
        "Apprentice administration",
        _CUSTOM,
        MCPTransport.REMOTE_HTTP,
        "health.connectors health.capabilities health.diagnostics health.smoke_tests",
        f"{_PARKED} It is for trusted runtimes alone.",
    ),
    _row("m365-excel", "Microsoft Excel (cloud)", MCPProvider.M365, MCPTransport.REMOTE_HTTP, "", _WATCHED),
    _row("m365-onenote", "Microsoft OneNote", MCPProvider.M365, MCPTransport.REMOTE_HTTP, "", _WATCHED),
    _row(
        "acrobat-create-redacted-copy",
        "Acrobat: create a redacted copy",
        MCPProvider.ACROBAT,
        MCPTransport.PROVIDER_NATIVE,
        "acrobat.create_redacted_copy",
        "It is deferred: redaction is prepared and a person applies it.",
    ),
    _row(
        "acrobat-review-bundle",
        "Acrobat: prepare a review bundle",
        MCPProvider.ACROBAT,
        MCPTransport.PROVIDER_NATIVE,
        "acrobat.prepare_review_bundle",
        "It is deferred: the adapter extracts, reads and prepares redaction only.",
    ),
    _row(
        "google-gmail",
        "Gmail",
        MCPProvider.GMAIL_GOOGLE,
        MCPTransport.REMOTE_HTTP,
        "gmail.search_mail gmail.read_thread",
        _NATIVE_FIRST,
    ),
    _row(
        "google-drive",
        "Google Drive / Docs",
        MCPProvider.GMAIL_GOOGLE,
        MCPTransport.REMOTE_HTTP,
        "google.drive_search google.drive_fetch",
        "It is deferred until documents are needed that no other connector has.",
    ),
    *(
        replace(_row(server_id, name, _NATIVE, MCPTransport.PROVIDER_NATIVE, "", _RUNTIME), adapter=adapter)
        for server_id, name, adapter in _RUNTIMES
    ),
)

_BY_ID = {row.entry.server_id: row for row in DEFERRED_ROWS}
_BY_NAME = {row.entry.display_name.casefold(): row for row in DEFERRED_ROWS}
_DEFERRED_PROVIDERS = frozenset({MCPProvider.GMAIL_GOOGLE})


def refuse_deferred(server_id: str) -> None:
    """Lets pass every id but those of deferred rows.

    Raises:
        Refusal: ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
    """
    row = _BY_ID.get(server_id)
    if row is not None:
        raise _not_active(row)


def refuse_deferred_registration(provider: MCPProvider, display_name: str) -> None:
    """Lets pass what is not one of the deferred rows by its provider or name.

    Raises:
        Refusal: ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
    """
    row = _BY_NAME.get(display_name.casefold())
    if row is None and provider in _DEFERRED_PROVIDERS:
        row = next(row for row in DEFERRED_ROWS if row.entry.provider is provider)
    if row is not None:
        raise _not_active(row)


def _not_active(row: DeferredRow) -> Refusal:
    return Refusal(
        ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,
        f"{row.entry.display_name} cannot be used. {row.why}",
        server_id=row.entry.server_id,
    )
