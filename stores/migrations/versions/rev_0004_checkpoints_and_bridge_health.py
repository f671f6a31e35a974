"""What checkpoint receipts and bridge health need: the journal by ability, a health record each capability."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | Sequence[str] | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_OF_AN_ABILITY = sa.text("ability_id IS NOT NULL")


def upgrade() -> None:
    """Adds the index and the table."""
    op.create_index(
        "journal_by_ability",
        "journal",
        ["ability_id", "stream", "seq"],
        sqlite_where=_OF_AN_ABILITY,
        postgresql_where=_OF_AN_ABILITY,
    )
    op.create_table(
        "capability_health",
        sa.Column("capability_id", sa.Text(), nullable=False),
        sa.Column("installed_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("capability_id", "installed_at"),
    )
