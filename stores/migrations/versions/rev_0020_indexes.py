"""Indexes for what was found by walking a whole table: grown stores answer as fast as fresh ones."""

from collections.abc import Sequence

from alembic import op

revision: str = "0020"
down_revision: str | Sequence[str] | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    # A session's entries of one stream, without walking that stream of everybody.
    op.drop_index("journal_by_session", "journal")
    op.create_index("journal_by_session", "journal", ["session_id", "stream", "seq"])
    op.create_index("learn_sessions_by_change", "learn_sessions", ["owner", "updated_at"])
    op.create_index("abilities_by_owner", "abilities", ["owner", "ability_id"])
    op.create_index("ix_ability_versions_saga_id", "ability_versions", ["saga_id"])
    op.create_index("ix_capabilities_ability_id", "capabilities", ["ability_id"])
    op.create_index("ix_install_sagas_state", "install_sagas", ["state"])
    op.create_index("ix_validation_runs_content_hash", "validation_runs", ["content_hash"])
    op.create_index("mcp_oauth_flows_by_profile", "mcp_oauth_flows", ["auth_profile_id"])
    op.create_index("mcp_dispatches_of_all_by_status", "mcp_dispatches", ["status", "ability_id"])
