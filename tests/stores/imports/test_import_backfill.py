"""Imports of former versions are read as today's, and rewritten once each with a receipt."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from contracts.imports.former_imports import FORMER_STATES
from contracts.imports.import_record import SkillImportState
from stores.imports.import_backfill import backfill_imports
from stores.imports.import_tables import skill_imports
from stores.imports.imports import SkillImports
from stores.platform.database import Database, PageRequest
from stores.platform.journal.journal import RECEIPTS, JournalFilter, read_entries
from tests.fixtures.importing import FORMER_PATH, former_import

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def receipts(database: Database) -> list[dict[str, Any]]:
    with database.read() as connection:
        entries = read_entries(connection, JournalFilter(streams=(RECEIPTS,)))
    return [dict(one.document) for one in entries]


@pytest.mark.parametrize(("state", "today"), sorted(FORMER_STATES.items()))
def test_a_former_state_is_read_as_todays_and_rewritten_once_with_a_receipt(
    sqlite_store: Database, state: str, today: SkillImportState
) -> None:
    import_id = former_import(sqlite_store, state)
    imports = SkillImports(sqlite_store)
    read = imports.owned(import_id, "alice")
    assert read.state is today
    assert backfill_imports(sqlite_store, NOW) == 1
    kept = imports.owned(import_id, "alice")
    assert (kept.state, kept.record.source_ref_kind.value) == (today, "legacy_path")
    assert kept.record.source_ref == FORMER_PATH
    with sqlite_store.read() as connection:
        row = connection.execute(select(skill_imports.c.state, skill_imports.c.body)).one()
    assert row.state == today.value
    assert "input_path" not in row.body
    (receipt,) = receipts(sqlite_store)
    assert (receipt["event_kind"], receipt["import_id"]) == ("migration_backfill", import_id)
    assert state in receipt["reason"]
    assert FORMER_PATH not in receipt["reason"]
    assert backfill_imports(sqlite_store, NOW) == 0
    assert len(receipts(sqlite_store)) == 1


def test_what_needed_an_adapter_says_so_in_its_report(sqlite_store: Database) -> None:
    import_id = former_import(sqlite_store, "needs_adapter")
    backfill_imports(sqlite_store, NOW)
    imports = SkillImports(sqlite_store)
    kept = imports.owned(import_id, "alice")
    report = imports.report(kept)
    assert kept.record.requires_adapter
    assert report is not None
    assert report.requires_adapter
    assert [one.code for one in report.findings] == ["REQUIRES_ADAPTER"]
    assert kept.record.compatibility_report_ref == f"compatibility-report/{kept.report_blob}"


def test_a_path_alone_is_filled_in_and_what_is_of_today_is_left_alone(store: Database) -> None:
    former_import(store, "ready_for_review")
    here = former_import(
        store, "approved", "0199aa10-7c00-7000-8000-000000000002", source_ref="materialized-bundle/x"
    )
    assert backfill_imports(store, NOW) == 2
    imports = SkillImports(store)
    assert imports.owned(here, "alice").record.source_ref == "materialized-bundle/x"
    page = imports.page("alice", PageRequest(page=1, page_size=10), None)
    assert {one.state.value for one in page.documents} == {"ready_for_review", "approved"}
    assert backfill_imports(store, NOW) == 0
