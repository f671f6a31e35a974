"""The system's keyring as a place for the ring of keys."""

from pathlib import Path

import keyring
from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend
from uuid_utils import uuid7

from stores.secret_key_file import private_folder
from stores.secret_problems import SecretKeysUnavailable

ENTRY_FILE = "keyring-entry"
"""Names this installation's entry, so that two of them under one user do not share keys. It moves along."""

_NO_KEYRING = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")


class SystemKeyring:
    """One entry of a keyring that holds a ring."""

    def __init__(self, service: str, folder: Path, backend: KeyringBackend) -> None:
        """The entry is ``service`` and a name that is kept in ``folder``."""
        self._service = service
        self._entry_file = folder / ENTRY_FILE
        self._backend = backend

    def __str__(self) -> str:
        return f"the system's keyring (service {self._service})"

    def read(self) -> str | None:
        """What the entry holds; ``None`` when there is none.

        Raises:
            SecretKeysUnavailable: the keyring is locked, or does not answer.
        """
        try:
            entry = self._entry_file.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            raise SecretKeysUnavailable(
                f"{self._entry_file} cannot be read; it names the entry in {self}"
            ) from None
        try:
            return self._backend.get_password(self._service, entry)
        except Exception as error:
            raise self._unavailable("read", error) from None

    def write(self, text: str) -> None:
        """Replaces what the entry holds.

        Raises:
            SecretKeysUnavailable: the keyring is locked, or does not answer.
        """
        try:
            private_folder(self._entry_file.parent)
            if not self._entry_file.exists():
                self._entry_file.write_text(f"keys-{uuid7()}\n", encoding="ascii")
            entry = self._entry_file.read_text(encoding="ascii").strip()
            self._backend.set_password(self._service, entry, text)  # pyright: ignore[reportUnknownMemberType]
        except OSError as error:
            raise SecretKeysUnavailable(f"{self._entry_file} cannot be written: {error.strerror}") from None
        except Exception as error:
            raise self._unavailable("written", error) from None

    def _unavailable(self, done: str, error: Exception) -> SecretKeysUnavailable:
        # Backends raise what they like, and their message might repeat what they were given.
        return SecretKeysUnavailable(
            f"{self} cannot be {done} ({type(error).__name__}); unlock it and try again"
        )


def real_keyring(backend: KeyringBackend | None = None) -> KeyringBackend | None:
    """``backend``, or the system's, if it keeps secrets; those that refuse, forget or write plain text do not."""
    found = backend if backend is not None else keyring.get_keyring()
    return found if _keeps_secrets(found) else None


def _keeps_secrets(backend: KeyringBackend) -> bool:
    if isinstance(backend, ChainerBackend):
        backends: list[KeyringBackend] = list(backend.backends)
        return bool(backends) and all(map(_keeps_secrets, backends))
    kind = type(backend)
    return not kind.__module__.startswith(_NO_KEYRING) and "plaintext" not in kind.__name__.lower()
