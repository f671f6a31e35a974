"""The files about all abilities after any sequence of changes are what deriving them anew would give."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import Connection, delete, event, insert, update

from bench.snapshot import entry_of
from contracts.abilities.availability import InstallLane
from contracts.abilities.capability_health import RuntimeCapabilityCheck, RuntimeInventory
from contracts.abilities.capability_manifest import HealthStatus
from contracts.abilities.lookup import Fit
from contracts.base import rfc3339
from stores.abilities.ability_reads import AbilityStore
from stores.abilities.ability_rows import all_entries, entries_of, put_standing, standing_of
from stores.abilities.derived_files import (
    BRIDGE_FILES,
    SNAPSHOT_FILES,
    put_inventory,
    rebuild_bridge,
    refresh_snapshot,
    update_bridge,
    update_snapshot,
)
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.migrate import upgrade
from stores.platform.projection.documents import read_document
from stores.platform.tables import abilities, capabilities
from tests.fixtures.installed import install, manifest
from tests.fixtures.thoroughness import times

NAMES = st.sampled_from([f"learned.report-{number}" for number in range(4)])
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class Derived(RuleBasedStateMachine):
    """Abilities and capabilities that come, change and go, each change told by its ability alone."""

    migrated: Path

    @initialize()
    def start(self) -> None:
        self.temporary = TemporaryDirectory()
        path = Path(self.temporary.name) / "store.db"
        shutil.copy(self.migrated, path)
        self.store = Database(f"sqlite:///{path}")
        self.now = BEGAN
        self.told = True
        self.reader = AbilityStore(self.store)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.temporary.cleanup()

    @rule(name=NAMES, lane=st.sampled_from(InstallLane), enabled=st.booleans())
    def ability_changes(self, name: str, lane: InstallLane, enabled: bool) -> None:
        entry = entry_of(int(name[-1])).changed(install_lane=lane, enabled=enabled)
        row = {
            "lane": lane.value,
            "version": 1,
            "created_at": rfc3339(BEGAN),
            "updated_at": rfc3339(self.now),
        }
        with self.change(name) as connection:
            connection.execute(delete(abilities).where(abilities.c.ability_id == name))
            connection.execute(
                insert(abilities).values(
                    ability_id=name, owner="alice", slug=name[8:], body=canonical_json(entry), **row
                )
            )

    @rule(name=NAMES)
    def ability_goes(self, name: str) -> None:
        with self.change(name) as connection:
            connection.execute(delete(abilities).where(abilities.c.ability_id == name))

    @rule(name=NAMES, renamed=st.booleans(), health=st.sampled_from(HealthStatus))
    def capability_is_replaced(self, name: str, renamed: bool, health: HealthStatus) -> None:
        called = f"{name}-renamed" if renamed else name
        row = {"health": health.value, "updated_at": rfc3339(self.now)}
        with self.change(name) as connection:
            connection.execute(delete(capabilities).where(capabilities.c.ability_id == name))
            connection.execute(
                insert(capabilities).values(
                    capability_id=called, ability_id=name, manifest=canonical_json(manifest(called)), **row
                )
            )

    @rule(name=NAMES)
    def capability_goes(self, name: str) -> None:
        with self.change(name) as connection:
            connection.execute(delete(capabilities).where(capabilities.c.ability_id == name))

    @rule(name=NAMES)
    def capability_is_used(self, name: str) -> None:
        """Counted at once; the files follow with the next change of any ability."""
        with self.store.write() as connection:
            standing = standing_of(connection, ability_id=name)
            if standing is not None:
                used = standing.record.changed(uses=standing.record.uses + 1, last_used_at=self.now)
                put_standing(connection, standing, standing.status, used)
                self.told = False

    @rule(name=NAMES, health=st.sampled_from(HealthStatus))
    def health_changes(self, name: str, health: HealthStatus) -> None:
        with self.change(name) as connection:
            standing = standing_of(connection, ability_id=name)
            if standing is not None:
                seen = standing.record.changed(last_verified_at=self.now)
                put_standing(connection, standing, health, seen)

    @rule(name=NAMES)
    def capability_becomes_unreadable(self, name: str) -> None:
        with self.change(name) as connection:
            row = update(capabilities).where(capabilities.c.ability_id == name)
            connection.execute(row.values(manifest="{"))

    @rule(missing=st.booleans())
    def runtime_is_looked_at(self, missing: bool) -> None:
        checks = (RuntimeCapabilityCheck(name="program:tar", present=not missing),)
        with self.store.write() as connection:
            put_inventory(connection, RuntimeInventory(checks=checks, checked_at=self.now))
            rebuild_bridge(connection, self.now)
            refresh_snapshot(connection, self.now)
        self.told = True

    @rule(hours=st.sampled_from([0, 1, 4]))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours, seconds=1)
        self.told = False

    @rule()
    def indexes_are_asked_for(self) -> None:
        """They took in what changed since they were last asked for, and are those of all abilities there are."""
        with self.store.read() as connection:
            assert sorted(self.reader.indexed(), key=lambda one: one.ability_id) == [*all_entries(connection)]

    @invariant()
    def deriving_all_anew_gives_the_same(self) -> None:
        if not hasattr(self, "store") or not self.told:
            return
        paths = [one.path for one in (*BRIDGE_FILES, *SNAPSHOT_FILES)]
        with self.store.engine.connect() as connection:
            found = {path: read_document(connection, "memory", path) for path in paths}
            rebuild_bridge(connection, self.now)
            refresh_snapshot(connection, self.now)
            anew = {path: read_document(connection, "memory", path) for path in paths}
            connection.rollback()
        # What nothing has changed yet is not there.
        assert found == {path: None if found[path] is None else anew[path] for path in paths}

    @contextmanager
    def change(self, name: str) -> Generator[Connection]:
        """A transaction that changes one ability, and tells of that alone."""
        with self.store.write() as connection:
            yield connection
            update_bridge(connection, self.now, name, name, f"{name}-renamed")
            update_snapshot(connection, self.now, name)
        self.told = True


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    path = tmp_path / "template.db"
    upgrade(f"sqlite:///{path}")
    return path


def test_after_any_changes_the_files_are_what_deriving_them_anew_gives(migrated: Path) -> None:
    Derived.migrated = migrated
    Derived.TestCase.settings = settings(
        max_examples=times(40),
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    Derived.TestCase().runTest()


def test_a_change_of_one_ability_reads_and_writes_that_of_many(sqlite_store: Database) -> None:
    for number in range(40):
        install(sqlite_store, f"report-{number}")
    statements: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        statements.append((statement, parameters))

    event.listen(sqlite_store.engine, "before_cursor_execute", note)
    with sqlite_store.write() as connection:
        update_bridge(connection, BEGAN, "learned.report-7")
        update_snapshot(connection, BEGAN, "learned.report-7")
    event.remove(sqlite_store.engine, "before_cursor_execute", note)
    named = {one for _, values in statements for one in values if str(one).startswith("learned.")}
    assert named == {"learned.report-7"}
    assert not [
        statement for statement, _ in statements if "FROM abilities" in statement and "WHERE" not in statement
    ]
    assert len(statements) < 40


def test_after_a_change_of_one_ability_the_indexes_read_that_of_many(sqlite_store: Database) -> None:
    for number in range(40):
        install(sqlite_store, f"report-{number}")
    with sqlite_store.write() as connection:
        refresh_snapshot(connection, BEGAN)
    reader = AbilityStore(sqlite_store)
    before = reader.indexes()
    assert reader.indexes() is before
    with sqlite_store.write() as connection:
        (entry,) = entries_of(connection, ["learned.report-7"])
        body = canonical_json(entry.changed(title="Count the windows"))
        row = update(abilities).where(abilities.c.ability_id == entry.ability_id)
        connection.execute(row.values(body=body))
        update_snapshot(connection, BEGAN, entry.ability_id)
    read: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if "body" in statement:
            read.extend(parameters)

    event.listen(sqlite_store.engine, "before_cursor_execute", note)
    by_title = reader.indexes().by_fit.judged("count the windows", entry.ability_id, caller_user_id="alice")
    event.remove(sqlite_store.engine, "before_cursor_execute", note)
    assert read == [entry.ability_id]
    assert by_title is not None
    assert by_title.fit is Fit.YES
