"""Handlers that attack: each is stopped within its time plus a second, and leaves nothing behind (AM-24, AM-25, AM-28).

Every attack is followed by a good call of another skill, which is as good as ever.
"""

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.skills.manifest import ResourceProfile, SkillPermissions
from skills.runtime.runner import RanSkill
from tests.faults.patience import eventually
from tests.skills.runtime.conftest import Trial

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("isolation")]

SMALL = ResourceProfile(cpu_seconds=2, memory_mb=64, disk_mb=2)
BUDGET_MS = 700
GOOD = "async def handle(params, context):\n    return {'success': True}\n"

UNTIL_STOPPED = {
    "endless loop": "while True:\n        pass",
    "sleep": "import time; time.sleep(600)",
    "awaits for ever": "import asyncio; await asyncio.Event().wait()",
    "signals ignored": (
        "import signal, time\n"
        "    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "        try:\n            signal.signal(number, signal.SIG_IGN)\n        except OSError:\n            pass\n"
        "    while True:\n        time.sleep(600)"
    ),
    "endless output": "while True:\n        print('x' * 65536)",
    "endless output on the channel": "import os\n    while True:\n        os.write(5, b'{\"call\":')",
    "fork bomb": (
        "import os\n    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass"
    ),
    "threads": (
        "import threading, time\n    while True:\n"
        "        try:\n            threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "        except RuntimeError:\n            time.sleep(0.01)"
    ),
    "stopped": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "calls for ever": "while True:\n        await context.call_log.write({'n': 1})",
}
"""What never ends by itself: it is killed, and the run says why."""

REFUSED = {
    "100 GB in one file": "f = open('large', 'wb')\n    f.seek(100 * 10**9)\n    f.write(b'x')",
    "100 GB written": "f = open('large', 'wb')\n    while True:\n        f.write(bytes(1 << 20))",
    "many large files": (
        "n = 0\n    while True:\n        n += 1\n"
        "        with open(f'file-{n}', 'wb') as f:\n            f.write(bytes(1 << 20))"
    ),
    "memory": "held = []\n    while True:\n        held.append(bytearray(1 << 24))",
    "socket": "import socket; socket.socket()",
    "program": "import os; os.execv('/bin/ls', ['ls'])",
    "shell": "import subprocess; subprocess.run('id', shell=True, check=True)",
    "loader": "import os; os.execv('/lib64/ld-linux-x86-64.so.2', ['ld', '/bin/ls'])",
    "own program": "open('p', 'w').write('#!/bin/sh\\n'); import os; os.chmod('p', 0o755); os.execv('./p', ['p'])",
    "namespaces": "import ctypes; c = ctypes.CDLL(None); assert c.unshare(0x10000000) == 0, 'refused'",
    "mount": "import ctypes; c = ctypes.CDLL(None); assert c.mount(b'/', b'/tmp', None, 4096, None) == 0, 'refused'",
    "trace": "import ctypes; c = ctypes.CDLL(None); assert c.ptrace(16, 1, None, None) == 0, 'refused'",
    "root": "import os; os.setuid(0); assert os.getuid() != os.getuid(), 'refused'",
    "own folder": "open(__file__, 'a').write('x')",
    "write outside": "open('/etc/passwd', 'a').write('x')",
    "devices": "open('/dev/sda', 'rb').read(1)",
    "init's memory": "open('/proc/1/mem', 'rb').read(1)",
    "environment of init": "open('/proc/1/environ', 'rb').read()",
}
"""What the operating system refuses, so that the handler fails by itself."""


def of_kinds(attacks: dict[str, str], *everyday: str) -> list[Any]:
    """Attacks by name; a few of them are for every day."""
    marks = {name: [] if name in everyday else [pytest.mark.thorough] for name in attacks}
    return [pytest.param(name, marks=marks[name]) for name in attacks]


async def attacked(trial: Trial, body: str, timeout_ms: int = BUDGET_MS) -> RanSkill:
    """Runs an attack with few resources."""
    answer = "return {'success': True, 'message': 'it worked'}"
    handler = f"async def handle(params, context):\n    {body}\n    {answer}\n"
    return await trial.run(handler, resources=SMALL, timeout_ms=timeout_ms)


