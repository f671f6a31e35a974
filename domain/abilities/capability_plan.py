"""Choose the control surface that a capability would be executed on now, and plan it (DOC3 §1.1D, §1.1E)."""

from collections.abc import Sequence

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.abilities.capability_plan import HybridActionPlan
from contracts.abilities.control_surface import ControlSurface as Surface
from contracts.base import clipped
from contracts.mcp.routing import RouteExplanation, RouteVerdict, SurfaceChoice
from domain.abilities.hybrid_plan import CONNECTORS, StepNeed, Truth, plan, ranked

_GOES = frozenset({RouteVerdict.ALLOW, RouteVerdict.ASK_FIRST})

_VERIFIED_ON = {
    "file_hash": Surface.NATIVE_OPENCLAW_TOOL,
    "snapshot_label": Surface.NATIVE_OPENCLAW_BROWSER,
    "api_state": Surface.APP_API,
    "window_state": Surface.RAW_UI,
    "manual_confirmation": Surface.RAW_UI,
}
"""Where each kind of verification rule looks; a person confirms what is on the screen."""


def truth_of(manifest: CapabilityManifest) -> Truth:
    """Where what the capability acts upon is: elsewhere when a connector is its own first way."""
    return Truth.REMOTE if manifest.surface_order[0] in CONNECTORS else Truth.LOCAL


def surface_choices(
    manifest: CapabilityManifest, missing: Sequence[str], route: RouteExplanation | None
) -> tuple[SurfaceChoice, ...]:
    """The capability's surfaces in the order in which they are tried, each with whether it can be used.

    ``missing`` is what the runtime is known to lack; ``route`` the way to a tool server, for the connectors.
    """
    order = ranked(frozenset(manifest.surface_order), truth_of(manifest))
    return tuple(_choice(surface, missing, route) for surface in order)


def _choice(surface: Surface, missing: Sequence[str], route: RouteExplanation | None) -> SurfaceChoice:
    if surface in CONNECTORS:
        usable = route is not None and route.decision in _GOES
        said = (
            "there is no server for it" if route is None else f"the way to its server: {route.decision.value}"
        )
        return SurfaceChoice(surface=surface, available=usable, reason=said)
    if missing:
        lacks = clipped(f"the runtime lacks {', '.join(missing)}", 240)
        return SurfaceChoice(surface=surface, available=False, reason=lacks)
    return SurfaceChoice(surface=surface, available=True, reason="nothing that it requires is missing")


def plan_of(manifest: CapabilityManifest, available: Sequence[Surface]) -> HybridActionPlan:
    """The plan that carries the capability out on the best of the surfaces that are available.

    Raises:
        CannotPlan: none is available, or the capability writes and nothing can verify it.
    """
    verify = {_VERIFIED_ON[rule.kind] for rule in manifest.verification if rule.kind in _VERIFIED_ON}
    if any(rule.kind == "tool_result" for rule in manifest.verification):
        verify |= set(available)
    need = StepNeed(
        step_id=clipped(manifest.capability_id, 120),
        purpose=manifest.title,
        act=frozenset(available),
        verify=frozenset(verify),
        # What is said to do nothing but read writes nothing; of everything else it is not known.
        writes=not manifest.permissions or not all(one.endswith(".read") for one in manifest.permissions),
        irreversible=manifest.requires_supervision,
        truth=truth_of(manifest),
    )
    return plan(manifest.capability_id, manifest.title, [need])
