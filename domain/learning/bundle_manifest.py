"""The capability manifest of a learned skill (DOC3 §1.1B)."""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.capabilities.control_surface import ControlSurface
from contracts.capabilities.manifest import (
    CapabilityKind,
    CapabilityManifest,
    HealthProbe,
    LearningPolicy,
    RuntimeBinding,
    VerificationRule,
)
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.session import LearnSession
from domain.learning.command_line import hosts_in
from domain.learning.inference import operations_in
from domain.learning.steps import DemonstratedStep, all_events

FAMILY = "workflow"
"""The family of a skill that belongs to no one app."""

_MOST_RULES = 20
_MOST_ALIASES = 20


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

    A file's verification rule is of kind ``file_hash`` with ``expected`` "present" or "absent"; the health
    probe's target is the programs, parted by spaces, that must be on the search path. A skill that removes
    files or reaches the network asks for supervision.
    """
    removes = any(e.kind == "file_absent" for e in interpretation.observed_effects)
    reaches_out = any(hosts_in(r.command) for r in rehearsal)
    known = {s.value: s for s in ControlSurface}
    surfaces = tuple(known[s] for s in interpretation.preferred_control_surfaces if s in known)
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
        required_runtime_caps=tuple(clipped(f"program:{p}", 120) for p in programs),
        permissions=("files.read", "files.write", *(("network.fetch",) if reaches_out else ())),
        requires_supervision=removes or reaches_out,
        dry_run_supported=bool(rehearsal),
        verification=_verification(interpretation),
        health_probe=_probe(programs),
        learning_policy=LearningPolicy(),
    )


def _family(steps: Sequence[DemonstratedStep]) -> str:
    families = [e.app_family for e in all_events(steps) if e.app_family]
    return families[0] if families else FAMILY


def _verification(interpretation: SemanticWorkflowInterpretation) -> tuple[VerificationRule, ...]:
    rules = tuple(
        VerificationRule(
            kind="file_hash", target=e.path, expected="present" if e.kind == "file_exists" else "absent"
        )
        for e in interpretation.observed_effects[-_MOST_RULES:]
    )
    if rules:
        return rules
    stated = interpretation.success_conditions or (interpretation.goal_summary,)
    return tuple(VerificationRule(kind="manual_confirmation", target=clipped(s, 240)) for s in stated)


def _probe(programs: Sequence[str]) -> HealthProbe:
    if not programs:
        return HealthProbe(kind="noop", target="none")
    target = ""
    for program in programs:
        longer = f"{target} {program}".strip()
        if len(longer) > 240:
            break
        target = longer
    return HealthProbe(kind="command", target=target)
