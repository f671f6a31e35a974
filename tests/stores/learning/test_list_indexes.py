"""Lists of sessions and proposals are counted, and their pages found, without reading any but those of the page."""

from typing import Any

import pytest
from sqlalchemy import event

from stores.learning.learning_tables import PROPOSALS, SESSIONS
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentTable


@pytest.mark.parametrize("listed", [SESSIONS, PROPOSALS], ids=["sessions", "proposals"])
def test_a_page_is_counted_and_found_by_an_index_that_holds_what_is_filtered_by(
    sqlite_store: Database, listed: DocumentTable[Any]
) -> None:
    table = listed.table.c
    sent: list[tuple[str, Any]] = []
    event.listen(
        sqlite_store.engine, "before_cursor_execute", lambda *sending: sent.append((sending[2], sending[3]))
    )
    key = next(iter(listed.table.primary_key))
    with sqlite_store.read() as connection:
        where = (table.owner == "alice", table.archived_at.is_(None), table.state == "approved")
        listed.page(connection, PageRequest(page=40), *where, order_by=(key.desc(),))
        count, keys, _documents = sent[-3:]
        for statement, values in (count, keys):
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
            assert [row for row in plan if f"USING COVERING INDEX {listed.table.name}_by_owner" in row[3]]
