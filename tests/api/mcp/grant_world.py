"""A standing approval on record, for the tests of every route."""

from datetime import UTC, datetime, timedelta

from uuid_utils import uuid7

from contracts.mcp.dispatch import GrantScope, MCPGrant
from stores.mcp.mcp_tables import GRANTS
from stores.platform.database import Database


def add_standing_approval(database: Database, owner: str, grant_id: str) -> None:
    """Puts a standing approval of the owner's on record."""
    now = datetime.now(UTC)
    grant = MCPGrant(
        grant_id=grant_id,
        owner_user_id=owner,
        dispatch_id=str(uuid7()),
        server_id="office",
        tool_name="draft_create",
        tool_definition_hash="5d" * 32,
        scope=GrantScope.SESSION,
        scope_ref="session-1",
        granted_by=owner,
        created_at=now,
        expires_at=now + timedelta(hours=12),
    )
    with database.write() as connection:
        GRANTS.add_if_absent(connection, grant)
