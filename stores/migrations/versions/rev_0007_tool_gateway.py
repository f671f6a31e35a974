"""The tool gateway: servers, tools, sign-ins, policy, approvals, calls, and encrypted secrets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | Sequence[str] | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "mcp_servers",
        sa.Column("server_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("auth_profile_id", sa.Text(), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("deleted_at", sa.Text(), nullable=True),
        sa.Column("tools_listed_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("server_id"),
    )
    op.create_index("ix_mcp_servers_auth_profile_id", "mcp_servers", ["auth_profile_id"])
    op.create_index("mcp_servers_by_owner", "mcp_servers", ["owner", "server_id"])
    op.create_table(
        "mcp_server_health",
        sa.Column("server_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("next_probe_at", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("server_id"),
    )
    op.create_index("ix_mcp_server_health_next_probe_at", "mcp_server_health", ["next_probe_at"])
    op.create_table(
        "mcp_tools",
        sa.Column("server_id", sa.Text(), nullable=False),
        sa.Column("tool_name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("definition_hash", sa.Text(), nullable=False),
        sa.Column("pinned_hash", sa.Text(), nullable=True),
        sa.Column("declared_idempotent", sa.Boolean(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("pinned_definition", sa.Text(), nullable=True),
        sa.Column("first_seen_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("server_id", "tool_name"),
    )
    op.create_table(
        "mcp_auth_profiles",
        sa.Column("auth_profile_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("deleted_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("endpoints", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("auth_profile_id"),
    )
    op.create_index("mcp_auth_profiles_by_owner", "mcp_auth_profiles", ["owner", "auth_profile_id"])
    op.create_table(
        "mcp_oauth_flows",
        sa.Column("state_digest", sa.Text(), nullable=False),
        sa.Column("challenge_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("server_id", sa.Text(), nullable=False),
        sa.Column("auth_profile_id", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("used_at", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("state_digest"),
        sa.UniqueConstraint("challenge_id"),
    )
    op.create_index("mcp_oauth_flows_by_age", "mcp_oauth_flows", ["expires_at"])
    op.create_table(
        "mcp_policies",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "target"),
    )
    op.create_table(
        "mcp_grants",
        sa.Column("grant_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("dispatch_id", sa.Text(), nullable=False),
        sa.Column("server_id", sa.Text(), nullable=False),
        sa.Column("tool_name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("scope_ref", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("grant_id"),
        sa.UniqueConstraint("dispatch_id"),
    )
    op.create_index("mcp_grants_by_tool", "mcp_grants", ["owner", "server_id", "tool_name"])
    op.create_table(
        "mcp_dispatches",
        sa.Column("dispatch_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("server_id", sa.Text(), nullable=False),
        sa.Column("tool_name", sa.Text(), nullable=False),
        sa.Column("ability_id", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("completed_at", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("dispatch_id"),
    )
    op.create_index("mcp_dispatches_by_ability", "mcp_dispatches", ["ability_id", "status"])
    op.create_index("mcp_dispatches_by_owner", "mcp_dispatches", ["owner", "dispatch_id"])
    op.create_index("mcp_dispatches_by_status", "mcp_dispatches", ["owner", "status", "dispatch_id"])
    op.create_table(
        "mcp_call_attempts",
        sa.Column("dispatch_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("dispatch_id", "attempt"),
    )
    op.create_table(
        "secrets",
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ref"),
    )
    op.create_index("secrets_by_key", "secrets", ["key_id"])
    op.create_table(
        "acrobat_artifacts",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "kind", "digest"),
    )
    op.create_index("acrobat_artifacts_by_age", "acrobat_artifacts", ["expires_at"])
    op.create_index("acrobat_artifacts_by_digest", "acrobat_artifacts", ["digest"])
