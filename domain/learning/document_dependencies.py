"""Which documents a proposal rests on (DOC3 §0A.25)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from contracts.learning.dependencies import DeclaredDependency, DependencyKind
from contracts.learning.proposal import (
    LearningDocumentDependency,
    SkillBundleProposal,
    SkillDraft,
)
from domain.learning.revision import DEPENDENCIES

_SKILL_FILE = "SKILL.md"
_TESTS = "tests/"


def document_dependencies(
    proposal: SkillBundleProposal, draft: SkillDraft, declared: Sequence[DeclaredDependency] = ()
) -> tuple[LearningDocumentDependency, ...]:
    """What has to be there for the proposal to be judged and to work, in the order of the kinds.

    ``declared`` is what a person said it rests on, and whether it can do without.
    """
    stated = {(one.dependency_kind, one.dependency_ref): one.required for one in declared}
    found = dict.fromkeys((*_found(proposal, draft), *stated))
    return tuple(
        LearningDocumentDependency(
            proposal_id=proposal.proposal_id,
            dependency_kind=kind,
            dependency_ref=ref,
            # Without its tests a skill still works; it only cannot be proven again.
            required=stated.get((kind, ref), kind is not DependencyKind.TEST_ARTIFACT),
        )
        for kind, ref in sorted(found, key=lambda one: (list(DependencyKind).index(one[0]), one[1]))
    )


def declared_dependencies(edits: Mapping[str, object]) -> tuple[DeclaredDependency, ...]:
    """The documents among checked edits."""
    given = cast("Sequence[object]", edits.get(DEPENDENCIES, ()))
    return tuple(DeclaredDependency.model_validate(one) for one in given)


def support_packs(declared: Sequence[DeclaredDependency]) -> tuple[str, ...]:
    """The support packs among what a person declared."""
    return tuple(one.dependency_ref for one in declared if one.dependency_kind is DependencyKind.SUPPORT_PACK)


def in_words(declared: DeclaredDependency) -> str:
    """A declared document as a SKILL.md names it."""
    need = "" if declared.required else ", if it is at hand"
    return f"{_WORDS[declared.dependency_kind]} {declared.dependency_ref}{need}"


_WORDS = {
    DependencyKind.SUPPORT_PACK: "The support pack",
    DependencyKind.APP_MANUAL: "The manual",
    DependencyKind.EXISTING_SKILL: "The skill",
    DependencyKind.CAPABILITY_MANIFEST: "The capability",
    DependencyKind.TEST_ARTIFACT: "The test",
}


def _found(proposal: SkillBundleProposal, draft: SkillDraft) -> Iterator[tuple[DependencyKind, str]]:
    for ref in proposal.support_pack_refs:
        yield DependencyKind.SUPPORT_PACK, ref
    if proposal.base is not None:
        yield DependencyKind.EXISTING_SKILL, f"{proposal.base.ability_id}@{proposal.base.version}"
    yield DependencyKind.CAPABILITY_MANIFEST, proposal.draft_manifest_path
    for file in draft.files:
        if file.path != _SKILL_FILE and file.path.startswith(_TESTS):
            yield DependencyKind.TEST_ARTIFACT, file.path
