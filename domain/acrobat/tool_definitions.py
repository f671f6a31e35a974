"""The adapter as a server with tools, so that policy, approval and receipts hold for it as for any other."""

from datetime import datetime
from typing import Any

from contracts.adapters.acrobat import (
    AcrobatCapability,
    AcrobatExtractTablesRequest,
    AcrobatExtractTextRequest,
    AcrobatOCRRequest,
    AcrobatRedactionPrepRequest,
    AcrobatSourceRef,
)
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tools import MCPToolDefinition

DISPLAY_NAME = "Acrobat (PDF)"

REQUESTS: dict[AcrobatCapability, type[AcrobatSourceRef]] = {
    AcrobatCapability.EXTRACT_TEXT: AcrobatExtractTextRequest,
    AcrobatCapability.EXTRACT_TABLES: AcrobatExtractTablesRequest,
    AcrobatCapability.OCR: AcrobatOCRRequest,
    AcrobatCapability.REDACTION_PREP: AcrobatRedactionPrepRequest,
}
"""What each tool is asked with."""

NOT_ARGUMENTS = frozenset({"capability", "client_request_id", "data_class", "schema_version"})
"""Fields of a request that are about the call and not for the tool."""

_TOLD = {
    AcrobatCapability.EXTRACT_TEXT: ("Extract text", "The text of a PDF document, page by page."),
    AcrobatCapability.EXTRACT_TABLES: ("Extract tables", "The tables of a PDF document, cell by cell."),
    AcrobatCapability.OCR: ("Recognise text", "The text in the pictures of a PDF document, page by page."),
    AcrobatCapability.REDACTION_PREP: (
        "Prepare redaction",
        "Where a PDF document holds what should be blacked out, as a bundle to review. The document stays as it is.",
    ),
}


def adapter_server(server_id: str, at: datetime) -> MCPServerRegistryEntry:
    """The registry's entry of the adapter, which is new at ``at``."""
    return MCPServerRegistryEntry(
        server_id=server_id,
        provider=MCPProvider.ACROBAT,
        display_name=DISPLAY_NAME,
        transport=MCPTransport.LOCAL_BRIDGE,
        supported_tools=tuple(capability.value for capability in AcrobatCapability),
        supports_smoke_test=False,
        created_at=at,
        updated_at=at,
    )


def tool_definitions() -> tuple[MCPToolDefinition, ...]:
    """The four tools. Preparing redaction says that it is no mere reading: it asks first by default."""
    return tuple(
        MCPToolDefinition(
            tool_name=capability.value,
            title=_TOLD[capability][0],
            description=_TOLD[capability][1],
            input_schema=_arguments_of(request),
            output_schema={
                "type": "object",
                "properties": {"output_ref": {"type": "string"}},
                "required": ["output_ref"],
            },
            read_only=capability is not AcrobatCapability.REDACTION_PREP,
            destructive=False,
            idempotent=True,
        )
        for capability, request in REQUESTS.items()
    )


def arguments_of(request: AcrobatSourceRef) -> dict[str, Any]:
    """The arguments of the call that a request stands for; what is left out or as usual is not among them."""
    whole = request.model_dump(mode="json", exclude=set(NOT_ARGUMENTS), exclude_defaults=True)
    return {"source_ref_kind": request.source_ref_kind.value, "source_ref": request.source_ref, **whole}


def _arguments_of(request: type[AcrobatSourceRef]) -> dict[str, Any]:
    schema = request.model_json_schema()
    schema["properties"] = {
        name: told for name, told in schema["properties"].items() if name not in NOT_ARGUMENTS
    }
    return schema
