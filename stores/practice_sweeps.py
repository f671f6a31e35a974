"""The sweep over the start files of practices: ``<data_dir>/practice/SESSION/``, what rehearsals began with."""

import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, select

from contracts.learning.aggregate import LearnSessionAggregate
from contracts.maintenance.runs import SweepName
from domain.maintenance.retention import practice_files_due
from stores import tables
from stores.maintenance_store import is_preview
from stores.open_references import OpenReferences, session_refs
from stores.retention_sweeps import LEFT_ALONE, Settled

_SESSIONS = tables.learn_sessions


class RemovePracticeFiles:
    """Start files go once their session is at rest and its observations are purged: no rehearsal needs them."""

    name = SweepName.REMOVE_PRACTICE_FILES
    batch = 10

    def __init__(self, folder: Path, references: OpenReferences) -> None:
        """``folder`` holds one folder a session; what has another name than a session is left alone."""
        self._folder = folder
        self._references = references

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Session ids in their own order."""
        if not self._folder.is_dir():
            return []
        kept = sorted(p.name for p in self._folder.iterdir() if _is_folder(p) and p.name > after)
        found: list[str] = []
        for first in range(0, len(kept), 500):
            query = select(_SESSIONS.c.session_id).where(
                _SESSIONS.c.session_id.in_(kept[first : first + 500]),
                _SESSIONS.c.at_rest_at.is_not(None),
                _SESSIONS.c.observations_purged_at.is_not(None),
            )
            found += connection.scalars(query.order_by(_SESSIONS.c.session_id)).all()
            if len(found) >= limit:
                break
        return found[:limit]

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one session's start files; a preview only counts them, since no rollback brings files back."""
        row = connection.execute(
            select(_SESSIONS.c.aggregate, _SESSIONS.c.at_rest_at, _SESSIONS.c.observations_purged_at)
            .where(_SESSIONS.c.session_id == item)
            .with_for_update()
        ).one_or_none()
        place = self._folder / item
        if row is None or not _is_folder(place):
            return LEFT_ALONE
        aggregate = LearnSessionAggregate.model_validate_json(row.aggregate)
        referenced = bool(session_refs(aggregate) & self._references.ids(connection))
        if not practice_files_due(
            row.at_rest_at, purged=row.observations_purged_at is not None, referenced=referenced
        ):
            return LEFT_ALONE
        files = sum(1 for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
        if not is_preview(connection, run_id):
            shutil.rmtree(place)
        return Settled(done=True, removed=files)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
