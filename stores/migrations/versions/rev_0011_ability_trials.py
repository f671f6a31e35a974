"""Trials of abilities on other folders; their folders are kept like uploaded documents, as temporary artifacts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | Sequence[str] | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.rename_table("acrobat_artifacts", "temporary_artifacts")
    for suffix, column in (("by_age", "expires_at"), ("by_digest", "digest")):
        op.drop_index(f"acrobat_artifacts_{suffix}", "temporary_artifacts")
        op.create_index(f"temporary_artifacts_{suffix}", "temporary_artifacts", [column])
    op.create_table(
        "ability_trials",
        sa.Column("trial_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("trial_id"),
    )
    op.create_index("ix_ability_trials_expires_at", "ability_trials", ["expires_at"])
    op.create_index("ability_trials_by_owner", "ability_trials", ["owner", "state"])
