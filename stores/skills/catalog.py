"""The catalog of skills as the last scan found it: one row for each folder and version."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, bindparam, delete, or_, select

from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from contracts.skills.invocation_work import InvocationOrder
from contracts.skills.manifest import SkillManifest
from stores.platform.database import Database
from stores.skills.health import all_health, forget_failures, hold_health, with_health
from stores.skills.skill_tables import MANIFESTS, SKILLS, skill_manifests, skills

_NAMED = SKILLS.select(
    or_(
        skills.c.name == bindparam("name"),
        skills.c.name == bindparam("hyphened"),
        skills.c.function_name == bindparam("function"),
    )
).order_by(skills.c.key)


@lru_cache(maxsize=256)
def _parsed(body: str) -> SkillRecord:
    """The record of a row, parsed once: every call of a skill looks it up, and the row changes with its folder."""
    return SKILLS.parse(body)


class SkillCatalog:
    """Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(self, found: Sequence[SkillRecord]) -> tuple[str, ...]:
        """Takes what a scan found as the catalog; the names whose entry is another than before.

        Invocations that run keep the manifest they began with.
        """
        with self._database.write() as connection:
            before = {
                row.key: SKILLS.parse(row.body)
                for row in connection.execute(select(skills.c.key, skills.c.body))
            }
            hold_health(connection)
            health = all_health(connection)
            after = {record.key: with_health(record, health) for record in found}
            gone = [key for key in before if key not in after]
            if gone:
                connection.execute(delete(skills).where(skills.c.key.in_(gone)))
            other = [
                record
                for key, record in after.items()
                if key not in before or record.changed(seen_at=before[key].seen_at) != before[key]
            ]
            SKILLS.put_all(connection, [(record, {}) for record in other])
            _remember_manifests(connection, found)
        return tuple(sorted({record.name for record in other} | {before[key].name for key in gone}))

    def approved_again(self, root: SkillRoot, name: str, now: datetime) -> None:
        """A person approves the folder: what its runs said against it counts no more."""
        with self._database.write() as connection:
            hold_health(connection)
            forget_failures(connection, root, name, now)

    def manifests_of(self, root: SkillRoot, name: str) -> tuple[SkillManifest, ...]:
        """The manifest of each version of a folder's skill that was ever ready."""
        with self._database.read() as connection:
            return MANIFESTS.all(
                connection,
                skill_manifests.c.root == root.value,
                skill_manifests.c.name == name,
                order_by=(skill_manifests.c.key,),
            )

    def named(self, name: str) -> tuple[SkillRecord, ...]:
        """The folders that answer to a name: of a folder, with hyphens or underscores, or of a function."""
        asked = {"name": name, "hyphened": name.replace("_", "-"), "function": name.replace("-", "_")}
        with self._database.read() as connection:
            return tuple(_parsed(body) for body in connection.scalars(_NAMED, asked))

    def all(self, states: Iterable[SkillState] = ()) -> tuple[SkillRecord, ...]:
        """Every folder by name; only those in ``states``, if any are given."""
        wanted = tuple(state.value for state in states)
        where = (skills.c.state.in_(wanted),) if wanted else ()
        with self._database.read() as connection:
            return SKILLS.all(connection, *where, order_by=(skills.c.name, skills.c.key))

    def folder_of(self, order: InvocationOrder) -> Path | None:
        """Where the folder lies that an invocation runs; none where it is no longer as it was when it was let in."""
        if order.unapproved_path is not None:
            return Path(order.unapproved_path)
        for found in self.named(order.skill):
            if found.root is order.root and found.digest == order.digest:
                return Path(found.path)
        return None


def _remember_manifests(connection: Connection, found: Sequence[SkillRecord]) -> None:
    """Keeps the manifest of each folder that is ready, under its version."""
    rows = connection.execute(select(skill_manifests.c.key, skill_manifests.c.body))
    known = {row.key: row.body for row in rows}
    fresh: dict[str, tuple[SkillManifest, Mapping[str, str]]] = {}
    for record in found:
        manifest = record.manifest
        if record.state is SkillState.READY and manifest is not None:
            before = known.get(record.key)
            if before is None or SkillManifest.model_validate_json(before) != manifest:
                fresh[record.key] = manifest, {"key": record.key, "root": record.root.value}
    MANIFESTS.put_all(connection, fresh.values())
