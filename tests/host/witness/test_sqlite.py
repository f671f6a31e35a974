"""The state of SQLite databases: tables, columns and rows, whatever else the file holds."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from host.witness import sqlite
from host.witness.bounded_folder import BoundedFolder, Budget
from host.witness.sqlite import SqliteWitness
from tests.host.witness.folders import facts_of


def database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as made:
        for statement in statements:
            made.execute(statement)
        made.commit()


def test_a_database_has_tables_with_columns_and_rows(tmp_path: Path) -> None:
    database(
        tmp_path / "shop.db",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, total REAL)",
        "INSERT INTO orders (city, total) VALUES ('Ulm', 3), ('Bonn', 4)",
        'CREATE TABLE "odd ""name""; --" (x)',
        "CREATE TABLE keyed (k TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE INDEX by_city ON orders (city)",
    )
    facts = facts_of(tmp_path, "shop.db")
    assert {a: v for a, v in facts.items() if a.startswith("table") and not a.endswith("content")} == {
        "tables": 3,
        "table orders: columns": "id, city, total",
        "table orders: rows": 2,
        'table odd "name"; --: columns': "x",
        'table odd "name"; --: rows': 0,
        "table keyed: columns": "k",
        "table keyed: rows": 0,
    }


def test_another_value_in_a_row_and_another_index_are_other_facts(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    database(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (NULL)", "CREATE TABLE same (x)")
    before = facts_of(tmp_path, "shop.db")
    database(path, "UPDATE t SET x = x'00ff' WHERE x = 1")
    between = facts_of(tmp_path, "shop.db")
    database(path, "CREATE INDEX by_x ON t (x)")
    after = facts_of(tmp_path, "shop.db")
    aspects = [aspect for aspect in before if aspect.startswith(("table", "definitions"))]
    assert [aspect for aspect in aspects if before[aspect] != between[aspect]] == ["table t: content"]
    assert [aspect for aspect in aspects if between[aspect] != after[aspect]] == ["definitions"]


def test_rows_that_are_in_the_write_ahead_log_only_are_counted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE t (x)")
        made.execute("INSERT INTO t VALUES (1), (2)")
        made.commit()
        assert (tmp_path / "a.db-wal").stat().st_size > 0
        before = sorted(p.name for p in tmp_path.iterdir())
        assert facts_of(tmp_path, "a.db")["table t: rows"] == 2
        assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_views_triggers_and_virtual_tables_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database(
        path,
        "CREATE TABLE t (x)",
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE VIRTUAL TABLE words USING fts5 (text)",
    )
    facts = facts_of(tmp_path, "a.db")
    assert facts["table t: rows"] == 0
    assert facts["table words: kind"] == "virtual, not looked into"
    assert not [aspect for aspect in facts if " v:" in aspect]


@pytest.mark.parametrize("damage", ["cut", "noise", "head", "schema", "log"])
def test_a_damaged_database_is_not_readable_or_read_as_far_as_it_goes(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.db"
    database(path, "CREATE TABLE t (x)", *(f"INSERT INTO t VALUES ('{'x' * 3000}{n}')" for n in range(50)))
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[5000:]
    elif damage == "noise":
        content[4096:] = b"\xa5" * (len(content) - 4096)
    elif damage == "head":
        content[16:100] = b"\xff" * 84
    elif damage == "schema":
        content = bytearray(content.replace(b"CREATE TABLE t", b"CREATE TRASH t"))
    else:
        (tmp_path / "a.db-wal").write_bytes(b"\x37\x7f\x06\x82" + b"\xff" * 5000)
    path.write_bytes(content)
    facts = facts_of(tmp_path, "a.db")
    assert facts.get("table t: rows") == 50 or "not readable" in str(facts["database"])


def test_a_schema_that_claims_other_types_than_it_has_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (x)")
        made.execute("PRAGMA writable_schema = ON")
        made.execute("UPDATE sqlite_master SET sql = NULL, name = x'ff00fe', tbl_name = 3")
        made.commit()
    facts = facts_of(tmp_path, "a.db")
    assert "not readable" in str(facts.get("database", "")) or facts["tables"] in (0, 1)


def test_counting_ends_when_the_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database(tmp_path / "a.db", "CREATE TABLE t (x)", *("INSERT INTO t VALUES (1)",) * 50)
    monkeypatch.setattr(sqlite, "_STEPS_BETWEEN_CHECKS", 1)
    with BoundedFolder(tmp_path) as folder:
        assert len(folder.entries) == 1
        # The clock is looked at while SQLite counts, not only between files.
        monkeypatch.setattr(Budget, "spend", lambda *_: None)
        folder.budget.deadline = 0.0
        facts = {fact.aspect: fact.value for fact in SqliteWitness().observe(folder)}
    assert facts == {"database": "not readable (OperationalError)"}


def test_a_link_to_a_database_and_an_empty_file_are_none(tmp_path: Path) -> None:
    database(tmp_path / "a.db", "CREATE TABLE t (x)")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.db").symlink_to(tmp_path / "a.db")
    (folder / "empty.db").write_bytes(b"")
    assert "tables" not in facts_of(folder, "link.db")
    assert "tables" not in facts_of(folder, "empty.db")
