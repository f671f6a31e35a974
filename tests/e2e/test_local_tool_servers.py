"""Local tool servers that remember: an agent's calls go on in one process, until nobody needs or wants it."""

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from contracts.mcp.servers import MCPServerCommand
from tests.e2e.calling import SCOPES, taken_in
from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import counting_pids, counting_program
from tests.fixtures.processes import ended, is_alive, kill
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Counting:
    """A program that counts, registered as a tool server of alice's."""

    stack: Stack
    alice: Learner
    server_id: str
    folder: Path

    async def count(self, person: Learner | None = None, **fields: Any) -> int:
        """The number of a call in the program that it was made by."""
        body = {"server_id": self.server_id, "tool_name": "count", "arguments": {}, "wait_ms": 30_000}
        view = await (person or self.alice).ok("POST", "/api/mcp/dispatches", body | fields)
        assert view["status"] == "completed", view
        return int(view["result"]["content"][0]["text"])

    def pids(self) -> list[int]:
        """Of the programs that still run."""
        return [pid for pid in counting_pids(self.folder) if is_alive(pid)]


async def registered(person: Learner, command: MCPServerCommand) -> str:
    """Registers the program as a tool server, and has its tools discovered; its id."""
    body = {"provider": "custom_remote", "display_name": "Local", "transport": "local_bridge"}
    body |= {"command": command.model_dump()}
    return await taken_in(person, body)


@pytest.fixture
async def counting(tmp_path: Path, temporal_address: str) -> AsyncIterator[Counting]:
    """The program's tools are known; the process that told them is gone."""
    folder = tmp_path / "counting"
    folder.mkdir()
    command = counting_program(folder)
    settings = stack_settings(tmp_path, mcp_local_programs=(sys.executable,), secret_key_source="file")
    async with running_stack(settings, await connect(temporal_address)) as stack:
        alice = stack.learner("alice", SCOPES)
        server_id = await registered(alice, command)
        await ended(*counting_pids(folder))
        yield Counting(stack, alice, server_id, folder)
    await ended(*counting_pids(folder))


async def test_an_agents_calls_go_on_in_one_process_and_another_agents_have_their_own(counting: Counting):
    assert [await counting.count() for _ in range(3)] == [1, 2, 3]
    assert await counting.count(session_ref="session-2") == 1
    another_agent = counting.stack.learner("alice", SCOPES)
    assert await counting.count(another_agent) == 1
    assert await counting.count() == 4
    assert len(counting.pids()) == 3


@pytest.mark.timeout(400)
async def test_a_program_of_other_peoples_is_called_through_the_funnel(
    tmp_path: Path, temporal_address: str, time_server: MCPServerCommand
):
    settings = stack_settings(tmp_path, mcp_local_programs=(time_server.program,), secret_key_source="file")
    async with running_stack(settings, await connect(temporal_address)) as stack:
        alice = stack.learner("alice", SCOPES)
        server_id = await registered(alice, time_server)
        call = {"server_id": server_id, "tool_name": "convert_time", "wait_ms": 30_000}
        call["arguments"] = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Kolkata"}
        asked = await alice.ok("POST", "/api/mcp/dispatches", call)
        if asked["status"] == "pending_approval":
            path = f"/api/mcp/ask-first/{asked['dispatch_id']}/approve"
            await alice.ok("POST", path, {"decision": "approve_once"})
        path = f"/api/mcp/dispatches/{asked['dispatch_id']}"
        with anyio.fail_after(30):
            while (view := await alice.ok("GET", path))["status"] in ("running", "pending_approval"):
                await anyio.sleep(0.02)
        assert view["status"] == "completed", view
        assert "17:30" in view["result"]["content"][0]["text"]
        receipts = (await alice.ok("GET", "/api/mcp/receipts?limit=50"))["receipts"]
        assert asked["dispatch_id"] in {one.get("dispatch_id") for one in receipts}


async def test_a_program_is_ended_when_its_server_is_switched_off(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("clients.mcp.conversations.LOOK_EVERY_SECONDS", 0.05)
    await counting.count()
    (pid,) = counting.pids()
    await counting.alice.ok("PATCH", f"/api/mcp/servers/{counting.server_id}", {"enabled": False})
    await ended(pid)


async def test_a_program_that_died_between_two_calls_is_started_anew(counting: Counting):
    assert await counting.count() == 1
    (pid,) = counting.pids()
    await kill(pid)
    assert await counting.count() == 1


async def test_a_program_that_is_to_reach_tokens_or_keys_is_not_registered(counting: Counting):
    data = counting.stack.settings.data_dir
    body = {"provider": "custom_remote", "display_name": "Files", "transport": "local_bridge"}
    for field, named in (
        ("arguments", [str(data)]),
        ("arguments", [f"--root={data}/../{data.name}/admin_token"]),
        ("working_folder", "~/.ssh".replace("~", str(Path.home()))),
        ("readable_folders", [str(data.parent)]),
        ("writable_folders", ["/"]),
    ):
        command = {"program": sys.executable, field: named}
        refused = await counting.alice.call("POST", "/api/mcp/servers/register", body | {"command": command})
        assert refused.status_code == 422, refused.text
        assert [one["path"] for one in refused.json()["error"]["fields"]] == [f"command.{field}"]


async def test_a_folder_that_is_taken_back_ends_the_program_that_had_it(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("clients.mcp.conversations.LOOK_EVERY_SECONDS", 0.05)
    await counting.count()
    (pid,) = counting.pids()
    body: dict[str, Any] = {"readable_folders": [str(counting.folder)], "writable_folders": []}
    path = f"/api/mcp/servers/{counting.server_id}"
    shown = (await counting.alice.ok("PATCH", path, body))["server"]
    assert shown["registry"]["command"]["readable_folders"] == [str(counting.folder)]
    assert shown["registry"]["command"]["writable_folders"] == []
    assert "keys" in shown["confinement"]
    await ended(pid)
