"""A local tool server that was allowed reaches its own files and what it was granted, and no key and no token."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clients.mcp.local_program import ProgramGrounds
from clients.mcp.tool_client import ToolClient
from clients.platform.secret_fingerprints import Fingerprints, fingerprints_of
from contracts.mcp.servers import MCPServerCommand
from contracts.mcp.tools import ToolAnswer, ToolFailureKind
from host import landlock
from host.confined_program import can_confine
from host.program_places import ProgramPlaces
from tests.fixtures.mcp_servers import registered

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not can_confine(), reason="this system has no Landlock"),
]

PROGRAM = r"""
import json, os, socket, subprocess, sys
from pathlib import Path

def attempt(kind, path, other=None):
    if kind == "read":
        return Path(path).read_text()
    if kind == "read as a child":
        return subprocess.run(["sh", "-c", 'cat "$0"', path], capture_output=True, text=True, check=True).stdout
    if kind == "read as a grandchild that left":
        done = subprocess.run(["sh", "-c", 'setsid sh -c "cat \"$0\"" "$0"', path], capture_output=True, text=True)
        if done.returncode:
            raise PermissionError(done.stderr)
        return done.stdout
    if kind == "read by a link":
        link = Path(os.environ["HOME"], "link")
        link.unlink(missing_ok=True)
        link.symlink_to(path)
        return link.read_text()
    if kind == "hard link":
        os.link(path, Path(os.environ["HOME"], "hard"))
        return Path(os.environ["HOME"], "hard").read_text()
    if kind == "rename":
        os.rename(path, Path(os.environ["HOME"], "moved"))
        return "moved"
    if kind == "list":
        return " ".join(sorted(os.listdir(path)))
    if kind == "write":
        Path(path).write_text("mine")
        return "written"
    if kind == "empty":
        os.truncate(path, 0)
        return "emptied"
    if kind == "by the process that started it":
        for name in ("environ", "cwd", "root", "fd"):
            try:
                return str(os.listdir(f"/proc/{os.getppid()}/{name}"))
            except NotADirectoryError:
                return Path(f"/proc/{os.getppid()}/{name}").read_bytes().decode()
            except OSError as refused:
                error = refused
        raise error
    if kind == "open descriptors":
        places = {one: f"/proc/self/fd/{one}" for one in os.listdir("/proc/self/fd") if int(one) > 2}
        return json.dumps({one: os.readlink(place) for one, place in places.items() if os.path.exists(place)})
    if kind == "unix socket":
        socket.socket(socket.AF_UNIX)
        return "made"
    if kind == "internet socket":
        socket.socket(socket.AF_INET)
        return "made"
    if kind == "signal":
        os.kill(os.getppid(), 0)
        return "reached"
    if kind == "environment":
        return json.dumps(dict(os.environ))

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "x", "version": "1"}}
    elif asked["method"] == "tools/call":
        try:
            said, bad = attempt(**asked["params"]["arguments"]), False
        except Exception as error:
            said, bad = type(error).__name__, True
        result = {"content": [{"type": "text", "text": said}], "isError": bad}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""

TOKEN = "apr_" + "a1B2-_z9" * 5 + "xyz"
KEY = "c2lnbmluZy1rZXktb2YtdGhpcy1pbnN0YWxsYXRpb24"


class World:
    """A home with keys, a data directory, and a program that tries to reach them."""

    def __init__(self, folder: Path, calls: Any) -> None:
        self.home = folder / "home"
        self.data = folder / "data"
        self.work = folder / "work"
        self.code = folder / "code"
        for one in (self.home / ".ssh", self.data, self.work, self.code):
            one.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text("private key")
        (self.data / "admin_token").write_text(TOKEN)
        (self.work / "note.txt").write_text("a note")
        (self.code / "program.py").write_text(PROGRAM)
        self._calls = calls

    def client(self, own_secrets: Callable[[], Fingerprints] = Fingerprints) -> ToolClient:
        """A client that confines programs as the worker does."""
        places = ProgramPlaces((self.data,), self.home)
        grounds = ProgramGrounds(places, self.data / "tool-servers")
        return ToolClient(local_programs=[sys.executable], grounds=grounds, own_secrets=own_secrets)

    async def attempt(self, kind: str, path: Path | str = "", **command: Any) -> ToolAnswer:
        """What becomes of one attempt; each is a program of its own."""
        started = MCPServerCommand(
            program=sys.executable, arguments=(str(self.code / "program.py"),), **command
        )
        server = registered(transport="local_bridge", command=started)
        self._calls.client = self.client()
        return await self._calls.make(server, arguments={"kind": kind, "path": str(path)})


@pytest.fixture
def world(tmp_path: Path, calls: Any) -> World:
    """As above."""
    return World(tmp_path.resolve(), calls)


def text(answer: ToolAnswer) -> str:
    return str(answer.content[0]["text"])


