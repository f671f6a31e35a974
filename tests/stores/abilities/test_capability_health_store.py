"""Outcomes on either database: counted once, by the install they speak of, in step with bridge and snapshot."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, select, update

from contracts.abilities.availability import InstallLane
from contracts.abilities.capability_health import (
    CapabilityOutcome,
    InstalledState,
    OutcomeKind,
    ReprobeSelection,
    RuntimeCapabilityCheck,
    RuntimeInventory,
)
from contracts.abilities.capability_manifest import HealthStatus
from stores.abilities import capability_health
from stores.abilities.ability_rows import entry_of
from stores.abilities.ability_rows import put_capability as put_row
from stores.abilities.capability_health import CapabilityHealthStore
from stores.platform.database import Database
from stores.platform.journal.chains import verify_chains
from stores.platform.tables import capabilities
from tests.fixtures.installed import INSTALLED_AT, install, put_capability, restate

NOW = datetime.now(UTC)


def failed(capability_id: str, **fields: Any) -> CapabilityOutcome:
    return CapabilityOutcome(
        **{
            "outcome_id": str(uuid4()),
            "capability_id": capability_id,
            "kind": OutcomeKind.USE,
            "success": False,
            "failure_fingerprint": "timeout",
            "reported_by": "alice",
            "happened_at": NOW,
            **fields,
        }
    )


def good_canary(capability_id: str) -> CapabilityOutcome:
    return failed(capability_id, success=True, failure_fingerprint=None, kind=OutcomeKind.CANARY)


def reinstall(store: Database, name: str, at: datetime, *, same_content: bool = False) -> None:
    with store.write() as connection:
        body = connection.scalar(select(capabilities.c.manifest).where(capabilities.c.capability_id == name))
        assert body is not None
        put_row(connection, name, name, body, at, replaces=name, same_content=same_content)


def status(store: Database, who: str = "alice") -> HealthStatus:
    (state,) = CapabilityHealthStore(store).health(who, NOW).capabilities
    return state.health_status


def test_failures_that_come_at_once_all_count_and_one_told_twice_counts_once(store: Database) -> None:
    capability = install(store)
    health = CapabilityHealthStore(store)
    different = [failed(capability) for _ in range(5)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda one: health.record_outcome(one, "test"), [*different[:2]] * 4))
    assert status(store) is HealthStatus.HEALTHY
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda one: health.record_outcome(one, "test"), different))
    assert status(store) is HealthStatus.QUARANTINED
    (stats,) = health.stats("alice", NOW).capabilities
    assert stats.uses == 5
    assert verify_chains(store).intact


def test_outcomes_and_inventories_that_meet_do_not_wait_for_each_other_for_ever(store: Database) -> None:
    names = [install(store, f"report-{number}") for number in range(4)]
    health = CapabilityHealthStore(store)
    checks = (RuntimeCapabilityCheck(name="program:tar", present=False),)

    def work(number: int) -> None:
        if number % 3 == 0:
            health.keep_inventory(RuntimeInventory(checks=checks, checked_at=NOW + timedelta(seconds=number)))
        else:
            health.record_outcome(failed(names[number % 4], critical=number > 15), "test")

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(24)))
    assert {one.health_status for one in health.health("alice", NOW).capabilities} == {
        HealthStatus.QUARANTINED
    }
    with store.read() as connection:
        entries = [entry_of(connection, name) for name in names]
    assert [entry is not None and entry.usable_now for entry in entries] == [False] * 4


def test_an_undone_install_leaves_the_evidence_of_what_stood_there_before(store: Database) -> None:
    capability = install(store)
    health = CapabilityHealthStore(store)
    for _ in range(2):
        health.record_outcome(failed(capability), "test")
    reinstall(store, capability, INSTALLED_AT + timedelta(days=1))
    health.record_outcome(good_canary(capability), "test")
    put_capability(store, capability, INSTALLED_AT)
    old = health.record_outcome(failed(capability), "test")
    assert old is not None
    assert (old.status, len(old.record.failures)) == (HealthStatus.DEGRADED, 3)


def test_new_content_is_degraded_until_it_was_run_and_the_failures_before_it_stay_counted(
    store: Database,
) -> None:
    capability = install(store)
    health = CapabilityHealthStore(store)
    for _ in range(2):
        health.record_outcome(failed(capability), "test")
    reinstall(store, capability, INSTALLED_AT + timedelta(days=1))
    (state,) = health.health("alice", NOW).capabilities
    assert (state.health_status, state.reason_codes) == (HealthStatus.DEGRADED, ("awaiting_smoke",))
    assert state.last_verified_at is None
    ran = health.record_outcome(good_canary(capability), "test")
    assert ran is not None
    assert (ran.status, len(ran.record.failures)) == (HealthStatus.HEALTHY, 2)
    again = health.record_outcome(failed(capability), "test")
    assert again is not None
    assert again.status is HealthStatus.DEGRADED


def test_the_same_content_again_neither_heals_nor_doubts(store: Database) -> None:
    capability = install(store)
    health = CapabilityHealthStore(store)
    reinstall(store, capability, INSTALLED_AT + timedelta(days=1), same_content=True)
    assert status(store) is HealthStatus.HEALTHY
    health.record_outcome(failed(capability, critical=True), "test")
    reinstall(store, capability, INSTALLED_AT + timedelta(days=2), same_content=True)
    (state,) = health.health("alice", NOW).capabilities
    assert (state.health_status, state.reason_codes) == (HealthStatus.QUARANTINED, ("critical_failure",))


def test_what_cannot_be_read_any_more_is_missing_and_not_present(store: Database) -> None:
    capability = install(store)
    with store.write() as connection:
        connection.execute(update(capabilities).values(manifest="{}"))
    (state,) = CapabilityHealthStore(store).health("alice", NOW).capabilities
    assert (state.capability_id, state.installed_state) == (capability, InstalledState.MISSING)


def test_what_a_person_has_quarantined_no_canary_brings_back(store: Database) -> None:
    capability = install(store)
    health = CapabilityHealthStore(store)
    health.record_outcome(failed(capability, critical=True), "test")
    restate(store, capability, install_lane=InstallLane.QUARANTINED)
    for _ in range(6):
        health.record_outcome(good_canary(capability), "test")
    assert status(store) is HealthStatus.QUARANTINED
    later = ReprobeSelection(now=NOW + timedelta(days=1))
    assert health.due(later) == ()
    restate(store, capability, install_lane=InstallLane.APPROVED_WORKSPACE)
    assert health.due(later) == (capability,)


def test_an_ability_that_is_switched_off_keeps_its_reason_when_its_capability_changes(
    store: Database,
) -> None:
    capability = install(store)
    restate(store, capability, enabled=False, usable_now=False, reason_unusable="Deactivated by its owner.")
    CapabilityHealthStore(store).record_outcome(failed(capability, critical=True), "test")
    with store.read() as connection:
        entry = entry_of(connection, capability)
    assert entry is not None
    assert entry.reason_unusable == "Deactivated by its owner."
    (state,) = CapabilityHealthStore(store).health("alice", NOW).capabilities
    assert "ability_deactivated" in state.reason_codes


def test_an_inventory_settles_abilities_in_short_transactions_and_so_keeps_nobody_waiting(
    sqlite_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capability_health, "_SETTLED_AT_ONCE", 2)
    names = [install(sqlite_store, f"report-{number}") for number in range(5)]
    settled, at_once = 0, list[int]()

    def count(*event: Any) -> None:
        nonlocal settled
        settled += event[2].startswith("UPDATE abilities")

    def end(_connection: object) -> None:
        nonlocal settled
        at_once.append(settled)
        settled = 0

    event.listen(sqlite_store.engine, "before_cursor_execute", count)
    event.listen(sqlite_store.engine, "commit", end)
    checks = (RuntimeCapabilityCheck(name="program:tar", present=False),)
    inventory = RuntimeInventory(checks=checks, checked_at=NOW)
    health = CapabilityHealthStore(sqlite_store)
    health.keep_inventory(inventory)
    assert [number for number in at_once if number] == [2, 2, 1]
    with sqlite_store.read() as connection:
        entries = [entry_of(connection, name) for name in names]
    assert [entry is not None and entry.usable_now for entry in entries] == [False] * 5
    at_once.clear()
    health.keep_inventory(inventory)
    assert sum(at_once) == 0
