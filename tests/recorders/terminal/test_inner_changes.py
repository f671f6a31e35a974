"""What a person changed in a database by typing unseen is told by tables and numbers of rows, never by values."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts.learning.observation import ProducedFile
from recorders.delivery import IngestTarget
from recorders.terminal.inner_changes import states_around, with_inner_changes
from recorders.terminal.recording import TerminalRecorderOptions, run_scripted

ROWS = "insert into orders values (1, 'Ulm'), (2, 'Bonn')"


def database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as made:
        for statement in statements:
            made.execute(statement)
        made.commit()


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (("insert into orders values (3, 'Graz')",), "table orders: 1 row more"),
        (("delete from orders",), "table orders: 2 rows fewer"),
        (("update orders set city = 'Linz' where id = 1",), "table orders: other values"),
        (("create table items (id, price)",), "table items: made with the columns id, price"),
        (("alter table orders add column total",), "table orders: changed with the columns id, city, total"),
        (
            ("drop table orders", "create table notes (text)"),
            "table notes: made with the columns text; table orders: removed",
        ),
        (("create index by_city on orders (city)",), None),
    ],
)
def test_each_table_that_changed_is_told(
    tmp_path: Path, statements: tuple[str, ...], told: str | None
) -> None:
    shop = tmp_path / "sub" / "shop.db"
    shop.parent.mkdir()
    database(shop, "create table orders (id, city)", ROWS)
    before = states_around("sqlite3 shop.db", [shop.parent])
    database(shop, *statements)
    files = [ProducedFile(path=path, change="modified", size_bytes=1) for path in ("sub/shop.db", "a.txt")]
    after = states_around("sqlite3 shop.db", [shop.parent])
    found = with_inner_changes(files, tmp_path, before, after)
    assert [(one.path, one.inside) for one in found] == [("sub/shop.db", told), ("a.txt", None)]


def test_nothing_is_looked_into_where_no_person_works_in_a_program(tmp_path: Path) -> None:
    database(tmp_path / "shop.db", "create table orders (id, city)")
    assert states_around("sqlite3 shop.db 'select 1'", [tmp_path]) == {}
    assert states_around("sqlite3 shop.db", [tmp_path / "gone"]) == {}


Recording = Callable[..., list[str | None]]


@pytest.fixture
def recorded(ingest_server, tmp_path: Path, session_id: str) -> Recording:
    """What is told of the database after rows were put into it at the prompt of python3."""
    folder = tmp_path / "demo"
    folder.mkdir()
    database(folder / "shop.db", "create table orders (id, city)")
    typed = [
        "python3",
        "import sqlite3",
        "d = sqlite3.connect('shop.db')",
        f'with d: print(d.execute("{ROWS}"))',
        "",
        "exit()",
    ]

    def record(**changes: Any) -> list[str | None]:
        values: dict[str, Any] = {
            "learn_session_id": session_id,
            "target": IngestTarget(ingest_server.url, "tok"),
            "spool_folder": tmp_path / "spool",
            "folder": folder,
            "flush_timeout_s": 20.0,
            "command_timeout_s": 20.0,
        }
        run_scripted(TerminalRecorderOptions(**(values | changes)), ["\n".join(typed)])
        (event,) = ingest_server.accepted.values()
        assert [file["path"] for file in event["terminal"]["produced_files"]] == ["shop.db"]
        return [file.get("inside") for file in event["terminal"]["produced_files"]]

    return record


def test_it_is_recorded_where_the_typed_lines_are_not(recorded: Recording, ingest_server) -> None:
    assert recorded(typed_lines=False) == ["table orders: 2 rows more"]
    assert not any(b"Bonn" in body for body in ingest_server.bodies)


@pytest.mark.parametrize(
    "changes",
    [{}, {"typed_lines": False, "inputs": None}, {"typed_lines": False, "redaction_mode": "hash_only"}],
)
def test_nothing_is_recorded_of_it_otherwise(recorded: Recording, changes: dict[str, Any]) -> None:
    assert recorded(**changes) == [None]
