"""Expired idempotency keys, old receipts and unreferenced blobs are deleted, and nothing else."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.checkpoints import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.proposal import ProposalState
from contracts.learning.session import LearnSessionState as S
from contracts.maintenance.runs import CompactedCheckpointReceipts, SweepName
from stores.maintenance.receipt_sweeps import COMPACTED
from stores.platform import tables
from stores.platform.blobs import put_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import CHECKPOINT_RECEIPTS, RECEIPTS, JournalDraft, append
from stores.platform.projection.documents import read_document
from stores.platform.projection.projector import Projector
from tests.fixtures.past import NOW, Nights, add_proposal, add_session, days, make_proposal

INSTANT = timedelta(microseconds=1)


def add_key(database: Database, key: str, age: timedelta, session_id: str = "", change: int = 1) -> None:
    """An answered key of a session's decision."""
    receipt = {"change": change, "session": {"learn_session_id": session_id}}
    with database.write() as connection:
        connection.execute(
            insert(tables.commits).values(
                owner="ann",
                key=key,
                request_digest="0" * 64,
                receipt=canonical_json(receipt),
                created_at=rfc3339(NOW - age),
            )
        )


def keys(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.scalars(select(tables.commits.c.key)))


def test_a_clients_key_goes_after_a_day_and_a_workflows_own_after_a_week(nights: Nights) -> None:
    add_key(nights.database, "client-old", days(1))
    add_key(nights.database, "client-young", days(1) - INSTANT)
    add_key(nights.database, "learn-session/x#3", days(7))
    add_key(nights.database, "learn-session/x#4", days(7) - INSTANT)
    progress = nights.run(SweepName.FORGET_KEYS, limit=1).progress(SweepName.FORGET_KEYS)
    assert keys(nights.database) == {"client-young", "learn-session/x#4"}
    assert (progress.examined, progress.done, progress.skipped, progress.removed) == (3, 2, 1, 2)


def test_the_decision_that_a_workflow_may_still_repeat_keeps_its_key(nights: Nights) -> None:
    open_session = add_session(nights.database, None)
    resting = add_session(nights.database, days(60))
    add_key(nights.database, "open-newest", days(60), open_session, change=4)
    add_key(nights.database, "open-earlier", days(60), open_session, change=3)
    add_key(nights.database, "resting-newest-of-this-week", days(7) - INSTANT, resting, change=4)
    add_key(nights.database, "resting-newest", days(7), resting, change=4)
    nights.run(SweepName.FORGET_KEYS)
    assert keys(nights.database) == {"open-newest", "resting-newest-of-this-week"}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ages=st.lists(st.integers(min_value=0, max_value=12), max_size=12),
    limit=st.integers(min_value=1, max_value=5),
)
@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_every_key_is_met_once_whatever_the_page_size_and_whatever_shares_an_instant(
    nights: Nights, ages: Sequence[int], limit: int
) -> None:
    with nights.database.write() as connection:
        connection.execute(delete(tables.commits))
    for number, age in enumerate(ages):
        add_key(nights.database, f"key-{number}", days(age))
    progress = nights.run(SweepName.FORGET_KEYS, limit=limit).progress(SweepName.FORGET_KEYS)
    assert progress.examined == sum(age >= 1 for age in ages)
    assert keys(nights.database) == {f"key-{number}" for number, age in enumerate(ages) if age < 1}


def add_entries(database: Database, stream: str, times: Sequence[datetime], **fields: Any) -> None:
    """Entries of a stream, one at each time."""
    with database.write() as connection:
        append(
            connection,
            [
                JournalDraft(
                    stream=stream,
                    aggregate="test/1",
                    owner="ann",
                    correlation_id="c",
                    created_at=rfc3339(time),
                    document=fields.get("document") or {"number": number},
                    ability_id=fields.get("ability_id"),
                )
                for number, time in enumerate(times)
            ],
        )


def lines(path: Path) -> int:
    return len(path.read_bytes().splitlines())


