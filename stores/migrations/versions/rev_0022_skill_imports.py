"""Uploads of skill bundles, their imports, and the files of staged ones."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0022"
down_revision: str | Sequence[str] | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "skill_import_uploads",
        sa.Column("upload_ref", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("upload_ref"),
    )
    op.create_index("skill_import_uploads_by_owner", "skill_import_uploads", ["owner", "digest"])
    op.create_index("skill_import_uploads_by_age", "skill_import_uploads", ["expires_at", "upload_ref"])
    op.create_table(
        "skill_imports",
        sa.Column("import_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("upload_ref", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("import_id"),
    )
    op.create_index("skill_imports_by_owner", "skill_imports", ["owner", "created_at", "import_id"])
    op.create_index("skill_imports_by_upload", "skill_imports", ["upload_ref"])
    op.create_index("skill_imports_by_state", "skill_imports", ["state", "import_id"])
    op.create_table(
        "skill_import_files",
        sa.Column("import_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("import_id", "path"),
    )
    op.create_index("skill_import_files_by_digest", "skill_import_files", ["digest"])
