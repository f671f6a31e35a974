"""Documents that a person says a skill rests on: declared in a revision, shown, written, kept when it is improved."""

import json
from typing import Any

import pytest

from stores.platform.projection.projector import Projector
from tests.e2e.test_improving import edit
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

DECLARED = [
    {"dependency_kind": "support_pack", "dependency_ref": "packs/sales"},
    {"dependency_kind": "app_manual", "dependency_ref": "Ledger 4 handbook", "required": False},
]


async def revise(learner: Learner, declared: list[dict[str, Any]]) -> None:
    wish = {"revision_instructions": "it needs these", "edited_fields": {"document_dependencies": declared}}
    await learner.propose_act("revise", wish)


async def rests_on(learner: Learner) -> list[tuple[str, str, bool]]:
    """What the proposal's files say they rest on, of what people declare."""
    found = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/files")
    return [
        (one["dependency_kind"], one["dependency_ref"], one["required"])
        for one in found["depends_on"]
        if one["dependency_kind"] in ("support_pack", "app_manual")
    ]


async def skill_of(learner: Learner) -> str:
    found = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/files")
    return str(next(one["content"] for one in found["files"] if one["path"] == "SKILL.md"))


async def test_declared_documents_are_shown_written_and_kept_when_the_skill_is_improved(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    plain = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert "Documents" not in await skill_of(alice)
    await revise(alice, DECLARED)
    shown = [("support_pack", "packs/sales", True), ("app_manual", "Ledger 4 handbook", False)]
    assert await rests_on(alice) == shown
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert [one["dependency_ref"] for one in detail["interpretation"]["dependencies"]] == [
        "packs/sales",
        "Ledger 4 handbook",
    ]
    assert detail["proposal"]["support_pack_refs"] == ["packs/sales"]
    assert detail["proposal"]["content_hash"] != plain["proposal"]["content_hash"]
    skill = await skill_of(alice)
    assert "## Documents\n\n- The support pack `packs/sales`" in skill
    assert "if it is at hand" in skill
    assert 'documents: "The support pack packs/sales; ' in skill

    assert await alice.prove() == "ready_for_review"
    approved = await alice.propose_act("approve")
    ability_id = approved["proposal"]["ability_id"]
    entry = await alice.ok("GET", f"/api/abilities/{ability_id}/availability")
    assert entry["support_pack_refs"] == ["packs/sales"]
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    metadata = stack.settings.memory_root / f"system/capabilities/metadata/{ability_id}.json"
    assert {"packs/sales", "app_manual:Ledger 4 handbook"} <= set(
        json.loads(metadata.read_text())["dependency_refs"]
    )

    await edit(alice, ability_id, non_use_conditions=["The figures are still being collected"])
    assert await rests_on(alice) == shown
    assert "## Documents" in await skill_of(alice)
    await revise(alice, [])
    assert await rests_on(alice) == []
    assert "## Documents" not in await skill_of(alice)


async def test_a_wrong_declaration_is_refused_and_the_draft_stays(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    before = await skill_of(alice)
    wish = {
        "revision_instructions": "x",
        "edited_fields": {"document_dependencies": [{"dependency_kind": "book", "dependency_ref": "y"}]},
    }
    path = f"/api/learn/proposals/{alice.proposal_id}/revise"
    status, error = await alice.refused("POST", path, wish)
    assert (status, error["code"]) == (422, "REVISION_INVALID")
    assert await skill_of(alice) == before