ATTEMPTS = [
    "read",
    "read as a child",
    "read as a grandchild that left",
    "read by a link",
    "hard link",
    "rename",
    "write",
    "empty",
]


@pytest.mark.parametrize("kind", ATTEMPTS)
async def test_neither_the_admin_token_nor_a_key_is_reached(world: World, kind: str) -> None:
    for path in (world.data / "admin_token", world.home / ".ssh" / "id_ed25519"):
        before = path.read_text()
        answer = await world.attempt(kind, path)
        assert answer.is_error, (kind, path)
        assert path.read_text() == before


async def test_the_folders_of_keys_and_of_data_cannot_be_listed_or_written_into(world: World) -> None:
    for folder in (world.data, world.home / ".ssh", world.home, Path("/root"), world.data / "tool-servers"):
        assert (await world.attempt("list", folder)).is_error, folder
    assert (await world.attempt("write", world.data / "new")).is_error
    assert not (world.data / "new").exists()


async def test_no_open_file_no_variable_and_no_other_process_is_handed_down(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_DATABASE_URL", "sqlite:///secret")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    kept = os.open(world.data / "admin_token", os.O_RDONLY)
    os.set_inheritable(kept, True)
    try:
        assert json.loads(text(await world.attempt("open descriptors"))) == {}
    finally:
        os.close(kept)
    found = json.loads(text(await world.attempt("environment")))
    assert set(found) - {"LC_CTYPE"} == {"HOME", "LANG", "PATH", "TMPDIR"}
    assert (await world.attempt("by the process that started it")).is_error
    assert (await world.attempt("unix socket")).is_error
    if landlock.abi_version() >= landlock.FIRST_ABI_THAT_GUARDS_SIGNALS:
        assert (await world.attempt("signal")).is_error


async def test_the_network_its_own_folder_and_its_working_folder_are_there(world: World) -> None:
    assert text(await world.attempt("internet socket")) == "made"
    found = json.loads(text(await world.attempt("environment")))
    assert Path(found["HOME"]).parent == world.data / "tool-servers"
    assert text(await world.attempt("write", Path(found["TMPDIR"], "x"))) == "written"
    # Its files are there again for the next one.
    assert text(await world.attempt("read", Path(found["TMPDIR"], "x"))) == "mine"
    note = world.work / "note.txt"
    assert (await world.attempt("read", note)).is_error
    assert text(await world.attempt("read", note, working_folder=str(world.work))) == "a note"


async def test_a_folder_that_is_granted_can_be_read_and_written_as_granted_and_not_around(
    world: World,
) -> None:
    note, secret = world.work / "note.txt", world.work.parent / "other.txt"
    secret.write_text("other")
    granted = {"readable_folders": (str(world.work),)}
    assert text(await world.attempt("read", note, **granted)) == "a note"
    assert (await world.attempt("write", note, **granted)).is_error
    (world.work / "out").symlink_to(world.home / ".ssh")
    assert (await world.attempt("read", world.work / "out" / "id_ed25519", **granted)).is_error
    granted = {"writable_folders": (str(world.work),)}
    assert text(await world.attempt("write", note, **granted)) == "written"
    assert (await world.attempt("read", secret, **granted)).is_error


async def test_a_program_whose_grant_became_a_link_to_keys_is_not_started(world: World, calls: Any) -> None:
    granted = world.work / "shared"
    granted.symlink_to(world.home / ".ssh")
    command = MCPServerCommand(
        program=sys.executable,
        arguments=(str(world.code / "program.py"),),
        readable_folders=(str(granted),),
    )
    calls.client = world.client()
    failure = await calls.fail(registered(transport="local_bridge", command=command))
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert "~/.ssh" in failure.message


async def test_our_own_tokens_and_keys_are_masked_wherever_a_program_has_them_from(
    world: World, calls: Any
) -> None:
    leaked = world.work / "leaked.txt"
    leaked.write_text(f"token {TOKEN}, key {KEY}=")
    command = MCPServerCommand(
        program=sys.executable,
        arguments=(str(world.code / "program.py"),),
        readable_folders=(str(world.work),),
    )
    calls.client = world.client(lambda: Fingerprints(fingerprints_of(KEY)))
    server = registered(transport="local_bridge", command=command)
    answer = await calls.make(server, arguments={"kind": "read", "path": str(leaked)})
    assert text(answer) == "token [MASKED], key [MASKED]="


async def test_the_services_own_variables_are_not_handed_on_even_if_the_operator_lists_them(
    world: World, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_API_TOKEN", TOKEN)
    command = MCPServerCommand(program=sys.executable, environment_refs={"X": "APPRENTICE_API_TOKEN"})
    calls.client = ToolClient(local_programs=[sys.executable], local_environment=["APPRENTICE_API_TOKEN"])
    failure = await calls.fail(registered(transport="local_bridge", command=command))
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert "for itself alone" in failure.message
