"""Servers and sign-ins for the registry's tests."""

from datetime import UTC, datetime
from uuid import uuid4

from pydantic import AnyUrl
from sqlalchemy import insert

from contracts.base import rfc3339
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.servers import MCPServerCreateRequest, MCPServerRegistryEntry
from contracts.platform.commands import CommitKey
from domain.mcp.registration import RegistrationRules
from stores.mcp.mcp_tables import mcp_auth_profiles
from stores.mcp.receipts import ReceiptContext
from stores.mcp.servers.servers import ServerStore
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
RULES = RegistrationRules(local_programs=("mcp-server-time",), local_environment=("WORKER_TZ",))


def key(name: str | None = None, *, body: str = "") -> CommitKey:
    """An idempotency key of alice's; a new one without a name."""
    return CommitKey(owner_user_id="alice", key=name or str(uuid4()), request_digest=digest_of(body))


def told(server_id: str = "", *, owner: str = "alice", correlation_id: str = "request-1") -> ReceiptContext:
    """That ``owner`` does something to a server now."""
    return ReceiptContext(f"mcp-server/{server_id}", owner, correlation_id, NOW, owner)


def asked(**fields: object) -> MCPServerCreateRequest:
    """A registration of a web server, with other ``fields``."""
    usual: dict[str, object] = {
        "provider": MCPProvider.CUSTOM_REMOTE,
        "display_name": "Tickets",
        "endpoint_url": AnyUrl("https://tickets.example.com/mcp"),
        "transport": MCPTransport.REMOTE_HTTP,
    }
    return MCPServerCreateRequest.model_validate({**usual, **fields})


def registered(store: Database, owner: str = "alice", **fields: object) -> MCPServerRegistryEntry:
    """A server that ``owner`` registered."""
    done = ServerStore(store, RULES).register(asked(**fields), key(), told(owner=owner))
    return done.server.registry


def signed_in(store: Database, profile_id: str, owner: str = "alice", **fields: object) -> MCPAuthProfile:
    """A sign-in of ``owner``."""
    profile = MCPAuthProfile.model_validate(
        {
            "auth_profile_id": profile_id,
            "provider": MCPProvider.CUSTOM_REMOTE,
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )
    with store.write() as connection:
        connection.execute(
            insert(mcp_auth_profiles).values(
                auth_profile_id=profile_id,
                owner=owner,
                version=1,
                created_at=rfc3339(NOW),
                updated_at=rfc3339(NOW),
                body=canonical_json(profile),
            )
        )
    return profile
