"""A user who has a tool server, and what must be true of a call of hers whatever was killed."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.patient_learner import PatientLearner
from tests.faults.verdict import assert_sound
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.stack import EVERYDAY_SCOPES

OPEN = ("running", "pending_approval")


@dataclass
class ToolUser:
    """Asks for calls, approves them, and sees how they end."""

    deployment: Deployment
    person: PatientLearner
    server: GoodServer
    server_id: str

    async def ask(self, tool_name: str = "append_line", *, key: str | None = None, **fields: Any) -> str:
        """Asks for a call that has to be approved; its id, once it waits."""
        body = {
            "server_id": self.server_id,
            "tool_name": tool_name,
            "arguments": {"line": "x"},
            "wait_ms": 2_000,
            **fields,
        }
        asked = await self.person.ok("POST", "/api/mcp/dispatches", body, idempotency_key=key or str(uuid4()))
        dispatch_id = asked["dispatch_id"]
        await eventually(lambda: self.has_come_to(dispatch_id, "pending_approval"), "the call never waits")
        return dispatch_id

    async def approve(
        self, dispatch_id: str, decision: str = "approve_once", *, key: str | None = None
    ) -> dict[str, Any]:
        """Approves it, and is answered."""
        path = f"/api/mcp/ask-first/{dispatch_id}/approve"
        body = {"decision": decision}
        return await self.person.ok("POST", path, body, idempotency_key=key or str(uuid4()))

    async def view(self, dispatch_id: str) -> dict[str, Any]:
        """The call as it stands."""
        return await self.person.ok("GET", f"/api/mcp/dispatches/{dispatch_id}")

    async def has_come_to(self, dispatch_id: str, status: str) -> bool:
        """Whether it stands so."""
        return (await self.view(dispatch_id))["status"] == status

    async def ended(self, dispatch_id: str) -> str:
        """How it ended; what was done is what is told, it was done once at most, and the books are sound."""

        async def has_ended() -> bool:
            return (await self.view(dispatch_id))["status"] not in OPEN

        await eventually(has_ended, "the call never ends")
        found = await self.view(dispatch_id)
        effects = self.server.effects(dispatch_id)
        assert len(effects) <= 1, "a call that was approved once is made once"
        if found["status"] == "completed":
            assert len(effects) == 1
            assert found["result"]["structured_content"]["line"] == "x"
        if found["status"] == "outcome_unknown":
            assert found["error_code"] == "MCP_OUTCOME_UNKNOWN"
            assert found["next_action"]
        assert found["attempts"] >= 1
        # A worker that died while it wrote a file leaves a draft of it, until another one starts.
        verify = self.deployment.projector.verify
        await eventually(lambda: verify().differences == (), "the files never agree with the store")
        await assert_sound(self.deployment)
        return found["status"]


async def tool_user(deployment: Deployment, http: httpx.AsyncClient, server: GoodServer) -> ToolUser:
    """A user of her own, whose server's tools are known."""
    person = deployment.learner(http, (*EVERYDAY_SCOPES, "call"))
    made = await person.ok(
        "POST",
        "/api/mcp/servers/register",
        {
            "provider": "custom_remote",
            "display_name": person.user,
            "endpoint_url": server.url,
            "transport": "remote_http",
        },
    )
    server_id = made["server"]["registry"]["server_id"]
    await person.ok("POST", f"/api/mcp/servers/{server_id}/smoke-test", {"server_id": server_id})
    return ToolUser(deployment, person, server, server_id)
