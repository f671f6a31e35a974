"""The disk is full: what was begun is undone or waits, nothing is half done, and all is well with space again."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from stores.platform.projection.projector import Projector
from tests.faults.patience import eventually
from tests.faults.verdict import saga_of, shown_by, teach
from tests.fixtures.learner import Learner
from tests.fixtures.stack import connect, running_stack, stack_settings

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0,
        reason="mounting a small file system needs root on Linux",
    ),
]

MIB = 1 << 20


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A file system of ``size`` bytes in memory."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Callable[[], None]:
    """Takes all the space that is left; what is returned gives it back."""
    ballast = disk / ".ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return ballast.unlink


async def undo_has_begun(learner: Learner) -> bool:
    response = await learner.call("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")
    if not response.json()["saga_id"]:
        return False
    return (await saga_of(learner))["state"] != "running"


async def test_an_install_without_room_for_its_files_is_undone_and_can_be_repeated(
    tmp_path: Path, temporal_address: str
) -> None:
    with small_disk(tmp_path / "trees", MIB) as disk:
        settings = stack_settings(tmp_path, memory_root=disk / "memory", workspace=disk / "workspace")
        async with running_stack(settings, await connect(temporal_address)) as stack:
            alice = stack.learner("quill vortex lantern")
            await teach(alice, shown_by(alice))
            give_back = fill(disk)
            async with anyio.create_task_group() as group:
                group.start_soon(alice.propose_act, "approve")
                await eventually(lambda: undo_has_begun(alice), "the undo never begins")
                give_back()
            assert await alice.state() == "quarantined"
            assert (await saga_of(alice))["state"] == "rolled_back"
            assert not list(disk.rglob("SKILL.md"))
            trees = Projector(stack.database, settings.memory_root, settings.workspace)
            await eventually(lambda: trees.verify().intact, "the files are never as the store says")
            await alice.propose_act("revise", {"revision_instructions": "again, with room"})
            assert await alice.prove() == "ready_for_review"
            await alice.propose_act("approve")
            assert await alice.state() == "approved"
            assert list(disk.rglob("SKILL.md"))


async def test_observations_that_cannot_be_kept_are_refused_until_there_is_room(
    tmp_path: Path, temporal_address: str
) -> None:
    with small_disk(tmp_path / "store", 8 * MIB) as disk:
        url = f"sqlite:///{disk / 'apprentice.db'}"
        settings = stack_settings(tmp_path, database_url=url)
        async with running_stack(settings, await connect(temporal_address)) as stack:
            alice = stack.learner("quill vortex lantern")
            await alice.create()
            await alice.act("start")
            await alice.observe(shown_by(alice))
            give_back = fill(disk)
            path = f"/api/learn/sessions/{alice.session_id}/observations"
            batch = {"events": alice.events(shown_by(alice) * 100)}
            full = [await alice.call("POST", path, batch) for _ in range(2)]
            assert {(answer.status_code, answer.json()["error"]["code"]) for answer in full} == {
                (507, "STORAGE_FULL")
            }
            assert all(int(answer.headers["retry-after"]) > 0 for answer in full)
            assert (await alice.ok("GET", path))["total"] == 1
            give_back()
            assert (await alice.ok("POST", path, batch))["accepted"] == 100
            assert (await alice.act("stop"))["captured_event_count"] == 101
