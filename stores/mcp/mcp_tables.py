"""The tables of the tool gateway: servers, tools, sign-ins, policy, approvals and calls, and their documents."""

from sqlalchemy import Boolean, Column, Index, Integer, Table, Text

from contracts.base import rfc3339
from contracts.errors import ErrorCode
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.auth_work import SignInFlow
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.dispatch_work import DispatchRecord
from contracts.mcp.health import MCPConnectionHealth
from contracts.mcp.servers import MCPServerRegistryEntry
from stores.platform.document_table import DocumentTable
from stores.platform.tables import metadata

mcp_servers = Table(
    "mcp_servers",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("auth_profile_id", Text, index=True),
    Column("enabled", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("deleted_at", Text),
    Column("tools_listed_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("mcp_servers_by_owner", "owner", "server_id"),
)

mcp_server_health = Table(
    "mcp_server_health",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("next_probe_at", Text, index=True),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

mcp_tools = Table(
    "mcp_tools",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("tool_name", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("definition_hash", Text, nullable=False),
    Column("pinned_hash", Text),
    Column("declared_idempotent", Boolean, nullable=False),
    Column("definition", Text, nullable=False),
    Column("pinned_definition", Text),
    Column("first_seen_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

# `body` is what people see of a sign-in; `endpoints` is what a client needs to know of its authorization server.
mcp_auth_profiles = Table(
    "mcp_auth_profiles",
    metadata,
    Column("auth_profile_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("deleted_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("endpoints", Text),
    Index("mcp_auth_profiles_by_owner", "owner", "auth_profile_id"),
)

# The OAuth state is stored as its digest: reading the table does not let one complete a sign-in.
mcp_oauth_flows = Table(
    "mcp_oauth_flows",
    metadata,
    Column("state_digest", Text, primary_key=True),
    Column("challenge_id", Text, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("server_id", Text, nullable=False),
    Column("auth_profile_id", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("used_at", Text),
    Column("body", Text, nullable=False),
    Index("mcp_oauth_flows_by_age", "expires_at"),
    Index("mcp_oauth_flows_by_profile", "auth_profile_id"),
)

mcp_policies = Table(
    "mcp_policies",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

mcp_grants = Table(
    "mcp_grants",
    metadata,
    Column("grant_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("dispatch_id", Text, nullable=False, unique=True),
    Column("server_id", Text, nullable=False),
    Column("tool_name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("scope_ref", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("revoked_at", Text),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("mcp_grants_by_tool", "owner", "server_id", "tool_name"),
)

mcp_dispatches = Table(
    "mcp_dispatches",
    metadata,
    Column("dispatch_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("server_id", Text, nullable=False),
    Column("tool_name", Text, nullable=False),
    Column("ability_id", Text),
    Column("version", Integer, nullable=False),
    Column("expires_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("completed_at", Text),
    Column("body", Text, nullable=False),
    Index("mcp_dispatches_by_owner", "owner", "dispatch_id"),
    Index("mcp_dispatches_by_status", "owner", "status", "dispatch_id"),
    Index("mcp_dispatches_by_ability", "ability_id", "status"),
    Index("mcp_dispatches_of_all_by_status", "status", "ability_id"),
)

# Written before a call is sent and after its answer: after a crash it shows whether there may be an effect.
mcp_call_attempts = Table(
    "mcp_call_attempts",
    metadata,
    Column("dispatch_id", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("stage", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("ended_at", Text),
    Column("answer", Text),
)


SERVERS = DocumentTable(
    mcp_servers,
    MCPServerRegistryEntry,
    code=ErrorCode.MCP_SERVER_NOT_FOUND,
    message="There is no tool server of yours with that id; list them: GET /api/mcp/servers.",
    where=(mcp_servers.c.deleted_at.is_(None),),
)

HEALTHS = DocumentTable(mcp_server_health, MCPConnectionHealth, code=ErrorCode.MCP_SERVER_NOT_FOUND)

PROFILES = DocumentTable(
    mcp_auth_profiles,
    MCPAuthProfile,
    code=ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
    message="There is no sign-in of yours with that id; list them: GET /api/mcp/auth-profiles.",
    where=(mcp_auth_profiles.c.deleted_at.is_(None),),
)

FLOWS = DocumentTable(mcp_oauth_flows, SignInFlow)

GRANTS = DocumentTable(
    mcp_grants,
    MCPGrant,
    code=ErrorCode.MCP_GRANT_NOT_FOUND,
    message="There is no standing approval of yours with that id; list them: GET /api/mcp/grants.",
)
"""At most one for each approved call."""

DISPATCHES = DocumentTable(
    mcp_dispatches,
    DispatchRecord,
    lambda one: {"expires_at": rfc3339(one.ask_first.expires_at) if one.ask_first is not None else None},
    fields={name: f"order.{name}" for name in ("server_id", "tool_name", "ability_id", "created_at")},
    code=ErrorCode.MCP_DISPATCH_NOT_FOUND,
    message="There is no such tool call of yours; list them with GET /api/mcp/dispatches.",
    conflict="The call has changed meanwhile; read it again.",
)
