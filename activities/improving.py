"""Drafting an improvement: the pinned base, read whole, with the change put onto it."""

from dataclasses import dataclass

from contracts.learning.aggregate import DraftRequest
from contracts.learning.improvement import BaseSkill
from domain.learning.delta import BaseMaterial, Improvement, ImprovementInput, Shown, improve
from domain.learning.lint import lint
from domain.learning.model_merge import ChosenDraft, DeterministicDraft
from stores.base_skills import BaseSkills

WRITTEN_BY = "improvement"
"""Who words an improvement: the base, and whoever changed it."""


@dataclass(frozen=True)
class Improved:
    """An improvement with what it was made on."""

    base: BaseSkill
    improvement: Improvement
    hand_edits: str | None
    traces: tuple[str, ...]
    """Of the base, for an improvement that nobody demonstrated."""

    @property
    def draft(self) -> ChosenDraft:
        """As a draft to stage."""
        found = self.improvement
        report = lint(found.interpretation, found.draft)
        return ChosenDraft(found.interpretation, found.draft, report, WRITTEN_BY, "")


class Improver:
    """Improves installed skills; the base stays as it is until the proposal is installed."""

    def __init__(self, bases: BaseSkills) -> None:
        self._bases = bases

    def improved(
        self, request: DraftRequest, pinned: BaseSkill, taught: DeterministicDraft | None
    ) -> Improved:
        """The base with what was taught and edited; a request to rebase starts from the present version.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND`` when the base is gone, ``HAND_EDITED`` when it cannot be read,
                ``REVISION_INVALID`` when an edit would rename it.
        """
        base = self._bases.present(pinned) if request.rebase else pinned
        material: BaseMaterial = self._bases.material(base)
        shown = Shown(taught.interpretation, taught.steps, taught.stated) if taught else None
        source = ImprovementInput(
            interpretation_id=request.interpretation_id,
            proposal_id=request.proposal_id,
            session=request.session,
            now=request.now,
            edits=request.edits,
            shown=shown,
        )
        edits = self._bases.edits_of(base.skill_slug) if material.edited else None
        return Improved(base, improve(material, source), edits, self._bases.traces_of(base))
