"""Tool servers that are programs on this machine."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from clients.mcp.tool_client import ToolClient
from contracts.mcp.servers import MCPServerCommand, MCPServerRegistryEntry
from contracts.mcp.tools import ToolFailureKind
from tests.fixtures.mcp_servers import registered
from tests.fixtures.processes import ended

pytestmark = pytest.mark.anyio

PROGRAM = """
import json, os, subprocess, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
mode = sys.argv[2]
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
(folder / "pids").write_text(f"{os.getpid()} {child.pid}")
(folder / "environment").write_text(json.dumps(dict(os.environ)))
print("not a message", flush=True)
print("canary-c0ffee", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "local", "version": "1"}}
    elif asked["method"] == "tools/call":
        (folder / "called").write_text(json.dumps(asked["params"]))
        if mode == "exit":
            sys.exit(3)
        if mode == "flood":
            print("x" * 5_000_000, flush=True)
        if mode == "hang":
            time.sleep(600)
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
if mode == "stay":
    time.sleep(600)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A program that answers in the mode it is started with."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    monkeypatch.setenv("SOME_SECRET", "canary-c0ffee")

    def in_mode(mode: str) -> MCPServerRegistryEntry:
        command = MCPServerCommand(
            program=sys.executable,
            arguments=(str(file), str(tmp_path), mode),
            working_folder=str(tmp_path),
            environment_refs={"GIVEN": "SOME_SECRET"},
        )
        return registered(transport="local_bridge", command=command)

    return in_mode


@pytest.fixture
def local(calls):
    """Calls that may start the Python of the tests."""
    calls.client = ToolClient(
        local_programs=[sys.executable],
        local_environment=["SOME_SECRET", "NO_SUCH_VARIABLE"],
        beat_every_seconds=0.01,
    )
    return calls


async def all_gone(folder: Path) -> None:
    """Returns once the program and its child have ended."""
    await ended(*(int(pid) for pid in (folder / "pids").read_text().split()))


@pytest.mark.parametrize("mode", ["good", "stay"])
async def test_a_program_answers_and_leaves_no_process_behind(local, program, tmp_path: Path, mode: str):
    answer = await local.make(program(mode), idempotency_key="key-1")
    assert answer.content == ({"type": "text", "text": "done"},)
    assert (answer.server_name, answer.protocol_revision) == ("local", "2025-06-18")
    assert '"apprentice/idempotency-key": "key-1"' in (tmp_path / "called").read_text()
    await all_gone(tmp_path)


async def test_a_program_gets_the_variables_that_are_named_and_no_others(
    local, program, tmp_path: Path, canary: str
):
    await local.make(program("good"))
    found = (tmp_path / "environment").read_text()
    assert f'"GIVEN": "{canary}"' in found
    given = json.loads(found)
    assert set(given) - {"LC_CTYPE"} == {"GIVEN", "HOME", "LANG", "PATH", "TMPDIR"}
    ours = {os.environ["HOME"], os.environ["PATH"], os.environ.get("TMPDIR", "/tmp")}
    assert not ours & {given["HOME"], given["PATH"], given["TMPDIR"]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mode", "kind", "timeout_ms"),
    [
        ("exit", ToolFailureKind.CONNECTION_LOST, 60_000),
        ("flood", ToolFailureKind.OUTPUT_TOO_LARGE, 60_000),
        ("hang", ToolFailureKind.TIMED_OUT, 4_000),
    ],
)
async def test_a_program_that_misbehaves_after_the_call_is_ended_with_all_it_started(
    local,
    program,
    tmp_path: Path,
    capfd: pytest.CaptureFixture,
    mode: str,
    kind: ToolFailureKind,
    timeout_ms: int,
):
    failure = await local.fail(program(mode), timeout_ms=timeout_ms)
    assert failure.kind is kind
    await all_gone(tmp_path)
    assert "canary" not in "".join(capfd.readouterr())


async def test_a_cancelled_call_ends_the_program_with_all_it_started(local, program, tmp_path: Path):
    calling = asyncio.create_task(local.make(program("hang")))
    while not (tmp_path / "called").exists():
        await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await all_gone(tmp_path)


async def test_a_program_that_dies_before_the_call_was_not_sent_it(local, tmp_path: Path):
    command = MCPServerCommand(program=sys.executable, arguments=("-c", "raise SystemExit(4)"))
    failure = await local.fail(registered(transport="local_bridge", command=command))
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert "status 4" in failure.message
    assert local.announced == 0


async def test_what_cannot_be_started_says_why(local, tmp_path: Path):
    commands = {
        "is not one of those": MCPServerCommand(program="/bin/sh"),
        "NO_SUCH_VARIABLE": MCPServerCommand(
            program=sys.executable, environment_refs={"A": "NO_SUCH_VARIABLE"}
        ),
        "does not let programs have HOME": MCPServerCommand(
            program=sys.executable, environment_refs={"A": "HOME"}
        ),
        "working folder": MCPServerCommand(program=sys.executable, working_folder=str(tmp_path / "none")),
    }
    for why, command in commands.items():
        failure = await local.fail(registered(transport="local_bridge", command=command))
        assert failure.kind is ToolFailureKind.NOT_SENT
        assert why in failure.message


@pytest.mark.thorough
@pytest.mark.timeout(400)
async def test_a_program_of_other_people_answers(calls, time_server: MCPServerCommand):
    calls.client = ToolClient(local_programs=[time_server.program])
    server = registered(transport="local_bridge", command=time_server)
    found = await calls.client.discover(server, None, lambda: None)
    assert {"get_current_time", "convert_time"} <= {one.tool_name for one in found.tools}
    answer = await calls.make(server, "get_current_time", arguments={"timezone": "Europe/Vienna"})
    assert "Europe/Vienna" in answer.content[0]["text"]
