"""Checkpoint reports on either database: once a key, all or nothing, in step with the ability."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from contracts.abilities.availability import CheckpointHealth, InstallLane
from contracts.errors import Refusal
from contracts.learning.checkpoints import CheckpointStatus, VerifyCheckpointRequest
from contracts.platform.commands import CommitKey
from stores.abilities.ability_rows import entry_of
from stores.learning.checkpoints import CheckpointReads, CheckpointStore
from stores.platform.canonical import digest_of
from stores.platform.database import Database, PageRequest
from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import CHECKPOINT_RECEIPTS, JournalFilter, count_entries
from tests.fixtures.installed import install, restate


def asked(**fields: Any) -> VerifyCheckpointRequest:
    return VerifyCheckpointRequest(
        **{"checkpoint_id": "cp-01", "status": CheckpointStatus.REACHED, "evidence": "seen", **fields}
    )


def key_of(name: str) -> CommitKey:
    return CommitKey(owner_user_id="alice", key=name, request_digest=digest_of("the same request"))


def receipts(store: Database) -> int:
    with store.read() as connection:
        return count_entries(connection, JournalFilter(streams=(CHECKPOINT_RECEIPTS,)))


def health(store: Database, ability_id: str) -> CheckpointHealth | None:
    with store.read() as connection:
        entry = entry_of(connection, ability_id)
    assert entry is not None
    return entry.checkpoint_health


def test_many_at_once_under_one_key_are_one_report(store: Database) -> None:
    ability = install(store)
    checkpoints = CheckpointStore(store)

    def verify(_: int) -> str:
        request = asked(ability_id=ability)
        return checkpoints.verify(request, "alice", key_of("once"), "test").receipt_id

    with ThreadPoolExecutor(6) as threads:
        answers = set(threads.map(verify, range(12)))
    assert len(answers) == 1
    assert receipts(store) == 1


def test_many_reports_at_once_all_count_and_the_chain_stays_whole(store: Database) -> None:
    ability = install(store)
    checkpoints = CheckpointStore(store)
    kinds = [CheckpointStatus.REACHED] * 14 + [CheckpointStatus.SKIPPED] * 2 + [CheckpointStatus.FAILED] * 2

    def verify(status: CheckpointStatus) -> None:
        request = asked(ability_id=ability, dispatch_id=str(uuid4()), status=status)
        checkpoints.verify(request, "alice", None, "test")

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(verify, kinds))
    assert receipts(store) == len(kinds)
    assert health(store, ability) is CheckpointHealth.MODERATE
    assert verify_chains(store).intact


def test_a_refused_report_leaves_its_key_free_and_nothing_behind(store: Database) -> None:
    checkpoints = CheckpointStore(store)
    with pytest.raises(Refusal, match="no such ability"):
        checkpoints.verify(asked(ability_id="learned.report"), "alice", key_of("k"), "test")
    assert receipts(store) == 0
    ability = install(store)
    checkpoints.verify(asked(ability_id=ability), "alice", key_of("k"), "test")
    assert receipts(store) == 1


def test_the_checkpoint_health_of_a_quarantined_ability_says_so_whatever_is_reported(store: Database) -> None:
    ability = install(store)
    restate(store, ability, install_lane=InstallLane.QUARANTINED)
    for _ in range(4):
        CheckpointStore(store).verify(asked(ability_id=ability), "alice", None, "test")
    assert health(store, ability) is CheckpointHealth.QUARANTINED


def test_of_a_shared_ability_everybody_reads_their_own_receipts_and_the_owner_all(store: Database) -> None:
    ability = install(store)
    for who in ("alice", "bob", "bob"):
        CheckpointStore(store).verify(asked(ability_id=ability), who, None, "test")
    reads = CheckpointReads(store)
    totals = {
        who: reads.of_ability(ability, who, "alice", PageRequest()).total for who in ("alice", "bob", "eve")
    }
    assert totals == {"alice": 3, "bob": 2, "eve": 0}
