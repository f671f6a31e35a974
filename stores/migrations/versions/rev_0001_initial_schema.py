"""The initial schema."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | Sequence[str] | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "abilities",
        sa.Column("ability_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ability_id"),
        sa.UniqueConstraint("slug"),
    )
    op.create_table(
        "ability_versions",
        sa.Column("ability_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("saga_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("ability_id", "version"),
    )
    op.create_table(
        "access_tokens",
        sa.Column("token_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("token_id"),
        sa.UniqueConstraint("secret_hash"),
    )
    op.create_index(op.f("ix_access_tokens_user_id"), "access_tokens", ["user_id"], unique=False)
    op.create_table(
        "blobs",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "boundaries",
        sa.Column("boundary_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("boundary_id"),
    )
    op.create_index(op.f("ix_boundaries_session_id"), "boundaries", ["session_id"], unique=False)
    op.create_table(
        "capabilities",
        sa.Column("capability_id", sa.Text(), nullable=False),
        sa.Column("ability_id", sa.Text(), nullable=False),
        sa.Column("health", sa.Text(), nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("capability_id"),
    )
    op.create_table(
        "claimed_folders", sa.Column("path", sa.Text(), nullable=False), sa.PrimaryKeyConstraint("path")
    )
    op.create_table(
        "commits",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("receipt", sa.Text(), nullable=False),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "key"),
    )
    op.create_index("commits_by_age", "commits", ["created_at"], unique=False)
    op.create_table(
        "documents",
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("dirty", sa.Boolean(), nullable=False),
        sa.Column("claimed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("root", "path"),
    )
    op.create_index(
        "dirty_documents",
        "documents",
        ["dirty"],
        unique=False,
        sqlite_where=sa.text("dirty"),
        postgresql_where=sa.text("dirty"),
    )
    op.create_table(
        "install_sagas",
        sa.Column("saga_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("proposal_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("saga_id"),
    )
    op.create_index(op.f("ix_install_sagas_proposal_id"), "install_sagas", ["proposal_id"], unique=False)
    op.create_table(
        "journal",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("aggregate", sa.Text(), nullable=False),
        sa.Column("aggregate_seq", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("proposal_id", sa.Text(), nullable=True),
        sa.Column("ability_id", sa.Text(), nullable=True),
        sa.Column("correlation_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("prev_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("aggregate", "aggregate_seq", name="journal_chain"),
        sqlite_autoincrement=True,
    )
    op.create_index("journal_by_owner", "journal", ["owner", "stream", "seq"], unique=False)
    op.create_index("journal_by_session", "journal", ["session_id", "seq"], unique=False)
    op.create_index("journal_by_stream", "journal", ["stream", "seq"], unique=False)
    op.create_table(
        "journal_anchors",
        sa.Column("anchor_id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("upto_seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("heads_hash", sa.Text(), nullable=False),
        sa.Column("prev_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("anchor_id"),
    )
    op.create_table(
        "journal_heads",
        sa.Column("aggregate", sa.Text(), nullable=False),
        sa.Column("aggregate_seq", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("aggregate"),
    )
    op.create_table(
        "learn_sessions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.Column("holds_slot", sa.Boolean(), nullable=False),
        sa.Column("at_rest_at", sa.Text(), nullable=True),
        sa.Column("archived_at", sa.Text(), nullable=True),
        sa.Column("observations_purged_at", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("aggregate", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_index("learn_sessions_by_owner", "learn_sessions", ["owner", "session_id"], unique=False)
    op.create_index(
        "one_active_session",
        "learn_sessions",
        ["owner"],
        unique=True,
        sqlite_where=sa.text("holds_slot"),
        postgresql_where=sa.text("holds_slot"),
    )
    op.create_table(
        "maintenance_runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "observation_counters",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("off_target", sa.Integer(), nullable=False),
        sa.Column("not_meaningful", sa.Integer(), nullable=False),
        sa.Column("adapters", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_table(
        "observations",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("retain", sa.Boolean(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("session_id", "event_id", name="observed_once"),
    )
    op.create_table(
        "projection_offsets",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("stream"),
    )
    op.create_table(
        "proposals",
        sa.Column("proposal_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("staged", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("archived_at", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("proposal_id"),
    )
    op.create_index(op.f("ix_proposals_session_id"), "proposals", ["session_id"], unique=False)
    op.create_index("proposals_by_owner", "proposals", ["owner", "proposal_id"], unique=False)
    op.create_table(
        "questions",
        sa.Column("question_id", sa.Text(), nullable=False),
        sa.Column("proposal_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("question_id"),
    )
    op.create_index(op.f("ix_questions_proposal_id"), "questions", ["proposal_id"], unique=False)
    op.create_table(
        "stream_archives",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("archive", sa.Text(), nullable=False),
        sa.Column("upto_seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "archive"),
    )
    op.create_table(
        "validation_runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("proposal_id", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_index(op.f("ix_validation_runs_proposal_id"), "validation_runs", ["proposal_id"], unique=False)
    op.create_table(
        "validation_steps",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("test_case_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "test_case_id"),
    )
