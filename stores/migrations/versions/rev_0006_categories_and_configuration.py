"""Categories with what is in them, and configuration with the intents that changed it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | Sequence[str] | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "categories",
        sa.Column("category_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title_key", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("category_id"),
        sa.UniqueConstraint("owner", "title_key", name="one_title_an_owner"),
    )
    op.create_table(
        "category_items",
        sa.Column("category_id", sa.Text(), nullable=False),
        sa.Column("item_kind", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("assigned_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["category_id"], ["categories.category_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("category_id", "item_kind", "item_id"),
    )
    op.create_index("category_items_by_item", "category_items", ["item_kind", "item_id"])
    op.create_table(
        "configurations",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("capability_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "target", "capability_id"),
    )
    op.create_table(
        "configuration_intents",
        sa.Column("intent_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("intent_id"),
    )
