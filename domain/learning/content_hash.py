"""The identity of a draft: a hash of all that matters in it, and of nothing else."""

import hashlib
from typing import Any

import rfc8785

from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import SkillDraft


def content_hash(draft: SkillDraft, interpretation: SemanticWorkflowInterpretation) -> str:
    """SHA-256 in hex over the canonical JSON (RFC 8785) of the draft and the meaning it was made from.

    Left out is what differs between two equal drafts: ids of the interpretation, of events and of the
    session, times, confidences and who wrote it. Files count by path and content, in any order.
    """
    value = {
        "draft": {
            **draft.model_dump(
                mode="json", exclude={"files", "rehearsal", "further_demonstrations", "dependencies"}
            ),
            "files": {f.path: f.content for f in draft.files},
            "rehearsal": [[r.command, r.working_folder] for r in draft.rehearsal],
            **_further(draft),
            "dependencies": sorted(draft.dependencies),
        },
        "interpretation": {
            **interpretation.model_dump(
                mode="json",
                include={
                    "title",
                    "goal_summary",
                    "use_conditions",
                    "non_use_conditions",
                    "project_scope",
                    "preferred_control_surfaces",
                    "success_conditions",
                    "checkpoints",
                },
            ),
            "observed_effects": sorted([e.kind, e.path] for e in interpretation.observed_effects),
            "parameters": [p.model_dump(mode="json") for p in interpretation.parameters],
            **_optional(interpretation),
            **_dependencies(interpretation),
        },
    }
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def _further(draft: SkillDraft) -> dict[str, Any]:
    """Absent where there are none, so that a single demonstration keeps the hash it always had."""
    found = [
        {
            "number": one.number,
            "commands": [[r.command, r.working_folder] for r in one.commands],
            "effects": sorted([e.kind, e.path] for e in one.effects),
            "inputs": sorted(one.inputs),
        }
        for one in draft.further_demonstrations
    ]
    return {"further_demonstrations": found} if found else {}


def _optional(interpretation: SemanticWorkflowInterpretation) -> dict[str, Any]:
    found = [
        step.model_dump(mode="json", exclude={"evidence_event_ids"}) for step in interpretation.optional_steps
    ]
    return {"optional_steps": found} if found else {}


def _dependencies(interpretation: SemanticWorkflowInterpretation) -> dict[str, Any]:
    """Absent where nobody declared any, likewise."""
    found = [one.model_dump(mode="json") for one in interpretation.dependencies]
    return {"document_dependencies": found} if found else {}
