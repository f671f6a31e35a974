"""A worker is killed wherever an import has got to: another one ends it, once, and no half of a skill is left."""

from pathlib import Path

import httpx
import pytest

from stores.platform.journal.journal import IMPORT_TRANSITIONS, JournalFilter, read_entries
from tests.faults.deployment import Deployment
from tests.faults.trapped_imports import UNPACKED, folder_of_unpacking
from tests.faults.traps import FAIL
from tests.faults.verdict import assert_sound, installed
from tests.fixtures.importing import Importer, zipped

pytestmark = pytest.mark.anyio

SCANNED = (
    ("upload_pending", "uploaded"),
    ("uploaded", "scanning"),
    ("scanning", "scan_complete"),
)
REVIEWED = (*SCANNED, ("scan_complete", "staging"), ("staging", "ready_for_review"))
QUEUED = (*REVIEWED, ("ready_for_review", "install_queued"))
INSTALLED = (*QUEUED, ("install_queued", "installed_private"))
FAILED = (*QUEUED, ("install_queued", "install_failed"))

KILLED_IN_A_SCAN = (
    "command_import.scan.after",
    UNPACKED,
    "scan_bundle.any.after",
    "settle_import.scan.after",
)
KILLED_IN_A_STAGING = ("stage_bundle.any.after", "settle_import.stage.before")
KILLED_IN_AN_INSTALL = (
    "prepare_install.any.after",
    "keep_validation.any.after",
    "settle_import.install.after",
)
"""Checks, steps of the saga and their undoing are those of a lesson, and are killed with one."""


class Imported(Importer):
    """One user's import of a skill that is named after them, so that what it leaves behind is found again."""

    @property
    def skill(self) -> str:
        """The name of the skill."""
        return self.learner.user.replace(" ", "-")

    @property
    def files(self) -> dict[str, str | bytes]:
        """The files of the skill's folder."""
        text = f"Prepares {self.learner.user}. Use when asked to prepare {self.learner.user}."
        front = f"---\nname: {self.skill}\ndescription: {text}\n---\n"
        return {"SKILL.md": f"{front}\n# Prepare\n\n1. Begin.\n", "assets/logo.png": b"\x89PNG\x00\xff"}

    @property
    def archive(self) -> bytes:
        """The bundle."""
        return zipped({f"{self.skill}/{path}": content for path, content in self.files.items()})


def moves(deployment: Deployment, importer: Importer) -> tuple[tuple[str, str], ...]:
    wanted = JournalFilter(streams=(IMPORT_TRANSITIONS,), aggregate=f"skill-import/{importer.import_id}")
    with deployment.database.read() as connection:
        entries = read_entries(connection, wanted)
    return tuple((one.document["from_state"], one.document["to_state"]) for one in entries)


async def receipts_of(importer: Importer) -> list[str]:
    found = (await importer.learner.ok("GET", "/api/learn/receipts?page_size=100"))["receipts"]
    return [one["event_kind"] for one in reversed(found) if one.get("import_id") == importer.import_id]


def left_of(importer: Imported, deployment: Deployment) -> list[Path]:
    """The files and folders of the skill, and of unpacking."""
    roots = (deployment.settings.workspace / "skills", deployment.settings.memory_root / "system/learning")
    of_skill = [path for root in roots for path in root.rglob(f"*{importer.skill}*")]
    return [*of_skill, *folder_of_unpacking(deployment.traps.folder).iterdir()]


def set_all(deployment: Deployment, points: tuple[str, ...]) -> None:
    for point in points:
        deployment.traps.set(point)


def all_sprung(deployment: Deployment, points: tuple[str, ...]) -> bool:
    return [point for point in points if not deployment.traps.has_sprung(point)] == []


async def test_killed_in_scan_staging_and_install_it_is_installed_once_and_whole(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    alice = Imported(deployment.learner(http))
    before = await installed(deployment)
    async with deployment.replacing_workers():
        await alice.upload(alice.archive)
        set_all(deployment, KILLED_IN_A_SCAN)
        await alice.scan()
        assert all_sprung(deployment, KILLED_IN_A_SCAN)
        assert moves(deployment, alice) == SCANNED
        set_all(deployment, KILLED_IN_A_STAGING)
        await alice.act("stage")
        assert all_sprung(deployment, KILLED_IN_A_STAGING)
        assert moves(deployment, alice) == REVIEWED
        assert await installed(deployment) == before
        assert left_of(alice, deployment) == []
        set_all(deployment, KILLED_IN_AN_INSTALL)
        await alice.act("install-private", accept_unproved=True)
        assert all_sprung(deployment, KILLED_IN_AN_INSTALL)
    assert moves(deployment, alice) == INSTALLED
    receipts = await receipts_of(alice)
    assert len(set(receipts)) == len(receipts)
    folder = deployment.settings.workspace / "skills" / alice.skill
    assert (folder / "assets/logo.png").read_bytes() == alice.files["assets/logo.png"]
    assert set(before) <= set(await installed(deployment))
    versions = (await alice.learner.ok("GET", f"/api/abilities/imported.{alice.skill}/versions"))["versions"]
    assert [(one["version"], one["current"]) for one in versions] == [(1, True)]
    await assert_sound(deployment)


async def test_killed_while_a_failed_install_is_undone_nothing_of_it_is_left(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    alice = Imported(deployment.learner(http))
    await alice.upload(alice.archive)
    await alice.scan()
    await alice.act("stage")
    before = await installed(deployment)
    deployment.traps.set("install_step.refresh_availability.after", FAIL)
    points = ("undo_install_step.materialise.after", "settle_import.install.before")
    set_all(deployment, points)
    async with deployment.replacing_workers():
        await alice.act("install-private", accept_unproved=True)
    assert all_sprung(deployment, points)
    assert moves(deployment, alice) == FAILED
    assert await installed(deployment) == before
    assert left_of(alice, deployment) == []
    await assert_sound(deployment)
