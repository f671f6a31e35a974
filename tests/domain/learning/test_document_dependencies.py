"""What a proposal rests on is told from the proposal and its draft."""

from datetime import UTC, datetime

from contracts.learning.improvement import BaseSkill
from contracts.learning.proposal import (
    DependencyKind,
    DraftedFile,
    ProposalState,
    SkillBundleProposal,
    SkillDraft,
)
from domain.learning.document_dependencies import document_dependencies

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROPOSAL = SkillBundleProposal(
    proposal_id="01890000-0000-7000-8000-000000000001",
    owner_user_id="alice",
    source_trace_ids=("01890000-0000-7000-8000-000000000002",),
    title="Rank regions",
    proposed_skill_slug="rank-regions",
    draft_skill_path="system/learning/installed/rank-regions/SKILL.md",
    draft_manifest_path="system/capabilities/manifests/learned.rank-regions.json",
    content_hash="0" * 64,
    proposal_state=ProposalState.DRAFT,
    support_pack_refs=("packs/sales",),
    base=BaseSkill(ability_id="learned.rank", skill_slug="rank", version=3, content_hash="1" * 64),
    created_at=NOW,
    updated_at=NOW,
)
DRAFT = SkillDraft(
    title="Rank regions",
    slug="rank-regions",
    description="Ranks regions.",
    trigger_phrases=(),
    negative_triggers=(),
    files=tuple(DraftedFile(path=path, content="x") for path in ("SKILL.md", "tests/triggers.json")),
    capability_id="learned.rank-regions",
)


def test_packs_the_improved_skill_the_manifest_and_the_tests_are_named() -> None:
    found = document_dependencies(PROPOSAL, DRAFT)
    assert [(one.dependency_kind, one.dependency_ref, one.required) for one in found] == [
        (DependencyKind.SUPPORT_PACK, "packs/sales", True),
        (DependencyKind.EXISTING_SKILL, "learned.rank@3", True),
        (DependencyKind.CAPABILITY_MANIFEST, PROPOSAL.draft_manifest_path, True),
        (DependencyKind.TEST_ARTIFACT, "tests/triggers.json", False),
    ]


def test_a_new_skill_without_packs_rests_on_its_manifest_alone() -> None:
    plain = PROPOSAL.model_copy(update={"support_pack_refs": (), "base": None})
    bare = DRAFT.model_copy(update={"files": DRAFT.files[:1]})
    assert [one.dependency_kind for one in document_dependencies(plain, bare)] == [
        DependencyKind.CAPABILITY_MANIFEST
    ]
