"""The method of an installed ability is tried on another folder: same commands, other values, nothing else touched."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from contracts.learning.starting_state import ARCHIVE_TYPE
from host.folder_archive import ArchiveLimits, pack_folder, unpack_folder
from stores.platform.journal.chains import verify_chains
from stores.platform.projection.projector import Projector
from tests.e2e.test_two_demonstrations import show_twice
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

LIMITS = ArchiveLimits(100, 1_000_000)


async def taught(stack: Stack) -> tuple[Learner, str]:
    """An ability with the parameters quarter and customer."""
    alice = stack.learner()
    await show_twice(alice)
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    (entry,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    return alice, entry["ability_id"]


async def handed_in(learner: Learner, folder: Path) -> str:
    return await handed_in_archive(learner, pack_folder(folder, LIMITS))


async def handed_in_archive(learner: Learner, archive: bytes) -> str:
    answer = await learner.http.post(
        "/api/abilities/trials/folders",
        content=archive,
        headers={"Content-Type": ARCHIVE_TYPE, "Authorization": f"Bearer {learner.secret}"},
    )
    assert answer.status_code == 201, answer.text
    ref: str = answer.json()["folder_ref"]
    return ref


async def ended(learner: Learner, trial_id: str) -> dict[str, Any]:
    with anyio.fail_after(60):
        while (run := await learner.ok("GET", f"/api/abilities/trials/{trial_id}"))["state"] == "running":
            await anyio.sleep(0.05)
    return run


def folder_with_git(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "notes.txt").write_text("kept\n")
    return folder


@pytest.mark.acceptance("R11.2-21")
async def test_a_method_runs_on_another_folder_with_other_values_and_hands_the_result_out(
    stack: Stack, tmp_path: Path
) -> None:
    alice, ability_id = await taught(stack)
    folder = folder_with_git(tmp_path)
    detail = await alice.ok("GET", f"/api/abilities/{ability_id}")
    parameters = {one["shown"]: one for one in detail["parameters"]}
    assert parameters["q3"]["required"] is True
    values = {parameters["q3"]["name"]: "q1", parameters["anna"]["name"]: "it's $(touch x)"}

    started = await alice.ok(
        "POST",
        f"/api/abilities/{ability_id}/trials",
        {"folder_ref": await handed_in(alice, folder), "values": values},
    )
    run = await ended(alice, started["trial_id"])
    assert (run["state"], [one["result"] for one in run["commands"]]) == ("passed", ["worked"] * 4), run
    archive = await alice.call("GET", f"/api/abilities/trials/{run['trial_id']}/result")
    assert archive.headers["content-type"] == ARCHIVE_TYPE
    out = tmp_path / "out"
    out.mkdir()
    unpack_folder(archive.content, out, LIMITS)
    assert (out / "reports/q1/top.txt").read_text() == "south,9\nnorth,3\n"
    assert (out / "reports/q1/it's $(touch x).csv").is_file()
    assert (out / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (out / "notes.txt").is_file()
    assert not (out / "x").exists()
    assert sorted(path.name for path in folder.iterdir()) == [".git", "notes.txt"]

    # Nobody reported a checkpoint: reporting is voluntary, the run has succeeded and the ability stays usable.
    entry = await alice.ok("GET", f"/api/abilities/{ability_id}/availability")
    assert (entry["usable_now"], entry["checkpoint_health"]) == (True, "no_data")
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    assert not list(stack.settings.memory_root.rglob("checkpoint_receipts*"))
    traces = (stack.settings.memory_root / "system/capabilities/traces.jsonl").read_text().splitlines()
    (trace,) = [one for one in map(json.loads, traces) if one["trace_id"] == run["trial_id"]]
    assert (trace["success"], [step["success"] for step in trace["steps"]]) == (True, [True] * 4)
    assert not any(value in json.dumps(trace) for value in ("q1", "$(touch x)", "top.csv"))

    receipts = await alice.ok("GET", "/api/learn/receipts")
    kinds = [one["event_kind"] for one in receipts["receipts"]]
    assert {"trial_started", "trial_ended"} <= set(kinds)
    assert verify_chains(stack.database).intact

    await alice.ok("DELETE", f"/api/abilities/trials/{run['trial_id']}")
    status, _ = await alice.refused("GET", f"/api/abilities/trials/{run['trial_id']}")
    assert status == 404
