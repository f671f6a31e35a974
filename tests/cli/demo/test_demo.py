"""``apprentice demo`` for real: it tells the whole story, and leaves nothing running and nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-P", "-m", "cli.main", "demo"]

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's own temporary folders are made here."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for_pids(demo: subprocess.Popen[str], folder: Path) -> list[int]:
    """The process ids of what the demo runs, once everything is ready."""
    while demo.poll() is None:
        for ready in folder.glob("**/ready.json"):
            return list(json.loads(ready.read_text())["pids"].values())
        time.sleep(0.05)
    raise AssertionError(f"the demo ended: {demo.communicate()}")


@pytest.mark.thorough
def test_the_demo_teaches_proves_installs_and_finds_an_ability(temporary: Path) -> None:
    demo = subprocess.run([*COMMAND, "--json"], capture_output=True, text=True, check=False)
    assert demo.returncode == 0, demo.stdout + demo.stderr
    story = json.loads(demo.stdout)

    assert story["ok"] is True
    assert all(step["ok"] for step in story["steps"])
    assert story["ability_id"].startswith("learned.")
    assert story["skill_path"].endswith("/SKILL.md")
    assert set(story["temporal_ui"]) == {"session", "validation", "install"}
    assert list(temporary.iterdir()) == []


@pytest.mark.thorough
def test_an_interrupted_demo_stops_everything_and_keeps_the_logs(temporary: Path) -> None:
    demo = subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    pids = wait_for_pids(demo, temporary)
    demo.send_signal(signal.SIGINT)
    _, complaint = demo.communicate()

    assert demo.returncode == 1
    assert not any(is_running(pid) for pid in pids)
    (logs,) = temporary.iterdir()
    assert str(logs) in complaint
    assert (logs / "api.log").is_file()


@pytest.mark.thorough
def test_a_kept_demo_stays_up_until_it_is_stopped(temporary: Path) -> None:
    demo = subprocess.Popen(
        [*COMMAND, "--keep", "--data-dir", str(temporary / "kept")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pids = wait_for_pids(demo, temporary)
    assert demo.stdout is not None
    told: list[str] = []
    while "Still running" not in (line := demo.stdout.readline()):
        assert line, "the demo ended before it said that it stays"
        told.append(line)
    hints = [demo.stdout.readline() for _ in range(4)]
    assert f"/console; its token is in {temporary / 'kept' / 'admin_token'}." in hints[-1]
    assert all(is_running(pid) for pid in pids)
    demo.send_signal(signal.SIGTERM)
    rest, complaint = demo.communicate()

    assert demo.returncode == 0, complaint
    assert "Nothing is left running" in rest
    assert not any(is_running(pid) for pid in pids)
    assert (temporary / "kept" / "openclaw-workspace").is_dir()
