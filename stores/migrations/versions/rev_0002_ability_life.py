"""What the life of installed abilities needs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | Sequence[str] | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """The content of every version, and each ability's record of commands and quarantine."""
    op.create_table(
        "ability_contents",
        sa.Column("ability_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ability_id", "version"),
    )
    op.create_table(
        "ability_lives",
        sa.Column("ability_id", sa.Text(), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ability_id"),
    )
