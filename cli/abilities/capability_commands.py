"""``apprentice capabilities``: the bridge that agents route by, its health, and rechecks."""

from typing import Annotated

import typer
from rich.console import Group
from rich.markup import escape
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.output import listing
from clients.apprentice.abilities import CapabilityApi
from contracts.abilities.capability_health import MOST_CANARIES
from contracts.abilities.capability_manifest import BridgeState, HealthStatus

app = typer.Typer(no_args_is_help=True, help="The capability bridge: entries, health, use, rechecks.")

_COLOURS = {
    HealthStatus.HEALTHY: "green",
    HealthStatus.DEGRADED: "yellow",
    HealthStatus.QUARANTINED: "red",
}
_STATES = {
    BridgeState.FRESH: "",
    BridgeState.STALE: "The bridge is [yellow]stale[/]: these are the last good entries.",
    BridgeState.PARTIAL_DEPLOYMENT: "A part is [yellow]not deployed[/]: GET /api/learn/deployment says which.",
    BridgeState.PARTIAL: "The bridge is [yellow]partial[/]: some entries are the last good ones.",
}
_NONE = "No capabilities yet; installing an ability makes one."


@api_command(app, "bridge")
def bridge(call: Invocation) -> None:
    """List the entries that agent runtimes route by."""
    found = CapabilityApi(call.api.http).bridge()
    table = listing("capability", "title", "tier", "health", "routable", "owner")
    for one in found.entries:
        table.add_row(
            one.capability_id,
            escape(one.title),
            str(one.route_tier),
            _coloured(one.health_status, one.health_reason_code),
            "yes" if one.routing_eligible else "no",
            one.origin_owner.value,
        )
    said = _STATES[found.bridge_state]
    listed = table if found.entries else Text(_NONE)
    call.answer(Group(Text.from_markup(said), listed) if said else listed)


@api_command(app, "health")
def health(call: Invocation) -> None:
    """Say what is installed, what is healthy, and what can be used now."""
    found = CapabilityApi(call.api.http).health()
    table = listing("capability", "health", "runtime", "verified", "rechecked again from")
    for one in found.capabilities:
        table.add_row(
            one.capability_id,
            _coloured(one.health_status, ", ".join(one.reason_codes)),
            one.session_availability.value,
            f"{one.last_verified_at:%Y-%m-%d %H:%M}" if one.last_verified_at else "",
            f"{one.cooldown_until:%Y-%m-%d %H:%M}" if one.cooldown_until else "",
        )
    call.answer(table if found.capabilities else _NONE)


@api_command(app, "stats")
def stats(call: Invocation) -> None:
    """Say how often each capability was used, and how its checkpoints went."""
    found = CapabilityApi(call.api.http).stats()
    table = listing("capability", "uses", "reached", "skipped", "failed", "last used")
    for one in found.capabilities:
        counts = (one.uses, one.checkpoints_reached, one.checkpoints_skipped, one.checkpoints_failed)
        last = f"{one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else ""
        table.add_row(one.capability_id, *map(str, counts), last)
    call.answer(table if found.capabilities else _NONE)


@api_command(app, "reprobe")
def reprobe(
    call: Invocation,
    capability: Annotated[str, typer.Argument(help="The capability's id.", metavar="CAPABILITY")],
    canaries: Annotated[
        int, typer.Option(min=1, max=MOST_CANARIES, help="Rechecks in a row; a bad one ends them.")
    ] = 1,
) -> None:
    """Recheck a capability now; five good rechecks in a row lead out of quarantine."""
    started = CapabilityApi(call.api.http).reprobe(capability, canaries=canaries)
    call.answer(
        f"The recheck of {escape(started.capability_id)} has begun; it was {started.health_status.value}. "
        "See [cyan]apprentice capabilities health[/]."
    )


def _coloured(status: HealthStatus, reasons: str | None) -> str:
    colour = _COLOURS.get(status, "dim")
    return f"[{colour}]{status.value}[/]" + (f" ({escape(reasons)})" if reasons else "")
