"""Requests to feeds, counted by source."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | Sequence[str] | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "skill_feed_requests",
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("request_id"),
    )
    op.create_index("skill_feed_requests_by_source", "skill_feed_requests", ["source", "at"])
    op.create_index("skill_feed_requests_by_age", "skill_feed_requests", ["at"])
