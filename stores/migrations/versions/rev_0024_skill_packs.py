"""Packs of skills, and their installs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | Sequence[str] | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "skill_packs",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("pack_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "pack_id"),
    )
    op.create_table(
        "skill_pack_installs",
        sa.Column("pack_install_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("pack_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("pack_install_id"),
    )
    op.create_index("skill_pack_installs_by_pack", "skill_pack_installs", ["owner", "pack_id", "started_at"])
    op.create_index("skill_pack_installs_by_state", "skill_pack_installs", ["state", "pack_install_id"])
