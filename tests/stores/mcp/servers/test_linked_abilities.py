"""Abilities on a server's card: those that require it, and those that have called it."""

import json

from sqlalchemy import insert, select, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.mcp.servers import MCPAbilityRelation
from stores.mcp.mcp_tables import mcp_dispatches
from stores.mcp.servers.servers import ServerStore
from stores.platform.database import Database
from stores.platform.tables import capabilities
from tests.fixtures.installed import install
from tests.stores.mcp.registrations import NOW, RULES, registered


def requires(store: Database, ability_id: str, *caps: str) -> None:
    with store.write() as connection:
        at = capabilities.c.capability_id == ability_id
        manifest = json.loads(connection.scalar(select(capabilities.c.manifest).where(at)) or "")
        text = json.dumps({**manifest, "required_runtime_caps": list(caps)})
        connection.execute(update(capabilities).where(at).values(manifest=text))


def called(store: Database, server_id: str, ability_id: str, status: str, owner: str = "alice") -> None:
    with store.write() as connection:
        connection.execute(
            insert(mcp_dispatches).values(
                dispatch_id=str(uuid7()),
                owner=owner,
                status=status,
                server_id=server_id,
                tool_name="find",
                ability_id=ability_id,
                version=1,
                created_at=rfc3339(NOW),
                updated_at=rfc3339(NOW),
                body="{}",
            )
        )


def linked(store: Database, server_id: str, owner: str = "alice") -> list[tuple[str, str]]:
    listed = ServerStore(store, RULES).list_for(owner).servers
    (found,) = [one for one in listed if one.registry.server_id == server_id]
    return [(ref.ability_id, ref.relation.value) for ref in found.linked_abilities]


def test_what_a_manifest_requires_is_primary_and_what_called_it_is_secondary(store: Database) -> None:
    server_id = registered(store).server_id
    needs, uses, neither = (install(store, slug) for slug in ("needs", "uses", "neither"))
    requires(store, needs, "program:tar", f"mcp_connector:{server_id}")
    requires(store, neither, f"mcp_connector:{server_id}-other")
    for ability_id in (needs, uses, uses):
        called(store, server_id, ability_id, "completed")
    called(store, server_id, neither, "failed")
    assert linked(store, server_id) == [
        (needs, MCPAbilityRelation.PRIMARY.value),
        (uses, MCPAbilityRelation.SECONDARY.value),
    ]


def test_abilities_and_calls_of_others_are_not_told(store: Database) -> None:
    mine, theirs = registered(store).server_id, registered(store, "bob").server_id
    ability_id = install(store, "report", "bob")
    requires(store, ability_id, f"mcp_connector:{mine}", f"mcp_server:{theirs}")
    called(store, mine, ability_id, "completed", owner="bob")
    called(store, mine, "learned.gone", "completed")
    assert linked(store, mine) == []
    assert linked(store, theirs, "bob") == [(ability_id, "primary")]
