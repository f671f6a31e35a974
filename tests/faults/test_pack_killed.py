"""A worker is killed wherever the install of a pack has got to: all of its skills are installed, or none."""

from typing import Any

import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.verdict import assert_sound, installed
from tests.fixtures.importing import Importer, zipped
from tests.fixtures.learner import Learner

pytestmark = pytest.mark.anyio

PACKS = "/api/skills/packs"
ELSEWHERE = '[{"input": "Book dinner Friday evening", "should_trigger": true, "kind": "positive"}]'
"""The trigger cases of a skill whose checks fail."""

KILLED_IN_AN_INSTALL = (
    "open_pack_install.any.after",
    "note_pack_progress.installing.after",
    "prepare_install.any.after",
    "keep_validation.any.after",
    "install_step.rebuild_bridge.after",
    "note_pack_progress.installed.before",
    "note_pack_progress.installed.after",
    "settle_pack_install.installed.before",
    "settle_pack_install.installed.after",
    "tell_imports.any.after",
)
KILLED_IN_AN_UNDO = (
    "note_pack_progress.undo.before",
    "note_pack_progress.undo.after",
    "undo_install_step.rebuild_bridge.after",
    "note_pack_progress.rolled_back.before",
    "note_pack_progress.rolled_back.after",
    "settle_pack_install.rolled_back.before",
    "settle_pack_install.rolled_back.after",
)
"""Every other step of a member's saga is that of a lesson, and is killed with one."""


def names(learner: Learner) -> tuple[str, str]:
    """The two skills of a user's pack, so that what they leave behind is found again."""
    own = learner.user.replace(" ", "-")
    return f"first-{own}", f"second-{own}"


async def reviewed(learner: Learner, name: str, cases: str | None = None) -> Importer:
    text = f"Prepares {name}. Use when asked to prepare {name}."
    files: dict[str, str | bytes] = {
        f"{name}/SKILL.md": f"---\nname: {name}\ndescription: {text}\n---\n\n# Prepare\n\n1. Begin.\n"
    }
    if cases is not None:
        files[f"{name}/tests/triggers.json"] = cases
    one = Importer(learner)
    await one.upload(zipped(files))
    await one.scan()
    await one.act("stage")
    return one


async def ended(learner: Learner, deployment: Deployment, points: tuple[str, ...]) -> dict[str, Any]:
    """Installs the pack while a worker dies at each of the points; the install once it has ended."""
    manifest = {"pack_id": "both", "title": "Both", "description": "", "skills": list(names(learner))}
    await learner.ok("POST", PACKS, manifest)
    for point in points:
        deployment.traps.set(point)
    async with deployment.replacing_workers():
        opened = (await learner.ok("POST", f"{PACKS}/both/install", {"accept_unproved": True}))["install"]
        path = f"{PACKS}/installs/{opened['pack_install_id']}"
        seen: dict[str, Any] = {}

        async def is_over() -> bool:
            seen.update((await learner.ok("GET", path))["install"])
            closed = all(map(deployment.traps.has_sprung, points))
            return seen["state"] not in ("running", "compensating") and closed

        await eventually(is_over, "the install of the pack does not end")
    return seen


async def test_killed_at_every_point_of_its_install_a_pack_is_installed_once_and_whole(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    learner = deployment.learner(http)
    members = [await reviewed(learner, name) for name in names(learner)]
    done = await ended(learner, deployment, KILLED_IN_AN_INSTALL)
    assert done["state"] == "installed", done
    assert {one["state"] for one in done["members"]} == {"installed"}
    for name, member in zip(names(learner), members, strict=True):
        assert await member.state() == "installed_private"
        assert (deployment.settings.workspace / "skills" / name / "SKILL.md").is_file()
        versions = (await learner.ok("GET", f"/api/abilities/imported.{name}/versions"))["versions"]
        assert [(one["version"], one["current"]) for one in versions] == [(1, True)]
    await assert_sound(deployment)


async def test_killed_at_every_point_of_its_undo_a_pack_leaves_everything_as_it_was(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    learner = deployment.learner(http)
    first, second = names(learner)
    members = [await reviewed(learner, first), await reviewed(learner, second, ELSEWHERE)]
    before = await installed(deployment)
    failed = await ended(learner, deployment, KILLED_IN_AN_UNDO)
    assert (failed["state"], failed["error_code"]) == ("rolled_back", "VALIDATION_REQUIRED")
    assert [(one["skill"], one["state"]) for one in failed["members"]] == [
        (first, "rolled_back"),
        (second, "failed"),
    ]
    assert {await one.state() for one in members} == {"install_failed"}
    assert await installed(deployment) == before
    roots = (deployment.settings.workspace / "skills", deployment.settings.memory_root / "system/learning")
    assert [path for root in roots for path in root.rglob(f"*{first}*")] == []
    await assert_sound(deployment)
