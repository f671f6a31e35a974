"""Reading abilities: the snapshot, one ability, its versions, and the prepared index of the lookup."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import structlog
from sqlalchemy import Connection, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilityItem,
    AbilityAvailabilityResponse,
    AbilityDetailResponse,
    AbilityLifecycleAction,
    AbilityVersionsResponse,
    InstallLane,
    SkillCatalogCurrent,
    SkillCatalogEntry,
)
from contracts.abilities.lookup import AbilityExplainMatchResponse, AbilityLookupQuery, AbilityLookupResult
from domain.abilities.availability import state_of
from domain.abilities.fit.deciding import Decide
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.lookup_index import AbilityIndex
from domain.abilities.matching import explain
from stores.abilities.ability_files import CANONICAL
from stores.abilities.ability_rows import (
    ABILITIES,
    all_entries,
    allowed_actions,
    entries_of,
    entry_of,
    life_of,
    present_version,
    versions_of,
)
from stores.abilities.ability_vectors import AbilityVectors, Prepared
from stores.abilities.derived_files import AVAILABILITY, CATALOG
from stores.platform.database import Database
from stores.platform.projection.documents import read_document
from stores.platform.projection.parted_documents import (
    changes_since,
    latest_change,
    part_names,
    read_frame,
    read_parts,
)
from stores.platform.tables import abilities

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

LOOK_AGAIN_SECONDS = 1.0
"""How often the thread that keeps the indexes ready looks whether abilities have changed."""

_log = structlog.get_logger(__name__)


class Indexes(NamedTuple):
    """One snapshot of all abilities, prepared for lookups by the documented score and by fit."""

    by_score: AbilityIndex
    by_fit: FitIndex


class _Indexed(NamedTuple):
    """The indexes of one state of the snapshot, and what the next state's are made from."""

    digest: str | None
    change: int
    entries: Mapping[str, AbilityAvailabilityEntry]
    indexes: Indexes
    meanings: Prepared


