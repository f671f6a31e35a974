"""A worker ends: the local tool servers that it kept for the next call end with it, and the next one starts its own."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.fixtures.mcp_servers import counting_pids, counting_program
from tests.fixtures.processes import ended, is_alive
from tests.fixtures.stack import EVERYDAY_SCOPES

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("end", [Deployment.kill_workers, Deployment.stop_workers])
async def test_a_program_ends_with_its_worker(
    deployment: Deployment, http: httpx.AsyncClient, tmp_path: Path, end: Callable[[Deployment], None]
) -> None:
    person = deployment.learner(http, (*EVERYDAY_SCOPES, "call"))
    folder = tmp_path / "counting"
    folder.mkdir()
    body = {"provider": "custom_remote", "display_name": person.user, "transport": "local_bridge"}
    body |= {"command": counting_program(folder).model_dump()}
    made = await person.ok("POST", "/api/mcp/servers/register", body)
    server_id = made["server"]["registry"]["server_id"]
    await person.ok("POST", f"/api/mcp/servers/{server_id}/smoke-test", {"server_id": server_id})

    async def count() -> str:
        asked = {"server_id": server_id, "tool_name": "count", "arguments": {}, "wait_ms": 60_000}
        view = await person.ok("POST", "/api/mcp/dispatches", asked)
        assert view["status"] == "completed", view
        return view["result"]["content"][0]["text"]

    assert await count() == "1"
    assert any(map(is_alive, counting_pids(folder)))
    end(deployment)
    await ended(*counting_pids(folder))
    deployment.start_workers()
    assert await count() == "1"
