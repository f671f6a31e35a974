"""Every draft of a proposal; of those before this revision only the present one is known."""

import json
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | Sequence[str] | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    rounds = op.create_table(
        "proposal_rounds",
        sa.Column("proposal_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("drafted_at", sa.Text(), nullable=False),
        sa.Column("staged", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("proposal_id", "revision"),
    )
    connection = op.get_bind()
    present = connection.execute(sa.text("SELECT proposal_id, updated_at, staged, body FROM proposals"))
    for row in present.all():
        connection.execute(
            rounds.insert().values(
                proposal_id=row.proposal_id,
                revision=json.loads(row.body).get("revision", 1),
                drafted_at=row.updated_at,
                staged=row.staged,
                body=row.body,
            )
        )
