"""Explains how a capability would be executed now: health, runtime, bridge, route to a tool server, plan."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.capability_health import CapabilityHealthState, SessionAvailability
from contracts.abilities.capability_manifest import BridgeState, CapabilityManifest
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import DispatchCaller
from contracts.mcp.routing import (
    CapabilityExplainRequest,
    CapabilityExplanation,
    RouteExplainRequest,
    RouteExplanation,
)
from domain.abilities.availability import USABLE_HEALTH, bridge_state, missing
from domain.abilities.capability_plan import plan_of, surface_choices
from domain.abilities.hybrid_plan import CONNECTORS, CannotPlan
from domain.abilities.matching import explain
from domain.mcp.route_scoring import servers_required
from stores.abilities.ability_reads import visible
from stores.abilities.ability_rows import Standing, capability_row, entry_of, standing_in
from stores.abilities.capability_health import no_such_capability
from stores.abilities.derived_files import health_state, read_bridge_state, read_inventory
from stores.platform.database import Database

ExplainRoute = Callable[[Connection, RouteExplainRequest, DispatchCaller, datetime], RouteExplanation]
"""Explains the route to a tool server, inside the caller's transaction."""


class CapabilityExplainer:
    """Explains the capabilities that a user may see. Safe to share between threads."""

    def __init__(self, database: Database, explain_route: ExplainRoute) -> None:
        self._database = database
        self._explain_route = explain_route

    def explain(
        self, asked: CapabilityExplainRequest, caller: DispatchCaller, now: datetime
    ) -> CapabilityExplanation:
        """Whether and how the capability would be used for ``caller`` now.

        Raises:
            Refusal: ``NOT_FOUND`` when there is none that the caller may see; ``CONFLICT`` when its manifest
                cannot be read.
        """
        with self._database.read() as connection:
            standing, ability = _found(connection, asked.capability_id, caller.user_id)
            inventory = read_inventory(connection)
            kept = read_bridge_state(connection)
            health = health_state(standing, ability, inventory, now)
            manifest = standing.manifest
            route = self._route(connection, manifest, asked, caller, now)
        choices = surface_choices(manifest, missing(manifest, inventory), route)
        available = [one.surface for one in choices if one.available]
        against = _against(ability, manifest, health)
        try:
            plan = plan_of(manifest, available)
        except CannotPlan as problem:
            plan = None
            against.append(clipped(f"No plan: {problem}.", 240))
        return CapabilityExplanation(
            capability_id=manifest.capability_id,
            ability_id=ability.ability_id,
            title=manifest.title,
            would_be_used=not against,
            why_not=tuple(against),
            health=health,
            bridge_state=bridge_state(kept.bridge_state if kept else BridgeState.STALE, inventory, now),
            surfaces=choices,
            chosen_surface=plan.steps[0].act_surface if plan else None,
            plan=plan,
            route=route,
            match=explain(asked.user_query, ability, asked.project_id) if asked.user_query else None,
            explained_at=now,
        )

    def _route(
        self,
        connection: Connection,
        manifest: CapabilityManifest,
        asked: CapabilityExplainRequest,
        caller: DispatchCaller,
        now: datetime,
    ) -> RouteExplanation | None:
        """The route to a tool server, where the capability uses one."""
        if CONNECTORS.isdisjoint(manifest.surface_order) and not servers_required(manifest):
            return None
        request = RouteExplainRequest(
            capability_id=manifest.capability_id, project_id=asked.project_id, runtime=asked.runtime
        )
        return self._explain_route(connection, request, caller, now)


def _found(
    connection: Connection, capability_id: str, reader: str
) -> tuple[Standing, AbilityAvailabilityEntry]:
    row = capability_row(connection, capability_id)
    ability = entry_of(connection, row["ability_id"]) if row is not None else None
    if row is None or ability is None or not visible(ability, reader):
        raise no_such_capability()
    try:
        return standing_in(row), ability
    except ValueError:
        raise Refusal(
            ErrorCode.CONFLICT,
            "Its manifest cannot be read; installing the ability anew mends it.",
            retryable=False,
        ) from None


def _against(
    ability: AbilityAvailabilityEntry, manifest: CapabilityManifest, health: CapabilityHealthState
) -> list[str]:
    against: list[str] = []
    if not ability.usable_now:
        against.append(ability.reason_unusable or "Its ability cannot be used now.")
    if not manifest.routing_eligible:
        against.append("Its manifest takes it out of routing.")
    if health.health_status not in USABLE_HEALTH:
        codes = f" ({', '.join(health.reason_codes)})" if health.reason_codes else ""
        against.append(clipped(f"Its health is {health.health_status.value}{codes}.", 240))
    if health.session_availability is SessionAvailability.UNSUPPORTED:
        against.append("The runtime lacks what it requires.")
    return against
