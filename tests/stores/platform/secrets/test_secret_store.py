"""Secrets: kept sealed, revealed to their owner, replaced once, and sealed anew with another key."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event, select, update

from contracts.maintenance.runs import SweepName
from stores.maintenance.nightly_sweeps import RemoveExpired, past_secret
from stores.platform.database import Database
from stores.platform.secrets.key_places import (
    SecretConflict,
    SecretKeyLost,
    SecretKeysUnavailable,
    SecretNotFound,
    SecretProblem,
    SecretTampered,
)
from stores.platform.secrets.keys import SecretKeys, open_secret_keys
from stores.platform.secrets.store import PAGE, SecretStore, drop_within
from stores.platform.tables import secrets

CANARY = "canary-7f3a9d1c5e"
NOW = datetime.now(UTC)


@pytest.fixture
def keys(tmp_path: Path) -> SecretKeys:
    return open_secret_keys("file", "apprentice", tmp_path)


@pytest.fixture
def vault(store: Database, keys: SecretKeys) -> SecretStore:
    return SecretStore(store, keys)


@pytest.fixture
def sqlite_vault(sqlite_store: Database, keys: SecretKeys) -> SecretStore:
    return SecretStore(sqlite_store, keys)


def column(database: Database, name: str) -> list[object]:
    with database.read() as connection:
        return list(connection.scalars(select(secrets.c[name]).order_by(secrets.c.ref)))


def test_a_secret_is_revealed_to_its_owner_and_to_nobody_else(vault: SecretStore) -> None:
    ref = vault.put("ann", "token", CANARY)
    assert vault.reveal(ref, "ann") == (CANARY, 1)
    for other, owner in ((ref, "bob"), ("secret-none", "ann")):
        with pytest.raises(SecretNotFound):
            vault.reveal(other, owner)
        with pytest.raises(SecretNotFound):
            vault.replace(other, owner, "x", 1)
        assert not vault.drop(other, owner)
    assert vault.reveal(ref, "ann").value == CANARY


def test_a_secret_that_is_dropped_is_gone(vault: SecretStore) -> None:
    ref = vault.put("ann", "token", CANARY)
    assert vault.drop(ref, "ann")
    assert not vault.drop(ref, "ann")
    with pytest.raises(SecretNotFound):
        vault.reveal(ref, "ann")


def test_of_two_replacements_of_one_version_one_wins(vault: SecretStore) -> None:
    ref = vault.put("ann", "token", "first")

    def replace(number: int) -> int | None:
        try:
            return vault.replace(ref, "ann", f"value {number}", 1)
        except SecretConflict:
            return None

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(replace, range(6)))
    winner = outcomes.index(2)
    assert [outcome for outcome in outcomes if outcome] == [2]
    assert vault.reveal(ref, "ann") == (f"value {winner}", 2)


def test_putting_under_a_reference_again_replaces_what_was_there(vault: SecretStore) -> None:
    assert vault.put("ann", "token", "first", ref="mine") == "mine"
    assert vault.put("ann", "token", "second", ref="mine") == "mine"
    assert vault.reveal("mine", "ann") == ("second", 2)
    for owner, kind in (("bob", "token"), ("ann", "api_key")):
        with pytest.raises(SecretConflict, match="taken"):
            vault.put(owner, kind, "third", ref="mine")


def test_a_secret_changes_with_the_row_that_refers_to_it_or_not_at_all(
    store: Database, vault: SecretStore
) -> None:
    kept = vault.put("ann", "token", "old")

    class Undone(Exception):
        pass

    def fails(connection: Connection) -> None:
        vault.put_within(connection, "ann", "token", "new", ref="another")
        assert vault.replace_within(connection, kept, "ann", "newer", 1) == 2
        assert vault.reveal_within(connection, kept, "ann") == ("newer", 2)
        assert drop_within(connection, kept, "ann")
        raise Undone

    with pytest.raises(Undone), store.write() as connection:
        fails(connection)
    assert vault.reveal(kept, "ann") == ("old", 1)
    with pytest.raises(SecretNotFound):
        vault.reveal("another", "ann")


def test_an_expired_secret_is_as_if_it_were_not_there_and_the_sweep_removes_it(
    store: Database, vault: SecretStore
) -> None:
    past = vault.put("ann", "verifier", CANARY, expires_at=NOW - timedelta(seconds=1))
    future = vault.put("ann", "verifier", CANARY, expires_at=NOW + timedelta(hours=1))
    lasting = vault.put("ann", "token", CANARY)
    with pytest.raises(SecretNotFound):
        vault.reveal(past, "ann")
    with pytest.raises(SecretNotFound):
        vault.replace(past, "ann", "x", 1)
    sweep = RemoveExpired(SweepName.REMOVE_EXPIRED_SECRETS, secrets.c.ref, past_secret)
    assert sweep.name is SweepName.REMOVE_EXPIRED_SECRETS
    with store.write() as connection:
        assert sweep.due(connection, NOW, "", 10) == [past]
        assert sweep.due(connection, NOW, past, 10) == []
        assert sweep.settle(connection, past, NOW, "run") == (True, 1)
        assert sweep.settle(connection, future, NOW, "run") == (False, 0)
    assert set(column(store, "ref")) == {future, lasting}


def test_equal_values_are_sealed_differently_and_never_in_clear(store: Database, vault: SecretStore) -> None:
    for _ in range(4):
        vault.put("ann", "token", CANARY)
    sealed = column(store, "sealed")
    assert len(set(sealed)) == 4
    assert len({bytes(value)[:12] for value in sealed}) == 4  # type: ignore[call-overload]
    assert not any(CANARY.encode() in bytes(value) for value in sealed)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "change",
    [
        {"owner": "bob"},
        {"kind": "api_key"},
        {"version": 2},
        {"ref": "moved"},
    ],
)
def test_a_sealed_value_that_was_moved_does_not_open(
    sqlite_store: Database, sqlite_vault: SecretStore, change: dict[str, object]
) -> None:
    sqlite_vault.put("ann", "token", CANARY, ref="here")
    with sqlite_store.write() as connection:
        connection.execute(update(secrets).values(change))
    row = {"ref": "here", "owner": "ann"} | change
    with pytest.raises(SecretTampered, match="backup"):
        sqlite_vault.reveal(str(row["ref"]), str(row["owner"]))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_one_changed_bit_is_noticed_wherever_it_is(
    sqlite_store: Database, sqlite_vault: SecretStore, place: int, bit: int
) -> None:
    sqlite_vault.put("ann", "token", CANARY, ref="here")
    with sqlite_store.write() as connection:
        sealed = bytearray(connection.scalar(select(secrets.c.sealed)) or b"")
        sealed[place % len(sealed)] ^= 1 << bit
        connection.execute(update(secrets).values(sealed=bytes(sealed)))
    with pytest.raises(SecretTampered) as caught:
        sqlite_vault.reveal("here", "ann")
    assert CANARY not in str(caught.value)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.text(max_size=300), owner=st.text(max_size=20).filter(lambda text: "\0" not in text))
def test_any_text_comes_back_as_it_was(sqlite_vault: SecretStore, value: str, owner: str) -> None:
    ref = sqlite_vault.put(owner, "token", value)
    assert sqlite_vault.reveal(ref, owner).value == value


def test_too_long_and_unwritable_values_are_refused_without_repeating_them(sqlite_vault: SecretStore) -> None:
    assert sqlite_vault.put("ann", "token", "x" * 65_536)
    for value in (CANARY * 10_000, CANARY + "\ud800"):
        with pytest.raises(ValueError, match="a secret m") as caught:
            sqlite_vault.put("ann", "token", value)
        assert CANARY not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_no_value_is_seen_in_what_is_printed_or_logged(
    sqlite_vault: SecretStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ref = sqlite_vault.put("ann", "token", CANARY)
    revealed = sqlite_vault.reveal(ref, "ann")
    sqlite_vault.replace(ref, "ann", CANARY + "2", 1)
    shown = f"{revealed!r} {revealed} {sqlite_vault!r} {sqlite_vault.rotate_keys()!r} {caplog.text}"
    assert CANARY not in shown


def test_a_rotation_seals_everything_anew_and_drops_the_old_key(
    store: Database, vault: SecretStore, keys: SecretKeys
) -> None:
    refs = [vault.put("ann", "token", f"value {number}") for number in range(PAGE + 3)]
    before = keys.ring().current
    done = vault.rotate_keys()
    assert (done.resealed, done.dropped, done.resumed, done.left) == (PAGE + 3, (before,), False, 0)
    assert set(column(store, "key_id")) == {done.key_id}
    assert list(keys.ring().keys) == [done.key_id]
    assert [vault.reveal(ref, "ann") for ref in refs] == [(f"value {n}", 1) for n in range(PAGE + 3)]


def test_a_rotation_of_nothing_makes_a_new_key(vault: SecretStore, keys: SecretKeys) -> None:
    assert vault.rotate_keys().key_id == keys.ring().current
    assert vault.rotate_keys().resealed == 0


def test_a_rotation_that_died_after_a_page_is_finished_by_the_next_one(
    sqlite_store: Database, sqlite_vault: SecretStore, keys: SecretKeys
) -> None:
    refs = [sqlite_vault.put("ann", "token", f"value {number}") for number in range(2 * PAGE)]
    old = keys.ring().current

    class Killed(BaseException):
        pass

    commits = 0

    def kill(_connection: Connection) -> None:
        nonlocal commits
        commits += 1
        # The first look finds nothing under another key; the page after that is kept, the next one is not.
        if commits == 3:
            raise Killed

    event.listen(sqlite_store.engine, "commit", kill)
    with pytest.raises(Killed):
        sqlite_vault.rotate_keys()
    event.remove(sqlite_store.engine, "commit", kill)
    assert len(set(column(sqlite_store, "key_id"))) == 2
    assert [sqlite_vault.reveal(ref, "ann").value for ref in refs] == [f"value {n}" for n in range(2 * PAGE)]

    done = sqlite_vault.rotate_keys()
    assert (done.resumed, done.resealed, done.dropped) == (True, PAGE, (old,))
    assert set(column(sqlite_store, "key_id")) == {done.key_id}


def test_what_is_written_while_keys_rotate_can_be_read_afterwards(store: Database, tmp_path: Path) -> None:
    # Each has its own view of the keys, as processes do.
    vaults = [SecretStore(store, open_secret_keys("file", "apprentice", tmp_path)) for _ in range(4)]

    def write(vault: SecretStore) -> list[str]:
        return [vault.put("ann", "token", f"value {number}") for number in range(15)]

    def rotate(_vault: SecretStore) -> list[str]:
        for _ in range(4):
            vaults[3].rotate_keys()
        return []

    works: list[Callable[[SecretStore], list[str]]] = [write, write, write, rotate]
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda work, vault: work(vault), works, vaults))
    fresh = SecretStore(store, open_secret_keys("file", "apprentice", tmp_path))
    for refs in written[:3]:
        assert [fresh.reveal(ref, "ann").value for ref in refs] == [f"value {n}" for n in range(15)]


def test_a_lost_key_is_told_with_what_to_do_and_new_secrets_can_be_kept(
    sqlite_store: Database, sqlite_vault: SecretStore, tmp_path: Path
) -> None:
    lost = sqlite_vault.put("ann", "token", CANARY)
    (tmp_path / "secrets/keys.json").unlink()
    vault = SecretStore(sqlite_store, open_secret_keys("file", "apprentice", tmp_path))
    with pytest.raises(SecretKeyLost, match=r"keys\.json.*backup.*sign in again") as caught:
        vault.reveal(lost, "ann")
    kept = vault.put("ann", "token", "new")
    assert vault.reveal(kept, "ann").value == "new"
    uses = {use.key_id: use for use in vault.key_uses()}
    assert (uses[caught.value.key_id].lost, uses[caught.value.key_id].records) == (True, 1)
    assert (vault.rotate_keys().left, vault.rotate_keys().left) == (1, 1)
    assert vault.put("ann", "token", "again", ref=lost) == lost
    assert vault.reveal(lost, "ann").value == "again"


def test_keys_that_cannot_be_read_stop_everything_and_lose_nothing(
    sqlite_vault: SecretStore, tmp_path: Path
) -> None:
    ref = sqlite_vault.put("ann", "token", CANARY)
    file = tmp_path / "secrets/keys.json"
    file.chmod(0o644)
    works: list[Callable[[], object]] = [
        lambda: sqlite_vault.put("ann", "token", "x"),
        lambda: sqlite_vault.replace(ref, "ann", "x", 1),
        sqlite_vault.rotate_keys,
        sqlite_vault.key_uses,
    ]
    for work in works:
        with pytest.raises(SecretKeysUnavailable):
            work()
    assert issubclass(SecretKeysUnavailable, SecretProblem)
    file.chmod(0o600)
    assert sqlite_vault.reveal(ref, "ann") == (CANARY, 1)
