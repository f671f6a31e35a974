"""The real tool client, with traps where a process that dies leaves a call in doubt."""

from typing import Any

from clients.mcp.tool_client import AboutToSend, Beat, ToolClient
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolAnswer, ToolCall
from tests.faults.traps import Traps

WRITTEN = "call.written"
"""It is written that the call goes out, and it has not gone out."""

ANSWERED = "call.answered"
"""The tool has answered, and nobody has written it."""


def trapped(traps: Traps) -> type[ToolClient]:
    """The client's class, which passes by these traps."""

    class TrappedToolClient(ToolClient):
        async def call(
            self,
            server: MCPServerRegistryEntry,
            call: ToolCall,
            bearer: str | None,
            beat: Beat,
            about_to_send: AboutToSend | None = None,
        ) -> ToolAnswer:
            async def announce() -> None:
                if about_to_send is not None:
                    await about_to_send()
                await traps.wait_at(WRITTEN)
                traps.come_by(WRITTEN)

            answer: Any = await super().call(server, call, bearer, beat, announce)
            await traps.wait_at(ANSWERED)
            traps.come_by(ANSWERED)
            return answer

    return TrappedToolClient
