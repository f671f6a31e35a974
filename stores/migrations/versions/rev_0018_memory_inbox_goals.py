"""What skills keep for their user: memories, events, facts, the words searched; the inbox, check-ins, goals."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0018"
down_revision: str | Sequence[str] | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    _memory()
    _inbox()
    _goals()


def _memory() -> None:
    op.create_table(
        "memory_items",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("item_id"),
        sa.UniqueConstraint("owner", "kind", "key", name="remembered_once"),
    )
    op.create_index("memory_items_by_owner", "memory_items", ["owner", "kind", "at", "item_id"])
    op.create_table(
        "memory_labels",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("item_id", "label"),
    )
    op.create_index("memory_labels_by_label", "memory_labels", ["owner", "label", "item_id"])
    op.create_table(
        "memory_facts",
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("predicate", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("fact_id"),
    )
    op.create_index("memory_facts_by_subject", "memory_facts", ["owner", "subject", "predicate"])
    op.create_index("memory_facts_by_age", "memory_facts", ["owner", "at", "fact_id"])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE memory_words "
            "USING fts5(item_id UNINDEXED, owner UNINDEXED, words, tokenize='unicode61 remove_diacritics 0')"
        )
    else:
        op.execute(
            "CREATE TABLE memory_words ("
            "item_id text PRIMARY KEY, owner text NOT NULL, words tsvector NOT NULL)"
        )
        op.execute("CREATE INDEX memory_words_found ON memory_words USING gin (words)")


def _inbox() -> None:
    op.create_table(
        "inbox_items",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("invocation_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("item_id"),
        sa.UniqueConstraint("owner", "key", name="arrived_once"),
    )
    op.create_index("inbox_items_by_owner", "inbox_items", ["owner", "created_at", "item_id"])
    op.create_index("inbox_items_by_invocation", "inbox_items", ["invocation_id"])
    op.create_table(
        "memory_check_ins",
        sa.Column("check_in_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("check_in_id"),
        sa.UniqueConstraint("owner", "key", name="scheduled_once"),
    )
    op.create_index("memory_check_ins_by_owner", "memory_check_ins", ["owner", "due_at", "check_in_id"])
    op.create_index("memory_check_ins_by_state", "memory_check_ins", ["state", "due_at"])


def _goals() -> None:
    op.create_table(
        "memory_goals",
        sa.Column("goal_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("goal_id"),
        sa.UniqueConstraint("owner", "key", name="suggested_once"),
    )
    op.create_index("memory_goals_by_owner", "memory_goals", ["owner", "at", "goal_id"])
