"""Which abilities use which server: those whose manifests require it, and those that have called it."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from contracts.base import clipped
from contracts.capabilities.manifest import CapabilityManifest
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.server_registry import MCPAbilityRelation, MCPLinkedAbilityRef
from stores.mcp_tables import mcp_dispatches
from stores.tables import abilities, capabilities

CONNECTOR_CAPS = ("mcp_connector:", "mcp_server:")
"""How a manifest's ``required_runtime_caps`` name a server: ``mcp_connector:<server_id>`` (DOC3 §7A.5)."""

_MOST = 20


def linked_abilities(
    connection: Connection, server_ids: Sequence[str], owner: str
) -> dict[str, tuple[MCPLinkedAbilityRef, ...]]:
    """The owner's abilities by server: ``primary`` where a manifest requires it, ``secondary`` where completed
    calls were made for one; at most 20 a server.
    """
    found: dict[str, dict[str, MCPLinkedAbilityRef]] = {server_id: {} for server_id in server_ids}
    if not found:
        return {}
    manifests = connection.execute(
        select(capabilities.c.ability_id, capabilities.c.manifest)
        .join(abilities, abilities.c.ability_id == capabilities.c.ability_id)
        .where(abilities.c.owner == owner)
        .order_by(capabilities.c.ability_id)
    )
    titles: dict[str, str] = {}
    for ability_id, text in manifests:
        try:
            manifest = CapabilityManifest.model_validate_json(text)
        except ValueError:
            continue
        titles[ability_id] = clipped(manifest.title, 160)
        for server_id in _required(manifest):
            if server_id in found:
                found[server_id][ability_id] = _ref(ability_id, titles, MCPAbilityRelation.PRIMARY)
    calls = connection.execute(
        select(mcp_dispatches.c.server_id, mcp_dispatches.c.ability_id)
        .distinct()
        .where(
            mcp_dispatches.c.owner == owner,
            mcp_dispatches.c.status == DispatchStatus.COMPLETED.value,
            mcp_dispatches.c.ability_id.is_not(None),
            mcp_dispatches.c.server_id.in_(server_ids),
        )
        .order_by(mcp_dispatches.c.ability_id)
    )
    for server_id, ability_id in calls:
        if ability_id in titles and ability_id not in found[server_id]:
            found[server_id][ability_id] = _ref(ability_id, titles, MCPAbilityRelation.SECONDARY)
    return {server_id: tuple(refs.values())[:_MOST] for server_id, refs in found.items()}


def servers_required(manifest: CapabilityManifest) -> frozenset[str]:
    """The ids of the servers that a manifest requires."""
    return frozenset(_required(manifest))


def _required(manifest: CapabilityManifest) -> list[str]:
    return [
        cap.removeprefix(prefix)
        for cap in manifest.required_runtime_caps
        for prefix in CONNECTOR_CAPS
        if cap.startswith(prefix)
    ]


def _ref(ability_id: str, titles: dict[str, str], relation: MCPAbilityRelation) -> MCPLinkedAbilityRef:
    return MCPLinkedAbilityRef(ability_id=ability_id, label=titles[ability_id], relation=relation)
