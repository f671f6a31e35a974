"""From a trace to canonical files: only an approval writes them, and only the learn routes lead there."""

import json
from pathlib import Path

import pytest

from contracts.abilities.lookup import ROUTE_FROM_SCORE
from contracts.learning.state_machine import SessionCommand
from stores.platform.projection.projector import Projector
from tests.api.world import ROUTES
from tests.fixtures.stack import Stack

CANONICAL = ("system/learning/installed", "system/capabilities", "system/abilities")


def canonical_files(stack: Stack) -> dict[str, bytes]:
    """Every canonical file about what is installed; what was said and done is told in streams beside them."""
    root = stack.settings.memory_root
    Projector(stack.database, root, stack.settings.workspace).catch_up()
    return {
        str(path.relative_to(root)): path.read_bytes()
        for folder in CANONICAL
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and path.suffix != ".jsonl"
    }


@pytest.mark.anyio
@pytest.mark.acceptance("9.7-45", "9.7-46", "9.7-48")
async def test_a_trace_makes_a_session_and_a_proposal_and_a_rejection_leaves_nothing(stack: Stack) -> None:
    alice = stack.learner()
    before = canonical_files(stack)
    await alice.teach()
    listed = await alice.ok("GET", "/api/learn/sessions")
    assert [session["learn_session_id"] for session in listed["sessions"]] == [alice.session_id]
    assert canonical_files(stack) == before
    await alice.propose_act("reject", {"reason": "not this way"})
    assert canonical_files(stack) == before
    lines = (stack.settings.memory_root / "system/learning/capability_events.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert [one["event"] for one in told] == ["teach.session.created", "teach.proposal.submitted"]
    assert {one["learn_session_id"] for one in told} == {alice.session_id}
    assert told[-1]["proposal_id"] == alice.proposal_id


@pytest.mark.anyio
@pytest.mark.acceptance("9.7-47", "9.6-41", "9.6-42", "9.19-2")
async def test_an_approval_writes_manifest_metadata_tests_and_the_bridge_then_the_workspace(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach()
    ability_id = (await alice.propose_act("approve"))["proposal"]["ability_id"]
    files = canonical_files(stack)
    slug = next(Path(name).parent.name for name in files if name.endswith("/SKILL.md"))
    assert f"system/capabilities/manifests/{ability_id}.json" in files
    assert f"system/capabilities/metadata/{ability_id}.json" in files
    assert any(name.startswith(f"system/learning/installed/{slug}/tests/") for name in files)

    bridge = json.loads(files["system/capabilities/bridge_entries_current.json"])
    (entry,) = [one for one in bridge["entries"] if one["capability_id"] == ability_id]
    assert entry["metadata_ref"].endswith(f"{ability_id}.json")
    # DOC3 §1.1H step 5: degraded until its smoke test passes.
    assert (entry["health_status"], entry["health_reason_code"]) == ("degraded", "awaiting_smoke")
    assert entry["origin_owner"]

    projected = stack.settings.workspace / "skills" / slug
    assert (projected / "SKILL.md").read_bytes() == files[f"system/learning/installed/{slug}/SKILL.md"]
    copies = [path for path in projected.rglob("*.json") if path.name == f"{ability_id}.json"]
    assert [copy.read_bytes() for copy in copies] == [
        files[f"system/capabilities/manifests/{ability_id}.json"]
    ]
    assert not [path for path in projected.rglob("*") if path.name.endswith((".tmp", ".part"))]


@pytest.mark.anyio
@pytest.mark.acceptance("R11.2-34")
async def test_what_was_learned_is_routed_to_from_the_snapshot_by_who_never_asked_for_it(
    stack: Stack,
) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    await alice.teach()
    ability_id = (await alice.propose_act("approve"))["proposal"]["ability_id"]
    snapshot = json.loads(canonical_files(stack)["system/abilities/availability_current.json"])
    (entry,) = [one for one in snapshot["abilities"] if one["usable_now"]]
    assert entry["ability_id"] == ability_id
    for phrase in entry["trigger_phrases"]:
        found = await bob.ok("POST", "/api/abilities/lookup", {"user_query": phrase})
        assert found["matches"][0]["ability_id"] == ability_id
        assert found["matches"][0]["score"] >= ROUTE_FROM_SCORE


@pytest.mark.acceptance("learn_inventory_uses_plural_session_routes", "appendix_legacy_blocks_prefixed")
def test_every_command_of_a_session_has_one_route_and_it_is_plural() -> None:
    paths = {route.path for route in ROUTES.values()}
    assert not [path for path in paths if path.startswith(("/api/learn/session/", "/api/capabilities/teach"))]
    assert not [path for path in paths if path.startswith("/api/skills/mining")]
    of_proposal = {
        SessionCommand.REVISE,
        SessionCommand.VALIDATE,
        SessionCommand.INSTALL,
        SessionCommand.APPROVE,
        SessionCommand.REJECT,
    }
    renamed = {SessionCommand.MARK: "mark-goal"}
    for command in set(SessionCommand) - of_proposal - {SessionCommand.CREATE}:
        assert f"/api/learn/sessions/{{session_id}}/{renamed.get(command, command.value)}" in paths
    for command in of_proposal:
        assert f"/api/learn/proposals/{{proposal_id}}/{command.value}" in paths


@pytest.mark.anyio
@pytest.mark.acceptance("watch_my_actions_alias_only")
async def test_being_watched_is_an_option_of_a_session_and_nothing_of_its_own(stack: Stack) -> None:
    assert not [name for name in ROUTES if "watch" in name]
    alice = stack.learner()
    status, error = await alice.refused("POST", "/api/learn/sessions", {"entry_mode": "observe_my_actions"})
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    created = await alice.create(observation_mode="outside_agent")
    assert created["session"]["observation_mode"] == "outside_agent"
