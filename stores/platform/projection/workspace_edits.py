"""Finds hand edits to our files in the agent's workspace."""

from pathlib import Path

from sqlalchemy import select

from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.projection.atomic_files import FileTree
from stores.platform.tables import documents

LARGEST_BYTES = 1024 * 1024
"""A longer file counts as changed by what is read of it; a skill's files are far smaller."""


class WorkspaceEdits:
    """Compares a skill's workspace files with what we last wrote there."""

    def __init__(self, database: Database, workspace: Path) -> None:
        self._database = database
        self._tree = FileTree(workspace, file_mode=0o444, folder_mode=0o755)

    def of_skill(self, slug: str) -> dict[str, bytes]:
        """The changed files with what they hold now. A file that is gone, or never was ours, is not among them."""
        folder = f"skills/{slug}"
        with self._database.read() as connection:
            rows = connection.execute(
                select(documents.c.path, documents.c.digest).where(
                    documents.c.root == "workspace",
                    documents.c.path > f"{folder}/",
                    documents.c.path < f"{folder}0",
                    documents.c.claimed,
                    ~documents.c.dirty,
                    documents.c.digest.is_not(None),
                )
            ).all()
        found: dict[str, bytes] = {}
        for row in rows:
            if self._tree.size(row.path) is None:
                continue
            content = self._read(row.path)
            if digest_of(content) != row.digest:
                found[row.path] = content
        return found

    def _read(self, path: str) -> bytes:
        content = bytearray()
        for chunk in self._tree.chunks(path):
            content += chunk
            if len(content) > LARGEST_BYTES:
                break
        return bytes(content)
