"""Rank control surfaces, plan steps over several of them, and trace the execution (DOC3 §1.1E, §1.1F, §1.1Q).

The most semantic available surface comes first. Rules: never two live ways for one action; every write is verified,
on another surface than it was made where possible; a fallback is recorded; an irreversible step needs a confirmation.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts.abilities.capability_plan import (
    CapabilityExecutionTrace,
    HybridActionPlan,
    HybridActionPlanStep,
    SupervisionClass,
    TracedStep,
    VerificationOutcome,
)
from contracts.abilities.control_surface import ControlSurface
from contracts.abilities.control_surface import ControlSurface as Surface


class Truth(StrEnum):
    """Where the thing acted upon really is."""

    LOCAL = "local"
    REMOTE = "remote"


_NATIVE = (Surface.NATIVE_OPENCLAW_TOOL,)
_CONNECTORS = (Surface.MCP_CONNECTOR, Surface.MCP_SERVER)
_BRIDGE = (Surface.BRIDGE_TOOL,)
_PROGRAMS = (Surface.APP_API, Surface.WRAPPER_SCRIPT, Surface.APPLESCRIPT, Surface.PYTHON_WRAPPER)
_INPUT = (Surface.KEYBOARD_SHORTCUT, Surface.MIDI_BINDING)
_PAGES = (Surface.NATIVE_OPENCLAW_BROWSER, Surface.PAGE_KNOWLEDGE_UI)
_RAW = (Surface.RAW_UI,)

ORDER: dict[Truth, tuple[Surface, ...]] = {
    # Connectors come with the bridge's tools where the truth is local: both are structured.
    Truth.LOCAL: (*_NATIVE, *_BRIDGE, *_CONNECTORS, *_PROGRAMS, *_INPUT, *_PAGES, *_RAW),
    Truth.REMOTE: (*_NATIVE, *_CONNECTORS, *_BRIDGE, *_PROGRAMS, *_INPUT, *_PAGES, *_RAW),
}
"""Every surface once, best first."""

CONNECTORS = frozenset(_CONNECTORS)
"""Surfaces that need a tool server."""

USER_INTERFACE = frozenset({*_PAGES, *_RAW})
"""Surfaces that act through what a person sees; acting there where a semantic one failed is a fallback."""


def ranked(available: Collection[Surface], truth: Truth = Truth.LOCAL) -> tuple[Surface, ...]:
    """The surfaces that are available, healthy and allowed, best first."""
    return tuple(surface for surface in ORDER[truth] if surface in available)


@dataclass(frozen=True)
class StepNeed:
    """What one step needs, and the surfaces that can read, act and verify it here and now."""

    step_id: str
    purpose: str
    act: frozenset[ControlSurface]
    read: frozenset[ControlSurface] = frozenset()
    verify: frozenset[ControlSurface] = frozenset()
    writes: bool = True
    irreversible: bool = False
    truth: Truth = Truth.LOCAL


class CannotPlan(ValueError):
    """No plan keeps the rules; the text says which step lacks what."""


def plan(capability_id: str, goal: str, needs: Sequence[StepNeed]) -> HybridActionPlan:
    """The plan that takes the most semantic surface for each step.

    Raises:
        CannotPlan: a step has no surface to act on, or writes and has none to verify it.
    """
    if not needs:
        raise CannotPlan("a plan needs at least one step")
    return HybridActionPlan(capability_id=capability_id, goal=goal, steps=tuple(map(_step, needs)))


def _step(need: StepNeed) -> HybridActionPlanStep:
    act = ranked(need.act, need.truth)
    if not act:
        raise CannotPlan(f"step {need.step_id} has no surface to act on")
    best, *others = act
    looking = ranked(need.verify or need.read, need.truth)
    if need.writes and not looking:
        raise CannotPlan(f"step {need.step_id} writes, and nothing can verify it")
    # What made a change is the worst witness of it.
    elsewhere = [surface for surface in looking if surface is not best]
    read = ranked(need.read, need.truth)
    return HybridActionPlanStep(
        step_id=need.step_id,
        purpose=need.purpose,
        read_surface=read[0] if read else None,
        act_surface=best,
        verify_surface=(elsewhere or list(looking) or [best])[0],
        fallback_surfaces=tuple(others),
        supervision_class=_supervision(need),
    )


def _supervision(need: StepNeed) -> SupervisionClass:
    if need.irreversible:
        return SupervisionClass.ALWAYS_CONFIRM
    return SupervisionClass.CONFIRM_CRITICAL if need.writes else SupervisionClass.NONE


@dataclass(frozen=True)
class Attempt:
    """One try of a step on one surface, and what its verification saw; None where it was not reached."""

    step_id: str
    surface: ControlSurface
    success: bool
    verified: bool | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Execution:
    """When, where and how long a plan was carried out."""

    trace_id: str
    app_id: str
    created_at: datetime
    elapsed_ms: int
    user_takeover: bool = False
    session_key: str | None = None
    agent_id: str | None = None


def trace(plan: HybridActionPlan, attempts: Sequence[Attempt], about: Execution) -> CapabilityExecutionTrace:
    """The record of carrying out ``plan``: a step counts as done when a try succeeded and was not disproved.

    Raises:
        ValueError: nothing was attempted, or an attempt is of no step of the plan or on no surface of it.
    """
    steps = {step.step_id: step for step in plan.steps}
    for attempt in attempts:
        step = steps.get(attempt.step_id)
        if step is None or attempt.surface not in (step.act_surface, *step.fallback_surfaces):
            raise ValueError(f"the plan has no step {attempt.step_id} on {attempt.surface.value}")
    if not attempts:
        raise ValueError("a trace needs at least one attempt")
    done = {a.step_id for a in attempts if a.success and a.verified is not False}
    success = done == set(steps)
    return CapabilityExecutionTrace(
        trace_id=about.trace_id,
        capability_id=plan.capability_id,
        app_id=about.app_id,
        goal=plan.goal,
        session_key=about.session_key,
        agent_id=about.agent_id,
        surfaces_attempted=tuple(dict.fromkeys(attempt.surface.value for attempt in attempts)),
        steps=tuple(
            TracedStep(
                step_id=a.step_id,
                action_label=steps[a.step_id].purpose,
                surface=a.surface.value,
                success=a.success and a.verified is not False,
            )
            for a in attempts
        ),
        verification_results=tuple(
            VerificationOutcome(
                kind=steps[a.step_id].verify_surface.value, passed=a.verified, detail=a.detail
            )
            for a in attempts
            if a.verified is not None
        ),
        fallback_used=any(a.surface is not steps[a.step_id].act_surface for a in attempts),
        user_takeover=about.user_takeover,
        success=success,
        failure_fingerprint=None if success else _fingerprint(plan, attempts, done),
        elapsed_ms=about.elapsed_ms,
        created_at=about.created_at,
    )


def _fingerprint(plan: HybridActionPlan, attempts: Sequence[Attempt], done: set[str]) -> str:
    # The same step failing on the same surfaces is the same failure, whenever it happens.
    failed = sorted({f"{a.step_id}@{a.surface.value}" for a in attempts if a.step_id not in done})
    return hashlib.sha256("\n".join([plan.capability_id, *failed]).encode()).hexdigest()[:32]
