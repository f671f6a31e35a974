"""The tools of the Acrobat adapter: a document is taken from the store, read, and what was found goes there."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from activities.mcp.preopened_connections import nothing
from clients.documents.reader import DocumentReader, ReadingFailed
from clients.documents.reading_order import document_libraries
from clients.mcp.call_failures import ToolCallFailed
from clients.mcp.tool_client import Discovery
from contracts.base import clipped
from contracts.documents.acrobat import AcrobatCapability, AcrobatOutput, AcrobatSourceRef
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolAnswer, ToolCall, ToolFailure, ToolFailureKind
from domain.documents.acrobat import DISPLAY_NAME, NOT_ARGUMENTS, REQUESTS, tool_definitions
from stores.documents.acrobat import AcrobatArtifacts, owner_of_server
from stores.platform.blobs import BlobNotFoundError
from stores.platform.canonical import canonical_json
from stores.platform.database import Database

_SPARE_SECONDS = 3.0
"""Left of the call's time for taking the document from the store and the output there."""


class AcrobatTools:
    """Calls the adapter's tools, in the shape of the client that speaks to servers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._artifacts = AcrobatArtifacts(database)
        self._reader = DocumentReader()

    async def call(
        self,
        server: MCPServerRegistryEntry,
        call: ToolCall,
        bearer: str | None,
        beat: Callable[[], None],
        about_to_send: Callable[[], Awaitable[None]] = nothing,
    ) -> ToolAnswer:
        """The reference of what was found. What is wrong with the document is the tool's own error, not a failed
        call: ``structured_content`` then has ``error_code``, ``error_message`` and, where known, ``page``.

        Raises:
            ToolCallFailed: there is no such tool, its arguments do not fit, or the server went meanwhile.
        """
        del bearer
        request = _request(call)
        owner = await asyncio.to_thread(self._owner, server.server_id)
        await about_to_send()
        try:
            return await self._done(owner, call, request, beat)
        except Refusal as refusal:
            return _error(refusal.code.value, refusal.message)
        except ReadingFailed as failed:
            return _error(failed.failure["code"], failed.failure["message"], failed.failure["page"])

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """It holds no conversation."""
        return False

    async def discover(
        self, server: MCPServerRegistryEntry, bearer: str | None, beat: Callable[[], None]
    ) -> Discovery:
        """The four tools, where a document can be read here.

        Raises:
            ToolCallFailed: the libraries are missing.
        """
        del server, bearer, beat
        if not document_libraries().reading:
            raise _failed(ToolFailureKind.NOT_SENT, "the libraries that read documents are not installed")
        return Discovery(tools=tool_definitions(), protocol_revision=None, server_name=DISPLAY_NAME)

    async def _done(
        self, owner: str, call: ToolCall, request: AcrobatSourceRef, beat: Callable[[], None]
    ) -> ToolAnswer:
        find = functools.partial(
            self._artifacts.source, owner, request.source_ref_kind, request.source_ref, datetime.now(UTC)
        )
        try:
            digest, content = await asyncio.to_thread(find)
        except BlobNotFoundError:
            return _error(ErrorCode.ACROBAT_SOURCE_NOT_FOUND.value, "the document was deleted meanwhile")
        order = {
            **request.model_dump(mode="json", exclude={*NOT_ARGUMENTS, "source_ref", "source_ref_kind"}),
            "capability": call.tool_name,
        }
        seconds = max(call.timeout_ms / 1000 - _SPARE_SECONDS, 1.0)
        reading = await self._reader.read(order, content, beat, seconds)
        output = AcrobatOutput.model_validate(
            {**reading.found, "capability": call.tool_name, "source_digest": digest}
        )
        body = canonical_json(output.model_dump(mode="json", exclude_defaults=True)).encode()
        ref = await asyncio.to_thread(self._artifacts.keep_output, owner, body, datetime.now(UTC))
        return _answer(output, ref)

    def _owner(self, server_id: str) -> str:
        with self._database.read() as connection:
            owner = owner_of_server(connection, server_id)
        if owner is None:
            raise _failed(ToolFailureKind.NOT_SENT, "the server was deleted meanwhile")
        return owner


def _request(call: ToolCall) -> AcrobatSourceRef:
    try:
        return REQUESTS[AcrobatCapability(call.tool_name)].model_validate(call.arguments)
    except ValidationError as error:
        places = sorted({".".join(str(part) for part in one["loc"]) for one in error.errors()})
        raise _failed(
            ToolFailureKind.REFUSED_BY_SERVER, f"these arguments do not fit: {', '.join(places)}"
        ) from None
    except ValueError:
        raise _failed(ToolFailureKind.TOOL_UNKNOWN, "the adapter has no tool of that name") from None


def _answer(output: AcrobatOutput, ref: str) -> ToolAnswer:
    found: dict[str, Any] = {
        "output_ref": ref,
        "page_count": output.page_count,
        "pages_read": len(output.pages_read),
        "warning_codes": list(output.warning_codes),
        "tables": len(output.tables),
        "candidates": len(output.candidates),
        "characters": sum(len(page.text) for page in output.text),
    }
    text = f"{len(output.pages_read)} of {output.page_count} pages were read; the output is {ref}"
    return ToolAnswer(
        content=({"type": "text", "text": text},),
        structured_content=found,
        output_bytes=len(canonical_json(found)),
        server_name=DISPLAY_NAME,
    )


def _error(code: str, message: str, page: int | None = None) -> ToolAnswer:
    found: dict[str, Any] = {"error_code": code, "error_message": clipped(message, 500)}
    if page is not None:
        found["page"] = page
    return ToolAnswer(
        is_error=True,
        content=({"type": "text", "text": f"{code}: {message}"},),
        structured_content=found,
        output_bytes=len(canonical_json(found)),
        server_name=DISPLAY_NAME,
    )


def _failed(kind: ToolFailureKind, message: str) -> ToolCallFailed:
    return ToolCallFailed(ToolFailure(kind=kind, message=message))
