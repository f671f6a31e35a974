"""The parts of a document tell by which change they were written, so that an index takes in what is newer."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0025"
down_revision: str | Sequence[str] | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("change", sa.BigInteger(), nullable=True))
    op.add_column("documents", sa.Column("dropped", sa.BigInteger(), nullable=True))
    op.add_column(
        "document_parts", sa.Column("change", sa.BigInteger(), nullable=False, server_default=sa.text("0"))
    )
    op.create_index("document_parts_by_change", "document_parts", ["path", "change"])
