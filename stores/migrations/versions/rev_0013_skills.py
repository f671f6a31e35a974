"""Executable skills: catalog, invocations, kept answers, policy."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | Sequence[str] | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "skills",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("function_name", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("seen_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("skills_by_name", "skills", ["name"])
    op.create_index("skills_by_function", "skills", ["function_name"])
    op.create_table(
        "skill_invocations",
        sa.Column("invocation_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("completed_at", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("invocation_id"),
    )
    op.create_index(
        "skill_invocations_by_owner", "skill_invocations", ["owner", "created_at", "invocation_id"]
    )
    op.create_index("skill_invocations_by_status", "skill_invocations", ["status", "created_at"])
    op.create_index("skill_invocations_by_skill", "skill_invocations", ["owner", "skill", "created_at"])
    op.create_table(
        "skill_results",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("cache_key", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("invocation_id", sa.Text(), nullable=False),
        sa.Column("outcome_digest", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "cache_key"),
    )
    op.create_index("skill_results_by_skill", "skill_results", ["owner", "skill"])
    op.create_index("skill_results_by_age", "skill_results", ["expires_at"])
    op.create_table(
        "skill_policies",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )
    op.create_table(
        "skill_wallets",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("balance", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("address"),
    )
    op.create_index("skill_wallets_by_owner", "skill_wallets", ["owner", "address"])
    op.create_table(
        "skill_ledger_entries",
        sa.Column("tx_id", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tx_id"),
        sa.UniqueConstraint("owner", "key", name="booked_once"),
    )
    op.create_index("skill_ledger_entries_by_wallet", "skill_ledger_entries", ["address", "tx_id"])
    op.create_table(
        "skill_ledger_postings",
        sa.Column("tx_id", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("amount", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tx_id", "account"),
    )
    op.create_index("skill_ledger_postings_by_account", "skill_ledger_postings", ["account"])
