"""Documents that list everything of a kind are kept as their entries: a change writes what it changed."""

import json
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0023"
down_revision: str | Sequence[str] | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LISTS = {
    "system/abilities/availability_current.json": ("abilities", "ability_id"),
    "system/abilities/catalog_current.json": ("items", "ability_id"),
    "system/capabilities/bridge_entries_current.json": ("entries", "capability_id"),
    "system/capabilities/health_current.json": ("capabilities", "capability_id"),
    "system/capabilities/stats_current.json": ("capabilities", "capability_id"),
}
"""The list of each document, and what names an entry of it."""


def upgrade() -> None:
    op.add_column("documents", sa.Column("parts", sa.Text(), nullable=True))
    parts = op.create_table(
        "document_parts",
        sa.Column("path", sa.Text(), primary_key=True),
        sa.Column("part", sa.Text(), primary_key=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("behind", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    )
    op.create_index(
        "behind_document_parts",
        "document_parts",
        ["path"],
        sqlite_where=sa.text("behind"),
        postgresql_where=sa.text("behind"),
    )
    op.create_index("abilities_by_lane", "abilities", ["lane", "ability_id"])
    op.create_index("abilities_by_change", "abilities", ["updated_at"])
    op.create_index("proposals_by_session", "proposals", ["owner", "session_id"])
    connection = op.get_bind()
    for path, (field, name) in LISTS.items():
        at = {"path": path}
        whole = connection.execute(
            sa.text("SELECT content FROM documents WHERE root = 'memory' AND path = :path"), at
        ).scalar()
        if whole is None:
            continue
        frame, entries = _taken_apart(bytes(whole), field)
        if entries:
            rows = [
                {"path": path, "part": json.loads(entry)[name], "content": entry, "behind": False}
                for entry in entries
            ]
            connection.execute(parts.insert(), rows)
        connection.execute(
            sa.text(
                "UPDATE documents SET content = :frame, parts = :field WHERE root = 'memory' AND path = :path"
            ),
            {"frame": frame, "field": field, **at},
        )
    _mark_behind(connection)


def _mark_behind(connection: sa.Connection) -> None:
    """What was counted since the bridge was last built is taken in by the next change, as it was before."""
    connection.execute(
        sa.text("UPDATE document_parts SET behind = true WHERE path = :path"),
        {"path": "system/capabilities/bridge_entries_current.json"},
    )


def _taken_apart(whole: bytes, field: str) -> tuple[bytes, list[bytes]]:
    """The document without the entries of its list, and these, each with its indentation.

    A line break is never within a text of JSON, so the lines of an entry are those that are indented deeper.
    """
    before, opened, rest = whole.partition(f'\n  "{field}": [\n'.encode())
    if not opened:
        return whole, []
    inside, _, after = rest.partition(b"\n  ]")
    entries = inside.split(b"\n    },\n")
    ended = [entry + b"\n    }" for entry in entries[:-1]]
    return before + opened[:-1] + b"]" + after, [*ended, entries[-1]]
