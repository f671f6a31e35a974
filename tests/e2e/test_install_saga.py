"""The install saga: all of it, or nothing, whichever step fails and however."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.learning.install import SagaStepName
from stores.platform.projection.projector import Projector
from tests.fixtures.failing_installs import failing_at
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


def installed_files(stack: Stack) -> Iterator[Path]:
    memory, workspace = stack.settings.memory_root, stack.settings.workspace
    yield from workspace.rglob("*")
    for folder in ("system/learning/installed", "system/capabilities", "system/abilities"):
        yield from (memory / folder).rglob("*")


def digest_of_installed(stack: Stack) -> dict[str, str]:
    """Workspace, bridge and snapshot, byte for byte, once all that was decided is written to them.

    What happened is told in streams whatever came of it, and is no part of them.
    """
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in installed_files(stack)
        if path.is_file() and path.suffix != ".jsonl"
    }


async def saga_of(alice: Learner) -> dict[str, object]:
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    return await alice.ok("GET", f"/api/learn/install-sagas/{detail['saga_id']}")


@pytest.mark.acceptance("R11.2-28")
async def test_an_install_writes_projects_rebuilds_the_bridge_and_refreshes_the_snapshot(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach()
    ability_id = (await alice.propose_act("approve"))["proposal"]["ability_id"]
    saga = await saga_of(alice)
    steps = saga["steps"]
    assert isinstance(steps, list)
    assert [one["name"] for one in steps] == [name.value for name in SagaStepName]
    assert {one["state"] for one in steps} == {"done"}
    times = [one["updated_at"] for one in steps]
    assert times == sorted(times)

    memory = stack.settings.memory_root / "system"
    slug = next(path.parent.name for path in (stack.settings.workspace / "skills").rglob("SKILL.md"))
    written = (memory / "learning/installed" / slug / "SKILL.md").read_bytes()
    assert (stack.settings.workspace / "skills" / slug / "SKILL.md").read_bytes() == written
    bridge = json.loads((memory / "capabilities/bridge_entries_current.json").read_text())
    assert [one["capability_id"] for one in bridge["entries"]] == [ability_id]
    snapshot = json.loads((memory / "abilities/availability_current.json").read_text())
    assert [(one["ability_id"], one["usable_now"]) for one in snapshot["abilities"]] == [(ability_id, True)]


@pytest.mark.acceptance("R11.2-28", "R11.2-36")
@pytest.mark.parametrize("after_effect", [False, True], ids=["before-effect", "after-effect"])
@pytest.mark.parametrize(
    "step",
    [
        SagaStepName.REFRESH_AVAILABILITY,
        *(
            pytest.param(one, marks=pytest.mark.thorough)
            for one in SagaStepName
            if one is not SagaStepName.REFRESH_AVAILABILITY
        ),
    ],
)
@pytest.mark.acceptance("9.19-3")
async def test_a_saga_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, temporal_address: str, step: SagaStepName, after_effect: bool
) -> None:
    broken = {"now": False}
    parts = failing_at(step, after_effect=after_effect, when=lambda: broken["now"])
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, parts) as stack:
        alice = stack.learner()
        await alice.teach("Summarise the sales figures")
        await alice.propose_act("approve")
        before = digest_of_installed(stack)
        assert before

        broken["now"] = True
        await alice.teach("Summarise the sales figures")
        refused = await alice.propose_act("approve")
        assert refused["proposal"]["proposal_state"] == "quarantined"
        assert await alice.state() == "quarantined"
        assert digest_of_installed(stack) == before
        saga = await saga_of(alice)
        assert saga["state"] == "rolled_back"
        body = await alice.ok("GET", f"/api/learn/receipts?learn_session_id={alice.session_id}")
        kinds = [receipt["event_kind"] for receipt in body["receipts"]]
        assert kinds[:2] == ["quarantined", "install_failed"]

        broken["now"] = False
        await alice.propose_act("revise", {"revision_instructions": "try again"})
        assert await alice.prove() == "ready_for_review"
        assert (await alice.propose_act("approve"))["proposal"]["proposal_state"] == "approved"


async def test_a_first_install_that_fails_leaves_no_trace_in_workspace_or_lookup(
    tmp_path: Path, temporal_address: str
) -> None:
    parts = failing_at(SagaStepName.REFRESH_AVAILABILITY, after_effect=True)
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, parts) as stack:
        alice = stack.learner()
        await alice.teach(allow_private_install=True)
        await alice.propose_act("install", {"install_lane": "experimental_private"})
        assert await alice.state() == "quarantined"
        assert digest_of_installed(stack) == {}
        found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": "summarise the sales figures"})
        assert found["matches"] == []
