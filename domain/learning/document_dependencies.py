"""Which documents a proposal rests on (DOC3 §0A.25)."""

from collections.abc import Iterator

from contracts.learning.proposal import (
    DependencyKind,
    LearningDocumentDependency,
    SkillBundleProposal,
    SkillDraft,
)

_SKILL_FILE = "SKILL.md"
_TESTS = "tests/"


def document_dependencies(
    proposal: SkillBundleProposal, draft: SkillDraft
) -> tuple[LearningDocumentDependency, ...]:
    """What has to be there for the proposal to be judged and to work, in the order of the kinds."""
    found = dict.fromkeys(_found(proposal, draft))
    return tuple(
        LearningDocumentDependency(
            proposal_id=proposal.proposal_id,
            dependency_kind=kind,
            dependency_ref=ref,
            # Without its tests a skill still works; it only cannot be proven again.
            required=kind is not DependencyKind.TEST_ARTIFACT,
        )
        for kind, ref in sorted(found, key=lambda one: (list(DependencyKind).index(one[0]), one[1]))
    )


def _found(proposal: SkillBundleProposal, draft: SkillDraft) -> Iterator[tuple[DependencyKind, str]]:
    for ref in proposal.support_pack_refs:
        yield DependencyKind.SUPPORT_PACK, ref
    if proposal.base is not None:
        yield DependencyKind.EXISTING_SKILL, f"{proposal.base.ability_id}@{proposal.base.version}"
    yield DependencyKind.CAPABILITY_MANIFEST, proposal.draft_manifest_path
    for file in draft.files:
        if file.path != _SKILL_FILE and file.path.startswith(_TESTS):
            yield DependencyKind.TEST_ARTIFACT, file.path
