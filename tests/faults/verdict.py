"""What must be true of an installation whatever was killed in it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contracts.learning.install import SagaStepName
from stores.platform.journal.chains import verify_chains
from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.fixtures.learner import Demonstrated, Learner

TAUGHT_AND_APPROVED = (
    "session_started",
    "observation_armed",
    "capture_started",
    "capture_stopped",
    "proposal_drafted",
    "tests_started",
    "tests_passed",
    "install_requested",
    "bridge_rebuilt",
    "availability_updated",
    "activated",
    "approved",
)
"""The receipts of one lesson, each once."""


def shown_by(learner: Learner, command: str = "printf 'north,3\\n'") -> tuple[Demonstrated, ...]:
    """A tiny task whose one command names its user, so that what it leaves behind is found again."""
    file = _file_of(learner)
    return ((f"{command} > {file}", (file,)),)


async def demonstrate(learner: Learner, shown: tuple[Demonstrated, ...] | None = None, **fields: Any) -> None:
    """Shows the tiny task, from creating the session to the stop."""
    await learner.create(**fields)
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": f"Prepare {learner.user}"})
    await learner.observe(shown or shown_by(learner))
    await learner.act("stop")


async def teach(learner: Learner, shown: tuple[Demonstrated, ...] | None = None, **fields: Any) -> None:
    """Everything up to a proven proposal."""
    await demonstrate(learner, shown, **fields)
    await learner.propose()
    assert await learner.prove() == "ready_for_review"


async def receipts_of(learner: Learner) -> tuple[str, ...]:
    """The kinds of the session's receipts, oldest first."""
    path = f"/api/learn/receipts?learn_session_id={learner.session_id}&page_size=100"
    receipts = (await learner.ok("GET", path))["receipts"]
    return tuple(receipt["event_kind"] for receipt in reversed(receipts))


async def saga_of(learner: Learner) -> dict[str, Any]:
    """The newest install of the session's proposal."""
    detail = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")
    return await learner.ok("GET", f"/api/learn/install-sagas/{detail['saga_id']}")


async def assert_installed_once(deployment: Deployment, learner: Learner) -> None:
    """One session, one saga, one version, one of each receipt; files and journal as they must be."""
    assert await learner.state() == "approved"
    assert await receipts_of(learner) == TAUGHT_AND_APPROVED
    saga = await saga_of(learner)
    assert saga["state"] == "installed"
    assert [step["state"] for step in saga["steps"]] == ["done"] * len(SagaStepName)
    versions = await learner.ok("GET", f"/api/abilities/{saga['ability_id']}/versions")
    assert [(version["version"], version["current"]) for version in versions["versions"]] == [(1, True)]
    skill = deployment.settings.workspace / "skills" / saga["skill_slug"] / "SKILL.md"
    detail = await learner.ok("GET", f"/api/abilities/{saga['ability_id']}")
    assert skill.read_text() == detail["skill_markdown"]
    query = {"user_query": f"prepare {learner.user}"}
    matches = (await learner.ok("POST", "/api/abilities/lookup", query))["matches"]
    assert [match["ability_id"] for match in matches][:1] == [saga["ability_id"]]
    await assert_sound(deployment)
    await assert_nothing_left_of_rehearsals(deployment, learner)


async def installed(deployment: Deployment) -> dict[str, str]:
    """What is in the workspace and beside it once the workers have caught up: the digest of each file.

    A worker that was killed leaves what it had written of the store for the next one to write to files.
    """
    await _caught_up(deployment)
    return deployment.installed()


async def assert_sound(deployment: Deployment) -> None:
    """Every file is what the store says once the workers have caught up, and the journal's chains hold."""
    await _caught_up(deployment)
    report = deployment.projector.verify()
    assert report.differences == ()
    assert report.chains.fault is None
    assert verify_chains(deployment.database).intact


async def assert_nothing_left_of_rehearsals(deployment: Deployment, learner: Learner) -> None:
    """No folder, and no process that still runs what the user had shown.

    A canary of the ability's health may be under way; what a killed worker left behind does not go by itself.
    """
    folder = deployment.settings.data_dir / "rehearsals"

    def left() -> list[str]:
        folders = [path.name for path in folder.iterdir()] if folder.exists() else []
        return [*folders, *map(str, _processes_that_say(_file_of(learner)))]

    await eventually(lambda: not left(), "a rehearsal has left something behind")


def _file_of(learner: Learner) -> str:
    return f"{learner.user.replace(' ', '-')}.csv"


def _processes_that_say(text: str) -> Iterator[Path]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in command and int(process.name) != os.getpid():
            yield process


async def _caught_up(deployment: Deployment) -> None:
    await eventually(lambda: deployment.projector.verify().pending == 0, "the projection never catches up")