def test_receipts_move_to_an_archive_a_month_once_the_whole_month_is_90_days_old(
    nights: Nights, tmp_path: Path
) -> None:
    # 90 days before the night is the 23rd of August: July is over by then, August is not.
    months = [datetime(2026, month, 10, tzinfo=NOW.tzinfo) for month in (6, 6, 7, 8, 11)]
    add_entries(nights.database, RECEIPTS, months)
    projector = Projector(nights.database, tmp_path / "memory", tmp_path / "workspace")
    projector.catch_up()
    whole = (tmp_path / "memory" / f"{RECEIPTS}.jsonl").read_bytes()
    first = nights.run(SweepName.ROTATE_RECEIPTS).progress(SweepName.ROTATE_RECEIPTS)
    again = nights.run(SweepName.ROTATE_RECEIPTS).progress(SweepName.ROTATE_RECEIPTS)
    projector.catch_up()
    archive = tmp_path / "memory/system/learning/archived/receipts"
    parts = [archive / "2026-06.jsonl", archive / "2026-07.jsonl", tmp_path / "memory" / f"{RECEIPTS}.jsonl"]
    assert first.sample_ids == (f"{RECEIPTS} 2026-06", f"{RECEIPTS} 2026-07")
    assert again.examined == 0
    assert [lines(part) for part in parts] == [2, 1, 2]
    assert b"".join(part.read_bytes() for part in parts) == whole
    assert projector.verify().intact
    nights.run(SweepName.ROTATE_RECEIPTS, now=NOW + days(15))
    projector.catch_up()
    assert lines(archive / "2026-08.jsonl") == 1
    assert projector.verify().intact


@pytest.mark.parametrize(
    ("stream", "archive"),
    [
        ("system/mcp/receipts", "system/mcp/archived/receipts"),
        ("system/capabilities/use_receipts", "system/capabilities/archived/use_receipts"),
        ("system/capabilities/traces", "system/capabilities/archived/traces"),
    ],
)
def test_receipts_of_tool_servers_and_of_uses_and_traces_are_archived_too(
    nights: Nights, tmp_path: Path, stream: str, archive: str
) -> None:
    months = [datetime(2026, month, 10, tzinfo=NOW.tzinfo) for month in (6, 7, 11)]
    add_entries(nights.database, stream, months)
    add_entries(nights.database, RECEIPTS, months)
    projector = Projector(nights.database, tmp_path / "memory", tmp_path / "workspace")
    nights.run(SweepName.ROTATE_RECEIPTS)
    projector.catch_up()
    parts = [f"{archive}/2026-06.jsonl", f"{archive}/2026-07.jsonl", f"{stream}.jsonl"]
    assert [lines(tmp_path / "memory" / part) for part in parts] == [1, 1, 1]
    assert projector.verify().intact
    assert nights.run(SweepName.ROTATE_RECEIPTS).progress(SweepName.ROTATE_RECEIPTS).examined == 0


def test_a_late_line_of_an_archived_month_goes_with_the_next_month(nights: Nights, tmp_path: Path) -> None:
    def at(month: int) -> datetime:
        return datetime(2026, month, 10, tzinfo=NOW.tzinfo)

    add_entries(nights.database, RECEIPTS, [at(6), at(7), at(6), at(11)])
    nights.run(SweepName.ROTATE_RECEIPTS)
    projector = Projector(nights.database, tmp_path / "memory", tmp_path / "workspace")
    projector.catch_up()
    archive = tmp_path / "memory/system/learning/archived/receipts"
    assert [lines(archive / f"2026-0{month}.jsonl") for month in (6, 7)] == [1, 2]
    assert projector.verify().intact


def add_checkpoints(database: Database, ability_id: str, count: int, status: CheckpointStatus) -> None:
    """Checkpoint receipts of an ability, a second apart."""
    for number in range(count):
        receipt = CheckpointVerificationReceipt(
            receipt_id=str(uuid7()),
            checkpoint_id="cp-01",
            ability_id=ability_id,
            status=status,
            evidence="the report is there",
            created_at=NOW - days(100) + timedelta(seconds=number),
        )
        add_entries(
            database,
            CHECKPOINT_RECEIPTS,
            [receipt.created_at],
            ability_id=ability_id,
            document=receipt.model_dump(mode="json", exclude_none=True),
        )


