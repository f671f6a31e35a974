"""Starting states of demonstrations: what their folders held before the first command."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | Sequence[str] | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "starting_states",
        sa.Column("state_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("taken_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("state_id"),
    )
    op.create_index("ix_starting_states_session_id", "starting_states", ["session_id"])
    op.create_table(
        "starting_contents",
        sa.Column("state_id", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("blob", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["state_id"], ["starting_states.state_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("state_id", "sha256"),
    )
    op.create_index("ix_starting_contents_blob", "starting_contents", ["blob"])
    op.create_index("starting_contents_by_content", "starting_contents", ["sha256"])