class AbilityStore:
    """What is known of abilities. A private one is visible to its owner alone."""

    def __init__(self, database: Database, *, by_meaning: bool = False, keep_ready: bool = False) -> None:
        """``by_meaning`` lets the sentence model have a say in what fits; else the rules decide alone.

        With ``keep_ready`` a thread takes in what was installed, from the first lookup on until ``close``.
        """
        self._database = database
        self._vectors = AbilityVectors(database) if by_meaning else None
        self._lock = threading.Lock()
        self._indexed: _Indexed | None = None
        self._keeper: threading.Thread | None = None
        self._keep_ready = keep_ready
        self._closed = threading.Event()

    def close(self) -> None:
        """Ends the thread that keeps the indexes ready."""
        self._closed.set()
        with self._lock:
            keeper = self._keeper
        if keeper is not None:
            keeper.join()

    def entries(self) -> tuple[AbilityAvailabilityEntry, ...]:
        """Every ability."""
        with self._database.read() as connection:
            return all_entries(connection)

    def indexed(self) -> tuple[AbilityAvailabilityEntry, ...]:
        """Every ability as the indexes have it, which are not read again where nothing has changed."""
        return tuple(self._now().entries.values())

    def is_skill(self, slug: str, reader: str) -> bool:
        """Whether a skill of this name is installed that ``reader`` may see."""
        with self._database.read() as connection:
            entry = ABILITIES.first(connection, abilities.c.slug == slug)
        return entry is not None and visible(entry, reader)

    def lookup(
        self,
        query: AbilityLookupQuery,
        *,
        caller_user_id: str,
        now: datetime,
        decide: Decide | None = None,
    ) -> AbilityLookupResult:
        """The matches by the documented score, each with its fit, and what fits whatever its score.

        Doubts are left to ``decide``, outside of any transaction.
        """
        indexes = self.indexes()
        found = indexes.by_score.lookup(query, caller_user_id=caller_user_id, now=now)
        return indexes.by_fit.with_fits(found, query, caller_user_id=caller_user_id, decide=decide)

    def explain_match(
        self,
        query: str,
        ability_id: str,
        user_id: str,
        project_id: str | None = None,
        decide: Decide | None = None,
    ) -> AbilityExplainMatchResponse:
        """Why one ability matches and fits, or does not; a doubt is left to ``decide``.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND``, also for another owner's private one.
        """
        why = explain(query, self.visible_entry(ability_id, user_id), project_id)
        judged = self.indexes().by_fit.judged(query, ability_id, caller_user_id=user_id, decide=decide)
        return why.changed(fit=judged.fit, fit_reasons=judged.reasons) if judged is not None else why

    def indexes(self) -> Indexes:
        """The prepared indexes of the newest snapshot; only what has changed is looked at."""
        return self._now().indexes

    def beside(self, entries: Sequence[AbilityAvailabilityEntry], without: Iterable[str]) -> FitIndex:
        """The index of what is installed, with ``entries``, drafts among them, and without some abilities."""
        now, gone = self._now(), frozenset(without)
        vectors = self._vectors
        meanings = vectors.of_draft(now.meanings, entries, gone) if vectors is not None else None
        return now.indexes.by_fit.changed(entries, gone, meanings)

    def _now(self) -> _Indexed:
        with self._lock:
            with self._database.read() as connection:
                digest, change = latest_change(connection, AVAILABILITY)
                before = self._indexed
                if before is not None and before.digest == digest:
                    return before
                changed, gone = _changed(connection, before, change)
            found = self._first(changed) if before is None else self._next(before, changed, gone)
            self._indexed = found = found._replace(digest=digest, change=change)
            if self._keep_ready and self._keeper is None and not self._closed.is_set():
                self._keeper = threading.Thread(target=self._keep, name="ability-indexes", daemon=True)
                self._keeper.start()
            return found

    def _first(self, entries: Sequence[AbilityAvailabilityEntry]) -> _Indexed:
        prepared = self._vectors.of_installed(entries) if self._vectors else Prepared()
        indexes = Indexes(AbilityIndex(entries), FitIndex(entries, prepared.meanings))
        return _Indexed(None, 0, {entry.ability_id: entry for entry in entries}, indexes, prepared)

    def _next(
        self, before: _Indexed, changed: Sequence[AbilityAvailabilityEntry], gone: frozenset[str]
    ) -> _Indexed:
        old = before.meanings
        prepared = self._vectors.changed(old, changed, gone) if self._vectors else old
        indexes = Indexes(
            before.indexes.by_score.changed(changed, gone),
            before.indexes.by_fit.changed(changed, gone, prepared.meanings),
        )
        entries = {one: entry for one, entry in before.entries.items() if one not in gone}
        entries |= {entry.ability_id: entry for entry in changed}
        return _Indexed(None, 0, entries, indexes, prepared)

    def _keep(self) -> None:
        """Takes in what changed and makes vectors that are missing, so that no lookup has to."""
        more = True
        while not self._closed.wait(0 if more else LOOK_AGAIN_SECONDS):
            try:
                self._now()
                more = self._make_vectors()
            except SQLAlchemyError as error:
                more = False
                _log.warning("indexes_not_kept_ready", error=type(error).__name__)

    def _make_vectors(self) -> bool:
        """Makes a batch of the vectors that are missing; whether there was one."""
        before = self._indexed
        if self._vectors is None or before is None or before.meanings.complete:
            return False
        # Without the lock: a lookup meanwhile answers with what is there.
        made = self._vectors.more(before.meanings)
        with self._lock:
            now = self._indexed or before
            prepared = self._vectors.completed(before.meanings, now.meanings, made)
            by_fit = now.indexes.by_fit.changed((), (), prepared.meanings)
            self._indexed = now._replace(indexes=now.indexes._replace(by_fit=by_fit), meanings=prepared)
        return True

    def availability(self, user_id: str) -> AbilityAvailabilityResponse:
        """The snapshot as the user may see it."""
        with self._database.read() as connection:
            entries = visible_entries(connection, user_id)
            newest = connection.scalar(select(func.max(abilities.c.updated_at)))
            mine = [entry for entry in entries if entry.owner_user_id == user_id]
            allowed = allowed_actions(connection, mine)
        return AbilityAvailabilityResponse(
            abilities=tuple(_item(entry, allowed.get(entry.ability_id, ())) for entry in entries),
            snapshot_as_of=datetime.fromisoformat(newest) if newest else _NEVER,
        )

    def visible_entry(self, ability_id: str, user_id: str) -> AbilityAvailabilityEntry:
        """One ability whole.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND``, also for another owner's private one.
        """
        with self._database.read() as connection:
            entry = entry_of(connection, ability_id)
        if entry is None or not visible(entry, user_id):
            raise ABILITIES.not_found()
        return entry

    def detail(self, ability_id: str, user_id: str) -> AbilityDetailResponse:
        """One ability with its present version and text."""
        entry = self.visible_entry(ability_id, user_id)
        path = f"skills/{entry.skill_slug}/SKILL.md"
        mine = [entry] if entry.owner_user_id == user_id else []
        with self._database.read() as connection:
            version = connection.scalar(
                select(abilities.c.version).where(abilities.c.ability_id == ability_id)
            )
            projected = read_document(connection, "workspace", path) is not None
            text = read_document(connection, "memory", f"{CANONICAL}/{entry.skill_slug}/SKILL.md")
            allowed = allowed_actions(connection, mine)
            quarantine = life_of(connection, ability_id).quarantine
            present = present_version(connection, ability_id)
        quarantined = entry.install_lane is InstallLane.QUARANTINED
        return AbilityDetailResponse(
            ability=entry,
            version=version or 1,
            skill_path=path if projected else None,
            skill_markdown=text.decode() if text is not None else None,
            state=state_of(entry),
            quarantine_reason=quarantine.reason if quarantined and quarantine is not None else None,
            allowed_actions=allowed.get(ability_id, ()),
            unproved=present.unproved if present is not None else None,
            imported_from=present.imported_from if present is not None else None,
        )

    def versions(self, ability_id: str, user_id: str) -> AbilityVersionsResponse:
        """The installed versions, newest first."""
        self.visible_entry(ability_id, user_id)
        with self._database.read() as connection:
            found = versions_of(connection, ability_id)
            current = connection.scalar(
                select(abilities.c.version).where(abilities.c.ability_id == ability_id)
            )
        return AbilityVersionsResponse(
            ability_id=ability_id,
            versions=tuple(v.changed(current=v.version == current) for v in found),
        )

    def catalog(self, user_id: str) -> SkillCatalogCurrent:
        """The skills catalog as the user may see it."""
        with self._database.read() as connection:
            frame = read_frame(connection, CATALOG)
            seen = [entry.ability_id for entry in visible_entries(connection, user_id)]
            found = read_parts(connection, CATALOG, seen)
        if frame is None:
            return SkillCatalogCurrent(items=(), refreshed_at=_NEVER)
        items = tuple(SkillCatalogEntry.model_validate_json(found[one]) for one in sorted(found))
        return SkillCatalogCurrent.model_validate_json(frame).changed(items=items)

    def slugs(self) -> frozenset[str]:
        """The names of every ability's folder in the workspace, however it stands and whosever it is."""
        with self._database.read() as connection:
            return frozenset(connection.scalars(select(abilities.c.slug)))

    def owner_of_slug(self, slug: str) -> str | None:
        """Whose the skill of this name is, if there is one."""
        with self._database.read() as connection:
            return connection.scalar(select(abilities.c.owner).where(abilities.c.slug == slug))


