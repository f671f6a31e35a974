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
from contracts.learning.interpretation import ObservedEffect, SemanticWorkflowInterpretation
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.session import LearnSession
from domain.learning.browser_steps import submits
from domain.learning.command_line import hosts_in
from domain.learning.inference import operations_in, sites_of
from domain.learning.parameter_wording import ParameterWording
from domain.learning.parameters import parameter_schema
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
        permissions=_permissions(steps, reaches_out=reaches_out),
        requires_supervision=removes or reaches_out or sends,
        dry_run_supported=bool(rehearsal),
        verification=_verification(interpretation),
        health_probe=_probe(programs, sites),
        learning_policy=LearningPolicy(),
        input_schema=parameter_schema(interpretation.parameters) if interpretation.parameters else None,
    )


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
