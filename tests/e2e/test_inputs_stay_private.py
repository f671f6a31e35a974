"""Secrets planted in input files, scripts and here-documents of a recorded lesson are found nowhere afterwards."""

import zlib
from pathlib import Path

import anyio
import pytest

from tests.fixtures.canaries import canary, files_with, spellings, texts_with
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def histories(stack: Stack) -> list[str]:
    """Everything that Temporal keeps of this stack's workflows."""
    found: list[str] = []
    query = f'TaskQueue = "{stack.settings.task_queue}"'
    async for one in stack.services.client.list_workflows(query):
        handle = stack.services.client.get_workflow_handle(one.id, run_id=one.run_id)
        found.append((await handle.fetch_history()).to_json())
    return found


async def test_planted_secrets_are_found_nowhere_and_the_other_files_are_kept(
    stack: Stack, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = {name: canary(name) for name in ("named", "script", "here", "edited", "object", "password")}
    desk = tmp_path / "desk"
    (desk / ".git" / "objects" / "ab").mkdir(parents=True)
    (desk / "sales.csv").write_text("north,3\nsouth,9\n")
    (desk / ".env").write_text(f"A={secrets['named']}\n")
    (desk / "fetch.sh").write_text(
        f"curl -H 'Authorization: Bearer {secrets['script']}' https://api.example\n"
    )
    (desk / "settings.ini").write_text(f"[db]\npassword = {secrets['password']}\n")
    hidden = zlib.compress(f"blob 60\0api_token={secrets['object']}\n".encode())
    (desk / ".git" / "objects" / "ab" / ("c" * 38)).write_bytes(hidden)
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Sort the sales of a quarter by amount"})
    async with served(stack) as api:
        typed = (
            f"cat > upload.conf <<END\nhost = files.example\napi_token = {secrets['here']}\nEND",
            f"nano() {{ printf '%s\\n' 'import csv' 'token = \"{secrets['edited']}\"' > \"$1\"; }}",
            "nano clean.py",
            "sort -t, -k2 -nr sales.csv > top.csv",
        )
        assert await record(alice, api, desk, typed) == 4
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve", {"accept_unproved": True})
    assert await alice.settled("ready_for_review") == "approved"

    (state,) = stack.services.starting_states.of_session(alice.session_id)
    kept = {entry.path: entry.kept for entry in state.entries if entry.kind == "file"}
    assert kept == {
        "sales.csv": True,
        ".env": False,
        "fetch.sh": False,
        "settings.ini": False,
        f".git/objects/ab/{'c' * 38}": False,
    }
    written = [
        one
        for event in stack.services.observations.all_of(alice.session_id)
        if event.terminal is not None
        for one in event.terminal.written
    ]
    assert [(one.path, one.masked, one.text) for one in written] == [
        ("upload.conf", True, None),
        ("clean.py", True, None),
    ]
    of_temporal = await histories(stack)
    assert texts_with(of_temporal, alice.session_id)
    printed = "".join(capfd.readouterr())
    for name, secret in secrets.items():
        assert files_with(stack.settings.data_dir, secret) == [], name
        assert files_with(tmp_path / "spool", secret) == [], name
        assert texts_with([*of_temporal, caplog.text, printed], secret) == [], name
    content = (stack.settings.data_dir / "apprentice.db").read_bytes()
    wal = stack.settings.data_dir / "apprentice.db-wal"
    content += wal.read_bytes() if wal.exists() else b""
    assert hidden not in content
    assert b"north,3\nsouth,9\n" in content
    assert not any(spelling in content for spelling in spellings(secrets["object"]))


@pytest.mark.thorough
async def test_once_a_lesson_is_drafted_only_the_files_that_it_uses_are_kept(
    stack: Stack, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "sales.csv").write_text("south,9\nnorth,3\n")
    (desk / "diary.txt").write_text("Monday: rain\n")
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Sort the sales of a quarter by amount"})
    async with served(stack) as api:
        await record(alice, api, desk, ("cat diary.txt", "sort -t, -k2 -n sales.csv > top.csv"))
    await alice.act("stop")
    await alice.propose()

    (state,) = stack.services.starting_states.of_session(alice.session_id)
    assert [(entry.path, entry.kept) for entry in state.entries] == [
        ("diary.txt", False),
        ("sales.csv", True),
    ]
    with anyio.move_on_after(60):
        assert await alice.prove() == "ready_for_review"
