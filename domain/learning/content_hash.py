"""The identity of a draft: a hash of all that matters in it, and of nothing else."""

import hashlib

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
            **draft.model_dump(mode="json", exclude={"files", "rehearsal", "dependencies"}),
            "files": {f.path: f.content for f in draft.files},
            "rehearsal": [[r.command, r.working_folder] for r in draft.rehearsal],
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
        },
    }
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
