"""The document that tells agents when to place calls and how to enrol callers, in the agent's workspace (OC-01)."""

from pathlib import Path

from activities.skills.catalog_activities import AGENT_DOCUMENTS
from stores.platform.database import Database
from stores.platform.projection.documents import put_document, remove_document


def keep_voice_document(database: Database, bundled: Path, *, connected: bool) -> None:
    """Has the document lie in the workspace while a voice app is connected; agents read of no calls without one."""
    with database.write() as connection:
        for name in AGENT_DOCUMENTS:
            place = f"skills/{name}/SKILL.md"
            if connected:
                put_document(connection, "workspace", place, (bundled / name / "SKILL.md").read_bytes())
            else:
                remove_document(connection, "workspace", place)
