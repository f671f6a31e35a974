"""Reads a feed that is a resource of a tool server (MCP), at an address that the operator configured (CH-09)."""

import base64
from typing import cast

import anyio
from mcp import MCPError
from mcp_types import BlobResourceContents, TextResourceContents

from clients.mcp.wire_record import WireRecord
from clients.skills.configured_server import configured_server

RESOURCE = "mcp+"
"""Before the address of a server whose resource is meant; its URI follows after ``#``."""


class ResourceFailed(Exception):
    """There is no resource. ``code`` is one of the documents'; the text holds nothing of the answer."""

    def __init__(self, code: str, text: str, retry_after_ms: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.retry_after_ms = retry_after_ms


async def read_resource(source: str, most_bytes: int) -> bytes:
    """The content of the resource that ``mcp+http://host/mcp#URI`` names; several contents follow one another.

    The time is the caller's to bound.

    Raises:
        ResourceFailed: ``NETWORK_ERROR``, ``RATE_LIMITED``, ``VALIDATION_FAILED`` (too long), ``PLATFORM_UNAVAILABLE``
            (the server refuses, or has no such resource).
    """
    address, _, uri = source.removeprefix(RESOURCE).partition("#")
    scope = anyio.CancelScope()
    record = WireRecord(body_limit=most_bytes, end=scope.cancel)
    body = b""
    error: Exception | None = None
    with scope:
        try:
            body = await _read(address, uri, record)
        except Exception as caught:
            # The SDK wraps what goes wrong in groups of exceptions of many kinds.
            error = caught
    if record.too_large or len(body) > most_bytes:
        raise ResourceFailed("VALIDATION_FAILED", f"is longer than {most_bytes // 1024 // 1024} MiB")
    if record.refusal is not None:
        raise _refused(record)
    if error is not None:
        if _of_the_server(error):
            raise ResourceFailed(
                "PLATFORM_UNAVAILABLE", "has no such resource, or does not give it"
            ) from None
        raise ResourceFailed("NETWORK_ERROR", f"cannot be reached ({type(error).__name__})") from None
    return body


async def _read(address: str, uri: str, record: WireRecord) -> bytes:
    async with configured_server(address, record) as client:
        result = await client.read_resource(uri)
    return b"".join(_bytes_of(one) for one in result.contents)


def _bytes_of(content: TextResourceContents | BlobResourceContents) -> bytes:
    if isinstance(content, TextResourceContents):
        return content.text.encode()
    return base64.b64decode(content.blob)


def _refused(record: WireRecord) -> ResourceFailed:
    assert record.refusal is not None
    status = record.refusal.status
    if status == 429:
        return ResourceFailed(
            "RATE_LIMITED", "answered 429: too many requests", record.refusal.retry_after_ms
        )
    return ResourceFailed("PLATFORM_UNAVAILABLE", f"answered {status}")


def _of_the_server(error: BaseException) -> bool:
    """Whether the server itself answered with an error of the protocol."""
    if isinstance(error, BaseExceptionGroup):
        return any(_of_the_server(one) for one in cast("BaseExceptionGroup[Exception]", error).exceptions)
    return isinstance(error, MCPError)