@pytest.fixture
async def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """After the test there are no folders of runs and no processes of theirs; ``tmp_path`` is made before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield
        assert list(folder.iterdir()) == []
        await eventually(lambda: not strangers(name), "a run's processes are left")


def strangers(folder: str) -> list[str]:
    """Processes of runs: those that a launch server has forked, and those that are in ``folder``."""
    servers: set[str] = set()
    found: list[tuple[str, str, str]] = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                found.append((process.name, parent, str((process / "cwd").readlink())))
                if parent == str(os.getpid()) and b"launch_server" in (process / "cmdline").read_bytes():
                    servers.add(process.name)
    return [name for name, parent, place in found if parent in servers or place.startswith(folder)]


@pytest.mark.acceptance("AM-25", "AM-28")
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("attack", of_kinds(UNTIL_STOPPED, "endless loop", "fork bomb", "signals ignored"))
async def test_what_does_not_end_is_ended_with_all_that_it_started(
    trial: Trial, tmp_path: Path, attack: str
) -> None:
    ran = await attacked(trial, UNTIL_STOPPED[attack])

    assert ran.failure is not None, ran.answer
    assert ran.failure.code in ("TIMEOUT", "OUTPUT_TOO_LARGE", "UNAVAILABLE"), (ran.failure, ran.log)
    await _next_is_good(tmp_path)


@pytest.mark.acceptance("AM-17", "AM-24")
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("attack", of_kinds(REFUSED, "100 GB written", "program", "socket", "memory"))
@pytest.mark.acceptance("X-36")
async def test_what_is_not_permitted_is_refused_by_the_system(
    trial: Trial, tmp_path: Path, attack: str
) -> None:
    """Also for a handler that goes round the context."""
    ran = await attacked(trial, REFUSED[attack], timeout_ms=20_000)

    assert ran.failure is not None, (ran.answer, ran.log)
    assert ran.failure.code == "HANDLER_FAILED", (ran.failure, ran.log)
    await _next_is_good(tmp_path)


@pytest.mark.acceptance("AM-25")
@pytest.mark.usefixtures("nothing_left")
async def test_a_daemon_ends_with_the_answer(trial: Trial, tmp_path: Path) -> None:
    """All children gone; the pipe that they hold open falls silent."""
    ran = await attacked(
        trial,
        "import os, time\n"
        "    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(600)\n"
        "        os._exit(0)",
    )

    assert ran.answer == {"success": True, "message": "it worked"}
    await _next_is_good(tmp_path)


async def test_neither_files_of_others_nor_secrets_can_be_read_or_found(trial: Trial, tmp_path: Path) -> None:
    """G.2: another skill's folder, the data directory, the secret store, the home, keys; by link, by open file."""
    places = [
        tmp_path / "data" / "secrets.db",
        tmp_path / "skills" / "other" / "handler.py",
        Path.home() / ".bashrc",
        Path.home() / ".ssh",
    ]
    for place in places[:2]:
        place.parent.mkdir(parents=True)
        place.write_text("canary")
    paths = [
        *map(str, places),
        "/etc/shadow",
        "/home",
        "/var/lib",
        "/proc/1/root",
        str(trial.folder),
    ]
    handler = (
        "import os\nasync def handle(params, context):\n"
        "    read = []\n"
        "    for n, path in enumerate(params['paths']):\n"
        "        os.symlink(path, f'link-{n}')\n"
        "        ways = (lambda p: open(p).read(1), os.listdir)\n"
        "        for name in (path, f'link-{n}', '/proc/self/root' + path, '../../..' + path):\n"
        "            for way in ways:\n"
        "                try:\n                    way(name)\n                    read.append(name)\n"
        "                except OSError:\n                    pass\n"
        "        try:\n            os.link(path, f'hard-{n}')\n            read.append(path)\n"
        "        except OSError:\n            pass\n"
        "    return {'success': True, 'result': read}\n"
    )
    ran = await trial.run(handler, {"paths": paths})

    assert ran.answer is not None, ran.failure
    assert ran.answer["result"] == []


async def test_no_open_file_of_the_worker_is_handed_on(trial: Trial, tmp_path: Path) -> None:
    """G.2: only the channel and the log are open."""
    (tmp_path / "secret").write_text("canary")
    with (tmp_path / "secret").open() as opened:
        os.set_inheritable(opened.fileno(), True)
        ran = await trial.run(
            "import os, stat\nasync def handle(params, context):\n"
            "    kinds = {}\n"
            "    for number in range(1024):\n"
            "        try:\n            kinds[number] = stat.S_IFMT(os.fstat(number).st_mode)\n"
            "        except OSError:\n            pass\n"
            "    files = [n for n, kind in kinds.items() if kind in (stat.S_IFREG, stat.S_IFDIR)]\n"
            "    pipes = [n for n, kind in kinds.items() if kind == stat.S_IFIFO]\n"
            "    return {'success': True, 'result': [files, pipes]}\n"
        )

    assert ran.answer is not None, ran.failure
    assert ran.answer["result"] == [[], [1, 2, 4, 5]]


