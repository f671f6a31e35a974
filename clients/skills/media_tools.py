"""Has a tool server (MCP) make a picture or a video: ``ideogram`` for pictures, ``runwayml`` for videos (002 L273)."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from mcp import MCPError
from mcp_types import TextContent

from clients.skills.configured_server import configured_server

TOOLS: Mapping[str, str] = {"image": "ideogram", "video": "runwayml"}
MOST_URLS = 10

_URL = re.compile(r"https?://[^\s\"'<>]{1,2000}")


class MediaFailed(Exception):
    """Nothing was made; the text holds nothing of the answer."""


class MediaTools:
    """Calls one tool at a time at the addresses that the operator configured."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        """``addresses`` by kind: ``image``, ``video``."""
        self._addresses = addresses

    def has(self, kind: str) -> bool:
        """Whether there is a tool for a kind."""
        return kind in self._addresses

    async def make(self, kind: str, prompt: str, within_seconds: float) -> tuple[str, ...]:
        """The addresses of what was made.

        Raises:
            MediaFailed: the server cannot be reached, fails, is too slow, or names no address.
        """
        tool = TOOLS[kind]
        try:
            async with asyncio.timeout(within_seconds):
                said = await self._called(self._addresses[kind], tool, {"prompt": prompt})
        except TimeoutError:
            raise MediaFailed(f"{tool} did not answer within {within_seconds:g} s") from None
        except Exception as error:
            # The SDK wraps what goes wrong in groups of exceptions of many kinds.
            raise MediaFailed(f"{tool} failed ({type(error).__name__})") from None
        urls = tuple(dict.fromkeys(_URL.findall(said)))[:MOST_URLS]
        if not urls:
            raise MediaFailed(f"{tool} named no address of what it made")
        return urls

    async def _called(self, address: str, tool: str, arguments: dict[str, Any]) -> str:
        async with configured_server(address) as client:
            result = await client.call_tool(tool, arguments)
        if result.is_error:
            raise MCPError(0, "the tool says that it failed")
        texts = [part.text for part in result.content if isinstance(part, TextContent)]
        return "\n".join([*texts, str(result.structured_content or "")])
