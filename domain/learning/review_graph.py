"""The workflow graph for reviewers: what was shown, step by step (DOC3 §0A.15, §0C.9A rule 1).

Never executed, and never part of a SKILL.md or an agent's prompt.
"""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.workflow_graph import WorkflowGraph, WorkflowStep, WorkflowStepType
from domain.learning.checkpoints import main_operation
from domain.learning.naming import plain, slug_from_title
from domain.learning.operations import TEST, VERIFY
from domain.learning.steps import DemonstratedStep

_BY_FIRST_WORD = {
    "check": WorkflowStepType.VERIFICATION,
    "verify": WorkflowStepType.VERIFICATION,
    "confirm": WorkflowStepType.VERIFICATION,
    "decide": WorkflowStepType.DECISION,
    "choose": WorkflowStepType.DECISION,
    "if": WorkflowStepType.BRANCH,
    "ask": WorkflowStepType.ASK_USER,
    "repeat": WorkflowStepType.LOOP,
}


def workflow_graph(
    interpretation: SemanticWorkflowInterpretation, steps: Sequence[DemonstratedStep]
) -> WorkflowGraph:
    """The demonstrated steps in a row, then one node for each checkpoint to verify.

    Raises:
        ValueError: there are no steps and no checkpoints to draw.
    """
    if not steps and not interpretation.checkpoints:
        raise ValueError("a graph needs at least one step or checkpoint")
    surfaces = tuple(
        ControlSurface(s) for s in interpretation.preferred_control_surfaces if s in set(ControlSurface)
    )
    ids = [f"step-{n:02d}" for n in range(1, len(steps) + 1)]
    ids += [f"verify-{c.checkpoint_id}" for c in interpretation.checkpoints]
    following = [*((name,) for name in ids[1:]), ()]
    nodes = [
        WorkflowStep(
            step_id=ids[position],
            step_type=_step_type(step),
            label=clipped(plain(step.label) or f"Step {position + 1}", 240),
            description=_description(step),
            preferred_surfaces=surfaces,
            next_step_ids=following[position],
        )
        for position, step in enumerate(steps)
    ]
    nodes += [
        WorkflowStep(
            step_id=ids[position],
            step_type=WorkflowStepType.VERIFICATION,
            label=checkpoint.goal,
            description=checkpoint.success_condition,
            next_step_ids=following[position],
            verification_rule_ref=f"checkpoints/{checkpoint.checkpoint_id}",
        )
        for position, checkpoint in enumerate(interpretation.checkpoints, start=len(steps))
    ]
    return WorkflowGraph(
        workflow_id=f"workflow-{slug_from_title(interpretation.title)}",
        title=interpretation.title,
        entry_step_id=ids[0],
        steps=tuple(nodes),
    )


def _step_type(step: DemonstratedStep) -> WorkflowStepType:
    words = step.label.lower().split()
    if step.marked and words and words[0] in _BY_FIRST_WORD:
        return _BY_FIRST_WORD[words[0]]
    is_check = any(e.terminal for e in step.events) and main_operation(step) in (VERIFY, TEST)
    return WorkflowStepType.VERIFICATION if is_check else WorkflowStepType.ACTION


def _description(step: DemonstratedStep) -> str | None:
    lines = [e.terminal.command if e.terminal else e.action_label for e in step.events]
    return clipped("\n".join(lines), 800) or None
