"""What a skill has spent, and when: the budget of money within a day."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | Sequence[str] | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("skill_ledger_entries", sa.Column("skill", sa.Text(), nullable=True))
    op.add_column("skill_ledger_entries", sa.Column("booked_at", sa.Text(), nullable=True))
    op.create_index("skill_ledger_entries_by_skill", "skill_ledger_entries", ["owner", "skill", "booked_at"])