def compacted(database: Database) -> dict[str, dict[CheckpointStatus, int]]:
    with database.read() as connection:
        content = read_document(connection, "memory", COMPACTED)
    if content is None:
        return {}
    found = CompactedCheckpointReceipts.model_validate_json(content)
    return {ability: one.counts for ability, one in found.abilities.items()}


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_of_each_ability_the_newest_hundred_stay_and_the_older_become_counts(
    nights: Nights, tmp_path: Path
) -> None:
    database = nights.database
    add_checkpoints(database, "ability-busy", 120, CheckpointStatus.REACHED)
    add_checkpoints(database, "ability-quiet", 3, CheckpointStatus.FAILED)
    first = nights.run(SweepName.COMPACT_CHECKPOINT_RECEIPTS)
    assert compacted(database) == {"ability-busy": {CheckpointStatus.REACHED: 20}}
    again = nights.run(SweepName.COMPACT_CHECKPOINT_RECEIPTS)
    name = SweepName.COMPACT_CHECKPOINT_RECEIPTS
    assert (first.progress(name).done, again.progress(name).done) == (1, 0)

    add_checkpoints(database, "ability-busy", 90, CheckpointStatus.REACHED)
    nights.run(SweepName.COMPACT_CHECKPOINT_RECEIPTS)
    assert compacted(database) == {"ability-busy": {CheckpointStatus.REACHED: 110}}
    projector = Projector(database, tmp_path / "memory", tmp_path / "workspace")
    projector.catch_up()
    (archive,) = (tmp_path / "memory/system/learning/archived/checkpoint_receipts").iterdir()
    current = tmp_path / "memory" / f"{CHECKPOINT_RECEIPTS}.jsonl"
    assert lines(archive) + lines(current) == 213
    assert lines(archive) >= 100
    assert projector.verify().intact


def test_content_that_no_row_refers_to_goes_after_30_days(nights: Nights) -> None:
    with nights.database.write() as connection:
        referred = put_blob(connection, b"a staged draft", NOW - days(90))
        planned = put_blob(connection, b"a file as it was", NOW - days(90))
        earlier = put_blob(connection, b"an earlier round", NOW - days(90))
        old = put_blob(connection, b"nobody's", NOW - days(30))
        young = put_blob(connection, b"nobody's yet", NOW - days(30) + INSTANT)
        connection.execute(
            insert(tables.install_sagas).values(
                saga_id="s",
                owner="ann",
                proposal_id="p",
                state="installed",
                plan=f'{{"before":"{planned}"}}',
                body="{}",
            )
        )
        round_before = {"proposal_id": "p", "revision": 1, "drafted_at": rfc3339(NOW), "body": "{}"}
        connection.execute(
            insert(tables.proposal_rounds).values(**round_before, staged=f'{{"draft_blob":"{earlier}"}}')
        )
    add_proposal(
        nights.database,
        make_proposal(days(1), ProposalState.APPROVED),
        staged=f'{{"draft_blob":"{referred}"}}',
    )
    progress = nights.run(SweepName.REMOVE_BLOBS).progress(SweepName.REMOVE_BLOBS)
    assert digests(nights.database) == {referred, planned, earlier, young}
    assert progress.sample_ids == (old,)


@pytest.mark.parametrize("state", [S.STOPPED, S.REVIEWING, S.READY_FOR_REVIEW])
def test_while_a_draft_may_be_staged_all_content_stays(nights: Nights, state: S) -> None:
    with nights.database.write() as connection:
        staged = put_blob(connection, b"perhaps about to be adopted", NOW - days(90))
    add_session(nights.database, None, state=state)
    progress = nights.run(SweepName.REMOVE_BLOBS).progress(SweepName.REMOVE_BLOBS)
    assert (progress.skipped, progress.done) == (1, 0)
    assert digests(nights.database) == {staged}


def digests(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.scalars(select(tables.blobs.c.digest)))
