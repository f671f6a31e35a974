import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from contracts.abilities.capability_health import CapabilityStats, CapabilityStatsCurrent
from stores.abilities.ability_rows import BRIDGE
from stores.abilities.derived_files import HEALTH, STATS
from stores.memory.check_ins import metadata
from stores.memory.text_search import is_words
from stores.migrations.runner import MIGRATIONS
from stores.platform.canonical import document_bytes
from stores.platform.database import Database
from stores.platform.migrate import NEWEST, upgrade
from stores.platform.projection.documents import read_document
from stores.platform.projection.parted_documents import read_frame, read_parts
from tests.fixtures.installed import INSTALLED_AT

PROCESSES = 4


def _differences(url: str) -> list[object]:
    database = Database(url)
    try:
        with database.write() as connection:
            options = {
                "compare_type": True,
                "compare_server_default": False,
                "include_name": lambda name, kind, _: kind != "table" or not is_words(name),
            }
            return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    finally:
        database.close()


def _schema(url: str) -> dict[str, object]:
    """What compare_metadata does not look at too: partial indexes, nullability, autoincrement."""
    engine = create_engine(url)
    inspector = inspect(engine)
    try:
        return {
            table: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns(table)],
                inspector.get_pk_constraint(table)["constrained_columns"],
                sorted(
                    (
                        i["name"],
                        bool(i["unique"]),
                        sorted(f"{k}={v}" for k, v in i["dialect_options"].items()),
                    )
                    for i in inspector.get_indexes(table)
                ),
                sorted(str(c["column_names"]) for c in inspector.get_unique_constraints(table)),
            )
            for table in inspector.get_table_names()
            if table != "alembic_version" and not is_words(table)
        }
    finally:
        engine.dispose()


def test_the_migrations_give_the_schema_of_the_tables(database_url: str) -> None:
    upgrade(database_url)
    assert _differences(database_url) == []


def test_the_migrations_give_what_creating_the_tables_gives(database_url: str) -> None:
    upgrade(database_url)
    migrated = _schema(database_url)
    engine = create_engine(database_url)
    with engine.begin() as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
    engine.dispose()
    assert migrated == _schema(database_url)
    assert migrated.keys() == metadata.tables.keys()


def test_the_migrations_give_the_table_of_searched_words_that_creating_the_tables_gives(
    database_url: str,
) -> None:
    upgrade(database_url)
    migrated = _words(database_url)
    engine = create_engine(database_url)
    with engine.begin() as connection:
        metadata.drop_all(connection)
        assert not any(map(is_words, inspect(connection).get_table_names()))
        metadata.create_all(connection)
    engine.dispose()
    assert migrated == _words(database_url)
    assert "memory_words" in migrated


def _words(url: str) -> list[str]:
    engine = create_engine(url)
    tables = [table for table in inspect(engine).get_table_names() if is_words(table)]
    engine.dispose()
    return sorted(tables)


def test_a_number_of_the_journal_is_never_given_twice_on_a_migrated_sqlite(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    database = Database(sqlite_url)
    with database.read() as connection:
        created = connection.scalar(text("SELECT sql FROM sqlite_master WHERE name = 'journal'"))
    database.close()
    assert "AUTOINCREMENT" in created


def test_a_second_upgrade_keeps_what_is_there(database_url: str) -> None:
    upgrade(database_url)
    database = Database(database_url)
    with database.write() as connection:
        connection.execute(text("INSERT INTO boundaries VALUES ('b', 's', '{}')"))
    upgrade(database_url)
    with database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM boundaries")) == 1
    database.close()


@pytest.mark.thorough
def test_processes_that_start_at_once_migrate_once(database_url: str) -> None:
    program = (
        "import sys; from stores.platform.migrate import upgrade; sys.stdin.readline(); upgrade(sys.argv[1])"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, database_url],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    failures = [error for process in processes if (error := process.communicate(timeout=60)[1])]
    assert failures == []
    assert [process.returncode for process in processes] == [0] * PROCESSES
    assert _differences(database_url) == []


def test_a_failed_upgrade_leaves_nothing_behind(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no room for an index")

    with monkeypatch.context() as patch:
        patch.setattr("alembic.operations.base.Operations.create_index", refuse)
        patch.setattr("alembic.operations.base.BatchOperations.create_index", refuse)
        with pytest.raises(RuntimeError, match="no room"):
            upgrade(database_url)
    engine = create_engine(database_url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    upgrade(database_url)
    assert _differences(database_url) == []


def test_the_revision_that_needs_no_migrating_is_the_newest_there_is() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [NEWEST]


def test_a_database_of_the_newest_schema_is_opened_without_the_migration_tool(database_url: str) -> None:
    upgrade(database_url)
    program = (
        "import sys; from stores.platform.migrate import upgrade; upgrade(sys.argv[1]);"
        " sys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, database_url], check=True)


def test_documents_that_list_everything_are_kept_in_parts_and_read_as_they_were(database_url: str) -> None:
    upgrade(database_url)
    database = Database(database_url)
    frame = CapabilityStatsCurrent(capabilities=(), stats_as_of=INSTALLED_AT)
    entries = tuple(CapabilityStats(capability_id=f"learned.{number}", uses=number) for number in range(3))
    several = document_bytes(frame.changed(capabilities=entries))
    nested = document_bytes({"entries": [{"a": [1], "capability_id": "x }, y"}]})
    whole = {STATS.path: several, HEALTH.path: document_bytes(frame), BRIDGE.path: nested}
    with database.write() as connection:
        for name in ("document_parts", "skill_packs", "skill_pack_installs"):
            connection.execute(text(f"DROP TABLE {name}"))
        for name in ("parts", "change", "dropped"):
            connection.execute(text(f"ALTER TABLE documents DROP COLUMN {name}"))
        for name in ("abilities_by_lane", "abilities_by_change", "proposals_by_session"):
            connection.execute(text(f"DROP INDEX {name}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0022'"))
        for path, content in whole.items():
            connection.execute(
                text(
                    "INSERT INTO documents (root, path, content, digest, dirty)"
                    " VALUES ('memory', :path, :content, 'd', false)"
                ),
                {"path": path, "content": content},
            )
    upgrade(database_url)
    with database.read() as connection:
        assert {path: read_document(connection, "memory", path) for path in whole} == whole
        assert read_frame(connection, STATS) == document_bytes(frame)
        assert read_parts(connection, BRIDGE, ["x }, y"]).keys() == {"x }, y"}
        (part,) = read_parts(connection, STATS, ["learned.2"]).values()
    database.close()
    assert CapabilityStats.model_validate_json(part) == entries[2]
