"""Where the keys of the secret store are kept, who may read them, and what happens when they are gone."""

import os
import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend
from keyring.backends.fail import Keyring as FailKeyring
from keyring.backends.null import Keyring as NullKeyring
from keyring.errors import KeyringLocked

from stores.platform.secrets.key_places import SecretKeysUnavailable, real_keyring
from stores.platform.secrets.keys import KeyRing, open_secret_keys


class Drawer(KeyringBackend):
    """A keyring that keeps its entries in memory, and can be locked."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked("the drawer is locked")
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise KeyringLocked("the drawer is locked")
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


class PlaintextDrawer(Drawer):
    """By its name, one that seals nothing."""


def ring_made_in(data_dir: str) -> str:
    return open_secret_keys("file", "apprentice", Path(data_dir)).ring().current


def test_the_key_file_and_its_folder_are_for_their_owner_only(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        open_secret_keys("file", "apprentice", tmp_path).ring()
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "secrets").iterdir()} == {0o600}


def test_the_ring_is_the_same_for_whoever_opens_it_next(tmp_path: Path) -> None:
    first = open_secret_keys("file", "apprentice", tmp_path).ring()
    assert open_secret_keys("file", "apprentice", tmp_path).ring() == first


@pytest.mark.thorough
def test_processes_that_start_at_once_make_one_key(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        assert len(set(pool.map(ring_made_in, [str(tmp_path)] * 8))) == 1
    assert sorted(path.name for path in (tmp_path / "secrets").iterdir()) == ["keys.json", "keys.lock"]


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o622])
def test_a_key_file_that_others_may_use_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    open_secret_keys("file", "apprentice", tmp_path).ring()
    file = tmp_path / "secrets/keys.json"
    file.chmod(mode)
    with pytest.raises(SecretKeysUnavailable, match=r"chmod 600.*secrets rotate"):
        open_secret_keys("file", "apprentice", tmp_path).ring()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"current": "a", "keys": {}}',
        b'{"current": "a", "keys": {"a": "c2hvcnQ="}}',
        b'{"current": "a", "keys": {"a": 7}}',
        b'{"current": "b", "keys": {"a": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}}',
    ],
)
def test_a_damaged_key_file_is_refused_and_never_overwritten(tmp_path: Path, content: bytes) -> None:
    keys = open_secret_keys("file", "apprentice", tmp_path)
    keys.ring()
    file = tmp_path / "secrets/keys.json"
    file.write_bytes(content)
    with pytest.raises(SecretKeysUnavailable, match=r"keys\.json.*backup"):
        keys.ring()
    assert file.read_bytes() == content


def test_no_key_is_seen_in_what_is_printed(tmp_path: Path) -> None:
    keys = open_secret_keys("file", "apprentice", tmp_path)
    ring = keys.ring()
    (key,) = ring.keys.values()
    shown = f"{ring!r} {ring} {keys!r} {keys}"
    assert repr(key) not in shown
    assert ring.to_text().split('"')[-2] not in shown


def test_a_ring_keeps_what_is_used_and_what_is_current() -> None:
    ring = KeyRing.new().with_new_key().with_new_key()
    oldest, older, _ = ring.keys
    assert set(ring.only({oldest}).keys) == {oldest, ring.current}
    assert set(ring.only(set()).keys) == {ring.current}
    assert set(ring.only({"unknown", older}).keys) == {older, ring.current}
    assert KeyRing.from_text(ring.to_text()) == ring


def test_a_real_keyring_holds_the_keys_and_no_file_does(tmp_path: Path) -> None:
    drawer = Drawer()
    keys = open_secret_keys("auto", "my-apprentice", tmp_path, drawer)
    ring = keys.ring()
    ((service, _),) = drawer.entries
    assert service == "my-apprentice"
    assert not (tmp_path / "secrets/keys.json").exists()
    assert open_secret_keys("keyring", "my-apprentice", tmp_path, drawer).ring() == ring


def test_two_installations_share_a_keyring_and_no_key(tmp_path: Path) -> None:
    drawer = Drawer()
    first = open_secret_keys("auto", "apprentice", tmp_path / "one", drawer).ring()
    second = open_secret_keys("auto", "apprentice", tmp_path / "two", drawer).ring()
    assert first.current != second.current
    assert len(drawer.entries) == 2


def test_a_locked_keyring_is_an_error_and_no_reason_for_another_key(tmp_path: Path) -> None:
    drawer = Drawer()
    keys = open_secret_keys("auto", "apprentice", tmp_path, drawer)
    ring = keys.ring()
    drawer.locked = True
    with pytest.raises(SecretKeysUnavailable, match="unlock it"):
        keys.ring()
    drawer.locked = False
    assert keys.ring() == ring


def test_keys_that_began_in_a_file_stay_there_when_a_keyring_appears(tmp_path: Path) -> None:
    ring = open_secret_keys("auto", "apprentice", tmp_path, FailKeyring()).ring()
    drawer = Drawer()
    assert open_secret_keys("auto", "apprentice", tmp_path, drawer).ring() == ring
    assert not drawer.entries


def test_keys_in_a_keyring_are_found_again_after_it_was_away(tmp_path: Path) -> None:
    drawer = Drawer()
    ring = open_secret_keys("auto", "apprentice", tmp_path, drawer).ring()
    meanwhile = open_secret_keys("auto", "apprentice", tmp_path, FailKeyring())
    assert meanwhile.ring().current != ring.current
    assert meanwhile.find(ring.current) is None
    assert (
        open_secret_keys("auto", "apprentice", tmp_path, drawer).find(ring.current) == ring.keys[ring.current]
    )


def test_whatever_a_keyring_raises_is_told_without_its_words(tmp_path: Path) -> None:
    class Broken(Drawer):
        def set_password(self, service: str, username: str, password: str) -> None:
            raise RuntimeError(f"cannot keep {password}")

    with pytest.raises(SecretKeysUnavailable, match=r"RuntimeError\); unlock it") as caught:
        open_secret_keys("keyring", "apprentice", tmp_path, Broken()).ring()
    assert "current" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("a file where the folder is to be")
    with pytest.raises(SecretKeysUnavailable, match="Not a directory"):
        open_secret_keys("file", "apprentice", tmp_path).ring()


@pytest.mark.parametrize("backend", [FailKeyring(), NullKeyring(), PlaintextDrawer()])
def test_a_keyring_that_keeps_no_secrets_is_not_used(tmp_path: Path, backend: KeyringBackend) -> None:
    assert real_keyring(backend) is None
    with pytest.raises(SecretKeysUnavailable, match="SECRET_KEY_SOURCE=file"):
        open_secret_keys("keyring", "apprentice", tmp_path, backend)
    open_secret_keys("auto", "apprentice", tmp_path, backend).ring()
    assert (tmp_path / "secrets/keys.json").exists()


def test_a_chain_of_keyrings_is_as_good_as_its_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = ChainerBackend()
    for backends, good in (([Drawer()], True), ([Drawer(), PlaintextDrawer()], False), ([], False)):
        monkeypatch.setattr(ChainerBackend, "backends", backends)
        assert (real_keyring(chain) is chain) == good