def _changed(
    connection: Connection, before: _Indexed | None, change: int
) -> tuple[tuple[AbilityAvailabilityEntry, ...], frozenset[str]]:
    """The abilities that are new or changed since ``before``, and the ids of those that are gone."""
    if before is None:
        return all_entries(connection), frozenset()
    if not before.change < change:
        # Without numbers, or with numbers begun anew, nothing tells what has changed.
        everything = all_entries(connection)
        return everything, frozenset(before.entries.keys() - {entry.ability_id for entry in everything})
    since = changes_since(connection, AVAILABILITY, before.change)
    changed = entries_of(connection, since.names)
    gone = frozenset(since.names) - {entry.ability_id for entry in changed}
    if since.dropped:
        gone |= before.entries.keys() - part_names(connection, AVAILABILITY)
    return changed, gone


def visible_entries(connection: Connection, user_id: str) -> list[AbilityAvailabilityEntry]:
    """The abilities that the user may see, by id."""
    mine_or_shared = or_(abilities.c.owner == user_id, abilities.c.lane.in_(_SHARED))
    # Sorted here: asked to sort, SQLite walks all abilities in that order.
    found = ABILITIES.all(connection, mine_or_shared, order_by=())
    return sorted((one for one in found if visible(one, user_id)), key=lambda one: one.ability_id)


_SHARED = (InstallLane.APPROVED_WORKSPACE, InstallLane.SHARED_PROMOTED)


def visible(entry: AbilityAvailabilityEntry, user_id: str) -> bool:
    """Whether the user may see it: private, quarantined and archived abilities are their owner's alone."""
    return (entry.install_lane in _SHARED and entry.archived_at is None) or entry.owner_user_id == user_id


def _item(
    entry: AbilityAvailabilityEntry, allowed: tuple[AbilityLifecycleAction, ...]
) -> AbilityAvailabilityItem:
    shown = entry.model_dump(include=set(AbilityAvailabilityItem.model_fields))
    return AbilityAvailabilityItem.model_validate(
        {**shown, "state": state_of(entry), "allowed_actions": allowed}
    )
