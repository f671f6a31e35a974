"""Indexes that hold what lists of sessions and proposals are filtered by: a list is counted without reading rows."""

from collections.abc import Sequence

from alembic import op

revision: str = "0026"
down_revision: str | Sequence[str] | None = "0025"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.drop_index("learn_sessions_by_owner", "learn_sessions")
    op.create_index(
        "learn_sessions_by_owner", "learn_sessions", ["owner", "session_id", "archived_at", "state"]
    )
    op.drop_index("proposals_by_owner", "proposals")
    op.create_index(
        "proposals_by_owner", "proposals", ["owner", "proposal_id", "archived_at", "state", "session_id"]
    )
