"""A person who calls tools of a real server over HTTP, decides about them, and sees what the server did."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.fixtures.learner import WAIT_AT_MOST_SECONDS, Learner
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

SCOPES = ("read", "learn", "call", "approve", "install")
READ = {"tool_name": "count_lines", "arguments": {}}
WRITE = {"tool_name": "append_line", "arguments": {"line": "hello"}}
DESTROY = {"tool_name": "delete_lines", "arguments": {}}
GLOBAL = {"target_kind": "global"}


@dataclass(frozen=True)
class Calling:
    """A person with a registered server whose tools are known, and what the server did."""

    stack: Stack
    person: Learner
    server: GoodServer
    server_id: str

    @property
    def target(self) -> dict[str, Any]:
        """The server as a target of policy."""
        return {"target_kind": "server", "server_id": self.server_id}

    def tool(self, call: dict[str, Any]) -> dict[str, Any]:
        """The tool of a call as a target of policy."""
        return {"target_kind": "tool", "server_id": self.server_id, "tool_name": call["tool_name"]}

    async def call(self, call: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Asks for one call; the call as it stands then."""
        body = {"server_id": self.server_id, **call, **fields}
        return await self.person.ok("POST", "/api/mcp/dispatches", body)

    async def policy(self, target: dict[str, Any], mode: str) -> dict[str, Any]:
        """Decides for a target."""
        body = {"target": target, "decision": {"mode": mode}}
        return await self.person.ok("POST", "/api/mcp/policy/update", body)

    async def preview(self, target: dict[str, Any], mode: str) -> dict[str, Any]:
        """Tries a decision out."""
        body = {"target": target, "decision": {"mode": mode}}
        return await self.person.ok("POST", "/api/mcp/policy/preview", body)

    async def decide(self, call: dict[str, Any], decision: str) -> dict[str, Any]:
        """Approves or denies a call that waits."""
        which = "deny" if decision == "deny" else "approve"
        path = f"/api/mcp/ask-first/{call['dispatch_id']}/{which}"
        return await self.person.ok("POST", path, {"decision": decision})

    async def ended(self, call: dict[str, Any]) -> dict[str, Any]:
        """The call once it neither runs nor waits any more."""
        with anyio.fail_after(WAIT_AT_MOST_SECONDS):
            while True:
                view = await self.person.ok("GET", f"/api/mcp/dispatches/{call['dispatch_id']}")
                if view["status"] not in ("running", "pending_approval"):
                    return view
                await anyio.sleep(0.02)

    async def receipts(self, kind: str) -> list[dict[str, Any]]:
        """The receipts of one kind, newest first."""
        found = await self.person.ok("GET", "/api/mcp/receipts?limit=200")
        return [one for one in found["receipts"] if one["receipt_kind"] == kind]

    async def with_another(self, provider: str) -> "Calling":
        """The same server once more, registered as another provider's."""
        return replace(self, server_id=await registered(self.person, self.server, provider))


async def registered(person: Learner, server: GoodServer, provider: str = "custom_remote") -> str:
    """Registers the server and has its tools discovered; its id."""
    body = {
        "provider": provider,
        "display_name": f"Lines of {provider}",
        "endpoint_url": server.url,
        "transport": "remote_http",
    }
    return await taken_in(person, body)


async def taken_in(person: Learner, body: dict[str, Any]) -> str:
    """Registers what ``body`` says, and has its tools discovered; its id."""
    made = await person.ok("POST", "/api/mcp/servers/register", body)
    server_id: str = made["server"]["registry"]["server_id"]
    tested = await person.ok("POST", f"/api/mcp/servers/{server_id}/smoke-test", {"server_id": server_id})
    assert tested["status"] == "passed", tested
    return server_id


@pytest.fixture
async def calling(tmp_path: Path, temporal_address: str, tool_server: GoodServer) -> AsyncIterator[Calling]:
    """Alice and a server that behaves."""
    settings = stack_settings(tmp_path, mcp_allow_private_addresses=True, secret_key_source="file")
    async with running_stack(settings, await connect(temporal_address)) as stack:
        alice = stack.learner("alice", SCOPES)
        yield Calling(stack, alice, tool_server, await registered(alice, tool_server))
