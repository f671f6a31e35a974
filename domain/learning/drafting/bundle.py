"""Parts of a skill bundle beside SKILL.md: capability manifest, workflow graph for reviewers, content hash.

DOC3 §1.1B (manifest), §0A.15, §0C.9A rule 1 (graph: never executed, never part of a SKILL.md or a prompt).
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import rfc8785

from contracts.abilities.capability_manifest import (
    CapabilityKind,
    CapabilityManifest,
    HealthProbe,
    LearningPolicy,
    MCPBinding,
    RuntimeBinding,
    VerificationRule,
)
from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.interpretation import (
    ObservedEffect,
    SemanticWorkflowInterpretation,
    WorkflowGraph,
    WorkflowStep,
    WorkflowStepType,
)
from contracts.learning.observation import ObservationAdapterKind, StepKindHint
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.session import LearnSession
from domain.abilities.hybrid_plan import CONNECTORS
from domain.learning.checkpoints.checkpoints import main_operation
from domain.learning.commands.command_line import hosts_in
from domain.learning.commands.operations import TEST, VERIFY
from domain.learning.comparison.parameters import ParameterWording, parameter_schema
from domain.learning.interpretation.browser import submits
from domain.learning.interpretation.inference import operations_in, sites_of
from domain.learning.interpretation.meaningful import went_wrong
from domain.learning.interpretation.naming import plain, slug_from_title
from domain.learning.interpretation.steps import DemonstratedStep, all_events

FAMILY = "workflow"
"""The family of a skill that belongs to no one app."""

SERVER_CAP = "mcp_server:"
"""How ``required_runtime_caps`` name a tool server (DOC3 §7A.5)."""

TOOL_BINDINGS = "mcp-bindings.json"
"""The file of a bundle with the tools that it goes through (DOC3 §0C.9A "Portable skill")."""

_MOST_RULES = 20

_MOST_ALIASES = 20

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


def capability_manifest(
    interpretation: SemanticWorkflowInterpretation,
    steps: Sequence[DemonstratedStep],
    session: LearnSession,
    *,
    slug: str,
    phrases: Sequence[str],
    programs: Sequence[str],
    rehearsal: Sequence[RehearsalCommand],
) -> CapabilityManifest:
    """The machine-readable truth of the drafted skill.

    A file's verification rule is of kind ``file_hash`` with ``expected`` "present" or "absent", a page's of kind
    ``snapshot_label``; the health probe's target is the programs, parted by spaces, that must be on the search
    path, or the site that was worked on. A skill that removes files, reaches the network or sends a form asks for
    supervision.
    """
    sites = sites_of(steps)
    sends = any(submits(s.events) for s in steps)
    removes = any(e.kind == "file_absent" for e in interpretation.observed_effects)
    reaches_out = any(hosts_in(r.command) for r in rehearsal)
    known = {s.value: s for s in ControlSurface}
    surfaces = tuple(known[s] for s in interpretation.preferred_control_surfaces if s in known)
    bindings = tool_bindings(steps, f"learned.{slug}", surfaces)
    return CapabilityManifest(
        capability_id=f"learned.{slug}",
        family=session.target_app_family or _family(steps),
        kind=CapabilityKind.WORKFLOW_PATTERN,
        title=interpretation.title,
        origin_skill=slug,
        aliases=tuple(p for p in phrases if len(p) <= 80)[:_MOST_ALIASES],
        action_verbs=tuple(dict.fromkeys(o.verb for o in operations_in(steps)))[:_MOST_ALIASES],
        surface_order=surfaces or (ControlSurface.NATIVE_OPENCLAW_TOOL,),
        runtime_binding=RuntimeBinding(binding_kind="workflow_pattern", target=slug),
        required_runtime_caps=(
            *(clipped(f"program:{p}", 120) for p in programs),
            *(f"{SERVER_CAP}{server}" for server in dict.fromkeys(one.server_id for one in bindings)),
        ),
        permissions=_permissions(steps, reaches_out=reaches_out),
        requires_supervision=removes or reaches_out or sends,
        dry_run_supported=bool(rehearsal),
        verification=_verification(interpretation),
        health_probe=_probe(programs, sites),
        learning_policy=LearningPolicy(),
        tool_bindings=bindings,
        input_schema=parameter_schema(interpretation.parameters) if interpretation.parameters else None,
    )


def tool_bindings(
    steps: Sequence[DemonstratedStep], capability_id: str, surfaces: Sequence[ControlSurface]
) -> tuple[MCPBinding, ...]:
    """The tools that the demonstration called with success, in the order of their first use.

    Of several calls of a tool the newest definition and scopes count, and one that changed something makes it ask.
    """
    found: dict[tuple[str, str], MCPBinding] = {}
    for event in all_events(steps):
        called = event.adapter_kind is ObservationAdapterKind.MCP_RECEIPT and not went_wrong(event)
        server, _, tool = (event.target_ref or "").partition("/")
        if not (called and event.app_family and server == event.app_family and tool):
            continue
        before = found.get((server, tool))
        found[server, tool] = MCPBinding(
            capability_id=capability_id,
            server_id=server,
            tool_name=clipped(tool, 120),
            ask_first=event.caused_state_change or (before is not None and before.ask_first),
            fallback_surface_order=tuple(one for one in surfaces if one not in CONNECTORS),
            definition_hash=event.tool.definition_hash if event.tool is not None else None,
            scopes=event.tool.scopes if event.tool is not None else (),
        )
    return tuple(found.values())


def _family(steps: Sequence[DemonstratedStep]) -> str:
    families = [e.app_family for e in all_events(steps) if e.app_family]
    return families[0] if families else FAMILY


def _verification(interpretation: SemanticWorkflowInterpretation) -> tuple[VerificationRule, ...]:
    wording = ParameterWording(interpretation.parameters)
    rules = tuple(
        _rule(e, clipped(wording.formal(e.path), 240)) for e in interpretation.observed_effects[-_MOST_RULES:]
    )
    if rules:
        return rules
    stated = interpretation.success_conditions or (interpretation.goal_summary,)
    return tuple(VerificationRule(kind="manual_confirmation", target=clipped(s, 240)) for s in stated)


def _rule(effect: ObservedEffect, target: str) -> VerificationRule:
    if effect.kind == "page_shows":
        return VerificationRule(kind="snapshot_label", target=target, expected="shown")
    expected = "absent" if effect.kind == "file_absent" else "present"
    return VerificationRule(kind="file_hash", target=target, expected=expected)


def _permissions(steps: Sequence[DemonstratedStep], *, reaches_out: bool) -> tuple[str, ...]:
    in_browser = bool(sites_of(steps))
    on_files = not in_browser or any(e.terminal for e in all_events(steps))
    return (
        *(("files.read", "files.write") if on_files else ()),
        *(("network.fetch",) if reaches_out else ()),
        *(("browser.use",) if in_browser else ()),
    )


def _probe(programs: Sequence[str], sites: Sequence[str]) -> HealthProbe:
    if not programs and sites:
        return HealthProbe(kind="browser", target=clipped(sites[0], 240))
    if not programs:
        return HealthProbe(kind="noop", target="none")
    target = ""
    for program in programs:
        longer = f"{target} {program}".strip()
        if len(longer) > 240:
            break
        target = longer
    return HealthProbe(kind="command", target=target)


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


_SAID = {
    StepKindHint.ACTION: WorkflowStepType.ACTION,
    StepKindHint.GUARD: WorkflowStepType.GUARD,
    StepKindHint.VERIFICATION: WorkflowStepType.VERIFICATION,
    StepKindHint.DECISION: WorkflowStepType.DECISION,
}


def _step_type(step: DemonstratedStep) -> WorkflowStepType:
    if step.kind is not None and step.kind in _SAID:
        return _SAID[step.kind]
    words = step.label.lower().split()
    if step.marked and words and words[0] in _BY_FIRST_WORD:
        return _BY_FIRST_WORD[words[0]]
    is_check = any(e.terminal for e in step.events) and main_operation(step) in (VERIFY, TEST)
    return WorkflowStepType.VERIFICATION if is_check else WorkflowStepType.ACTION


def _description(step: DemonstratedStep) -> str | None:
    lines = [e.terminal.command if e.terminal else e.action_label for e in step.events]
    return clipped("\n".join(lines), 800) or None


def content_hash(draft: SkillDraft, interpretation: SemanticWorkflowInterpretation) -> str:
    """SHA-256 in hex over the canonical JSON (RFC 8785) of the draft and the meaning it was made from.

    Left out is what differs between two equal drafts: ids of the interpretation, of events and of the
    session, times, confidences and who wrote it. Files count by path and content, in any order.
    """
    value = {
        "draft": {
            **draft.model_dump(
                mode="json",
                exclude={
                    "files",
                    "rehearsal",
                    "further_demonstrations",
                    "dependencies",
                    "starting_state_id",
                    "folders",
                    "conditions",
                    "untested",
                    "unrehearsed",
                    "left_out",
                },
            ),
            "files": {f.path: f.content for f in draft.files},
            "rehearsal": [[r.command, r.working_folder] for r in draft.rehearsal],
            **_further(draft),
            **_conditions(draft),
            **_folders(draft),
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


def _conditions(draft: SkillDraft) -> dict[str, Any]:
    """Absent where there are none, likewise."""
    found = [condition.model_dump(mode="json") for condition in draft.conditions]
    left = [one.command for one in draft.unrehearsed]
    return ({"conditions": found} if found else {}) | ({"unrehearsed": left} if left else {})


def _folders(draft: SkillDraft) -> dict[str, Any]:
    """Absent where there is one only, likewise."""
    found = [folder.model_dump(mode="json") for folder in draft.folders]
    return {"folders": found} if found else {}


def _optional(interpretation: SemanticWorkflowInterpretation) -> dict[str, Any]:
    found = [
        step.model_dump(mode="json", exclude={"evidence_event_ids"}) for step in interpretation.optional_steps
    ]
    return {"optional_steps": found} if found else {}


def _dependencies(interpretation: SemanticWorkflowInterpretation) -> dict[str, Any]:
    """Absent where none was declared, likewise."""
    found = [one.model_dump(mode="json") for one in interpretation.dependencies]
    return {"document_dependencies": found} if found else {}
