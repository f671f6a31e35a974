"""What a proposal rests on is told from the proposal and its draft."""

from datetime import UTC, datetime

import pytest

from contracts.errors import Refusal
from contracts.learning.interpretation import DeclaredDependency, DependencyKind
from contracts.learning.proposal import BaseSkill, DraftedFile, ProposalState, SkillBundleProposal, SkillDraft
from domain.learning.drafting.revision import (
    check_edits,
    declared_dependencies,
    document_dependencies,
    support_packs,
)

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
    plain = PROPOSAL.changed(support_pack_refs=(), base=None)
    bare = DRAFT.changed(files=DRAFT.files[:1])
    assert [one.dependency_kind for one in document_dependencies(plain, bare)] == [
        DependencyKind.CAPABILITY_MANIFEST
    ]


def test_what_a_person_declared_is_among_them_and_says_whether_it_is_required() -> None:
    declared = (
        DeclaredDependency(
            dependency_kind=DependencyKind.SUPPORT_PACK, dependency_ref="packs/sales", required=False
        ),
        DeclaredDependency(dependency_kind=DependencyKind.APP_MANUAL, dependency_ref="Ledger 4, chapter 2"),
    )
    found = document_dependencies(PROPOSAL, DRAFT, declared)
    assert [(one.dependency_kind, one.required) for one in found][:2] == [
        (DependencyKind.SUPPORT_PACK, False),
        (DependencyKind.APP_MANUAL, True),
    ]
    assert support_packs(declared) == ("packs/sales",)


def test_checked_edits_become_declared_documents() -> None:
    given = [
        {"dependency_kind": "app_manual", "dependency_ref": "  Ledger   4 "},
        {"dependency_kind": "support_pack", "dependency_ref": "packs/sales", "required": False},
    ]
    found = declared_dependencies(check_edits({"document_dependencies": given}))
    assert [(one.dependency_kind.value, one.dependency_ref, one.required) for one in found] == [
        ("app_manual", "Ledger 4", True),
        ("support_pack", "packs/sales", False),
    ]
    assert declared_dependencies(check_edits({})) == ()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ("Ledger", "document_dependencies"),
        (["Ledger"], "document_dependencies/0"),
        (
            [{"dependency_kind": "test_artifact", "dependency_ref": "x"}],
            "document_dependencies/0/dependency_kind",
        ),
        ([{"dependency_kind": "app_manual"}], "document_dependencies/0/dependency_ref"),
        (
            [{"dependency_kind": "app_manual", "dependency_ref": "x", "required": "no"}],
            "document_dependencies/0/required",
        ),
        (
            [{"dependency_kind": "app_manual", "dependency_ref": "x", "colour": 1}],
            "document_dependencies/0/colour",
        ),
        ([{"dependency_kind": "app_manual", "dependency_ref": "x"}] * 2, "document_dependencies/1"),
        (
            [{"dependency_kind": "app_manual", "dependency_ref": f"token=ghp_{'a1B2' * 9}"}],
            "document_dependencies/0/dependency_ref",
        ),
        (
            [{"dependency_kind": "app_manual", "dependency_ref": str(n)} for n in range(21)],
            "document_dependencies",
        ),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place(wrong, field) -> None:
    with pytest.raises(Refusal) as refused:
        check_edits({"document_dependencies": wrong})
    assert refused.value.extra["fields"] == [field]