async def test_nothing_of_the_workers_environment_or_memory_is_there_to_print(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G.2: printing secrets."""
    monkeypatch.setenv("OPENCLAW_GATEWAY_TOKEN", "canary-token")
    await trial.run(
        "async def handle(p, c):\n    return {'success': True}\n", {"secret": "canary-of-another-run"}
    )

    ran = await trial.run(
        "import gc, os\nfrom pathlib import Path\nasync def handle(params, context):\n"
        "    seen = [str(one).encode() for one in gc.get_objects() if isinstance(one, (dict, list, tuple))]\n"
        "    for place in Path('/proc').glob('*/*'):\n"
        "        if place.name in ('environ', 'cmdline', 'mem'):\n"
        "            try:\n                seen.append(place.read_bytes())\n"
        "            except OSError:\n                pass\n"
        "    print(os.environ)\n"
        "    found = [n for n in params['backwards'] if any(n.encode() in one[::-1] for one in seen)]\n"
        "    return {'success': True, 'result': found}\n",
        {"backwards": ["nekot-yranac", "nur-rehtona-fo-yranac"]},
    )

    assert ran.answer == {"success": True, "result": []}, ran.log
    assert "canary" not in ran.log


@pytest.fixture
def listening() -> Iterator[int]:
    """A server on the loopback that nobody may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server.getsockname()[1]
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.acceptance("AM-24")
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.acceptance("X-7")
async def test_no_handler_opens_a_connection(trial: Trial, listening: int, network: bool) -> None:
    """Also to 127.0.0.1, also by a child; what the manifest asks for is done by the broker."""
    ran = await trial.run(
        "import os, socket\nasync def handle(params, context):\n"
        "    told = []\n"
        "    for child in (False, True):\n"
        "        if child and os.fork():\n            os.wait()\n            continue\n"
        "        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):\n"
        "            try:\n"
        "                made = socket.socket(family)\n"
        "                made.connect(('127.0.0.1', params['port']))\n"
        "                told.append('connected')\n"
        "            except OSError as error:\n                told.append(error.errno)\n"
        "        if child:\n            os._exit(0)\n"
        "    return {'success': True, 'result': told}\n",
        {"port": listening},
        permissions=SkillPermissions(network=network, hosts=("127.0.0.1",)),
    )

    assert ran.answer is not None, ran.failure
    assert set(ran.answer["result"]) == {13}


async def test_a_link_in_the_folder_is_never_run(trial: Trial) -> None:
    """X-3: a link is no content that a person could have approved."""
    trial.write(GOOD)
    (trial.folder / "data").symlink_to("/etc")

    with pytest.raises(Exception, match="link"):
        await trial.run(GOOD)


async def test_attacks_at_once_do_not_hold_up_a_good_call(trial: Trial, tmp_path: Path) -> None:
    """G.2: other calls are unaffected."""
    body = UNTIL_STOPPED["fork bomb"]
    handler = f"async def handle(params, context):\n    {body}\n"
    trial.write(handler)
    attacks = [asyncio.create_task(trial.run(handler, resources=SMALL, timeout_ms=1_500)) for _ in range(3)]
    await asyncio.sleep(0)

    await _next_is_good(tmp_path)

    for ran in await asyncio.gather(*attacks):
        assert ran.failure is not None
        assert ran.failure.code == "TIMEOUT"


async def _next_is_good(tmp_path: Path) -> None:
    ran = await Trial(tmp_path / "good").run(GOOD)
    assert ran.answer == {"success": True}, (ran.failure, ran.log)


FORKS = (
    "import os, time\n"
    "held = b'x' * (40 << 20) if {shared} else b''\n"
    "async def handle(params, context):\n"
    "    for _ in range(6):\n"
    "        if os.fork() == 0:\n"
    "            own = b'' if {shared} else b'x' * (40 << 20)\n"
    "            time.sleep({seconds})\n"
    "            os._exit(0)\n"
    "    time.sleep({seconds})\n"
    "    return {{'success': True}}\n"
)


async def test_the_memory_of_all_its_processes_is_bounded_together(trial: Trial) -> None:
    """G.2: six processes of 40 MiB each, none of them over the limit by itself."""
    ran = await trial.run(
        FORKS.format(shared=False, seconds=30), resources=ResourceProfile(memory_mb=128), timeout_ms=20_000
    )

    assert ran.failure is not None
    assert ran.failure.code == "HANDLER_FAILED"
    assert "more memory than it may" in ran.failure.message


async def test_memory_that_its_processes_share_counts_once(trial: Trial) -> None:
    ran = await trial.run(
        FORKS.format(shared=True, seconds=0.4), resources=ResourceProfile(memory_mb=128), timeout_ms=20_000
    )

    assert ran.answer == {"success": True}, ran.failure
