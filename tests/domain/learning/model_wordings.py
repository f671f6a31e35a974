"""A demonstration's draft, and a good wording of it that tests spoil."""

from typing import Any

from contracts.learning.model_draft import KeptModelEdits, ModelDraftEdits
from domain.learning.model.merge import ChosenDraft, DeterministicDraft, stated_fields, word_draft
from tests.domain.conftest import Teaching

TEACH = Teaching()


def base_of(
    goal: str | None = None, edits: dict[str, object] | None = None, **changes: Any
) -> DeterministicDraft:
    marks = [TEACH.mark("mark_goal", 0.5, goal)] if goal else []
    learned = TEACH.learn(TEACH.reports(), marks, edits=edits, **changes)
    stated = stated_fields(learned.interpretation, marks, edits or {})
    return DeterministicDraft(
        TEACH.session(), learned.steps, learned.interpretation, learned.draft, stated, edits or {}
    )


BASE = base_of()


def proposed(base: DeterministicDraft = BASE, **changes: Any) -> ModelDraftEdits:
    """A good wording of the draft, with ``changes``."""
    values: dict[str, Any] = {
        "title": "Rank the sales reports and pack them",
        "goal_summary": "Rank the sales of the regions, archive the reports and record their checksum",
        "use_conditions": ["When the sales figures of a period are due"],
        "non_use_conditions": ["When the figures are only to be looked at"],
        "checkpoints": [
            {
                "checkpoint_id": c.checkpoint_id,
                "goal": f"{c.goal}, for the reports",
                "success_condition": c.success_condition,
            }
            for c in base.interpretation.checkpoints
        ],
        "trigger_phrases": ["rank the sales reports", "pack the sales reports"],
        "negative_triggers": ["sales forecast"],
    }
    return ModelDraftEdits.model_validate(values | changes)


def worded(edits: ModelDraftEdits, base: DeterministicDraft = BASE, wish: str = "") -> ChosenDraft:
    return word_draft(base, KeptModelEdits(edits=edits, wish=wish), "small-writer")


def first_checkpoint(**changes: str) -> dict[str, Any]:
    checkpoints = [c.model_dump() for c in proposed().checkpoints]
    checkpoints[0] |= changes
    return {"checkpoints": checkpoints}
