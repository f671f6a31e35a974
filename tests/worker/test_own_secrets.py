"""All that is secret here is known in the spellings that a tool may say it in, as soon as it is kept."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.settings import Settings
from gateways.platform.payload_signing import payload_keys
from stores.mcp.auth.tokens import TOKEN
from stores.platform.database import Database
from stores.platform.secrets.keys import open_secret_keys
from stores.platform.secrets.store import SecretStore, open_secret_store
from tests.fixtures.databases import migrated
from worker.own_secrets import KEPT_SECONDS, OwnSecrets

KEY = "the-key-of-ann-0815"


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path / 'apprentice.db'}"
    migrated(url)
    database = Database(url)
    yield database
    database.close()


@pytest.fixture
def vault(sqlite_store: Database, tmp_path: Path) -> SecretStore:
    return open_secret_store(sqlite_store, tmp_path, "file", "apprentice")


def says(own: OwnSecrets, text: str) -> bool:
    return any(own().spans(f"it is {text}."))


def test_every_key_of_both_rings_is_known_in_each_of_its_spellings(
    vault: SecretStore, tmp_path: Path
) -> None:
    rings = (payload_keys(tmp_path).ring(), open_secret_keys("file", "apprentice", tmp_path).ring())
    own = OwnSecrets(tmp_path, vault)
    for ring in rings:
        (key,) = ring.keys.values()
        for spelled in (base64.b64encode(key).decode().rstrip("="), key.hex(), key.hex().upper()):
            assert says(own, spelled)


def test_a_key_that_is_made_later_is_known_after_a_while_and_a_damaged_file_gives_none(
    vault: SecretStore, tmp_path: Path
) -> None:
    now = [0.0]
    own = OwnSecrets(tmp_path, vault, clock=lambda: now[0])
    assert len(own()) == 0
    payload_keys(tmp_path).ring()
    assert len(own()) == 0
    now[0] = KEPT_SECONDS + 1
    assert len(own()) >= 3
    (tmp_path / "payload-keys" / "keys.json").write_text("{")
    now[0] = 2 * KEPT_SECONDS + 2
    assert len(own()) == 0


def test_a_secret_of_anybody_is_known_from_when_it_is_kept_until_it_is_dropped(
    vault: SecretStore, tmp_path: Path
) -> None:
    own = OwnSecrets(tmp_path, vault)
    assert not says(own, KEY)
    ref = vault.put("ann", "auth_profile_secret", KEY)
    assert says(own, KEY)
    vault.replace(ref, "ann", "another-key-of-ann", 1)
    assert says(own, "another-key-of-ann")
    assert not says(own, KEY)
    vault.drop(ref, "ann")
    assert not says(own, "another-key-of-ann")


def test_of_a_token_its_parts_are_known_and_neither_its_times_nor_its_scope(
    vault: SecretStore, tmp_path: Path
) -> None:
    own = OwnSecrets(tmp_path, vault)
    sealed = (
        '{"access_token": "access-0123456789", "refresh_token": "refresh-0123456789", "issued_at": '
        '"2026-01-01T00:00:00Z", "expires_at": null, "scope": "calendar.read"}'
    )
    vault.put("ann", TOKEN, sealed)
    assert says(own, "access-0123456789")
    assert says(own, "refresh-0123456789")
    assert not says(own, "calendar.read")
    assert not says(own, "2026-01-01T00:00:00Z")


def test_a_variable_of_local_programs_counts_where_its_name_is_a_secrets(
    vault: SecretStore, tmp_path: Path
) -> None:
    environ = {"FILES_TOKEN": KEY, "TZ_NAME": "Europe/Berlin"}
    own = OwnSecrets(tmp_path, vault, variables=environ, environ=environ)
    assert says(own, KEY)
    assert not says(own, "Europe/Berlin")


def test_what_a_setting_refers_to_is_known_and_what_is_not_there_is_no_failure(
    vault: SecretStore, tmp_path: Path
) -> None:
    file = tmp_path / "smtp"
    file.write_text(KEY)
    file.chmod(0o600)
    settings = Settings(smtp_password_ref=f"file:{file}", calendar_password_ref="env:NOT_THERE_AT_ALL")
    assert set(settings.references()) == {f"file:{file}", "env:NOT_THERE_AT_ALL"}
    assert says(OwnSecrets(tmp_path, vault, settings.references()), KEY)


def test_while_the_keys_cannot_be_read_what_was_known_stays_known(
    sqlite_store: Database, vault: SecretStore, tmp_path: Path
) -> None:
    own = OwnSecrets(tmp_path, vault)
    vault.put("ann", "auth_profile_secret", KEY)
    assert says(own, KEY)
    vault.put("ann", "auth_profile_secret", "a-second-key-of-ann")
    keys = tmp_path / "secrets" / "keys.json"
    keys.chmod(0o644)
    fresh = OwnSecrets(tmp_path, open_secret_store(sqlite_store, tmp_path, "file", "apprentice"))
    assert not says(fresh, KEY)
    assert says(own, KEY)
    keys.chmod(0o600)
    assert says(fresh, KEY)
