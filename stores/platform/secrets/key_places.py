"""Places for the key ring of the secret store: the system's keyring, or a file (0600) in its own folder (0700).

Defines the errors of secrets; no message holds a value or a part of one.
"""

import os
import stat
from pathlib import Path

import keyring
from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend
from uuid_utils import uuid7


class SecretProblem(Exception):
    """A secret cannot be had or kept."""


class SecretNotFound(SecretProblem):
    """There is no such secret of this owner, or it has expired."""

    def __init__(self, ref: str) -> None:
        super().__init__(f"there is no secret {ref} of this owner, or it has expired")


class SecretConflict(SecretProblem):
    """The secret was changed meanwhile, or its reference is taken."""


class SecretTampered(SecretProblem):
    """What is stored is not what was sealed: damaged, or moved to another record."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"secret {ref} is damaged or was altered in the database; put the database back from a backup, "
            "or enter the secret again"
        )


class SecretKeyLost(SecretProblem):
    """The key that sealed a secret is nowhere to be found."""

    def __init__(self, ref: str, key_id: str, looked_into: str) -> None:
        super().__init__(
            f"secret {ref} was sealed with {key_id}, which is not in {looked_into}; put the keys back from a "
            "backup (every machine of a cluster needs the same ones), or enter the secret or sign in again"
        )
        self.key_id = key_id


class SecretKeysUnavailable(SecretProblem):
    """The keys cannot be read or kept; nothing was overwritten."""


FILE_NAME = "keys.json"

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


class KeyFile:
    """One file that holds a ring."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def __str__(self) -> str:
        return str(self._path)

    def exists(self) -> bool:
        """Whether there is one, readable or not."""
        return os.path.lexists(self._path)

    def read(self) -> str | None:
        """What the file holds; ``None`` when there is none.

        Raises:
            SecretKeysUnavailable: it cannot be read, or others may read it.
        """
        try:
            with self._path.open(encoding="ascii") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                if mode & 0o077:
                    raise SecretKeysUnavailable(
                        f"{self} may be used by others (mode {mode:04o}); `chmod 600` it, "
                        "and run `apprentice secrets rotate` if somebody may have read it"
                    )
                return file.read()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise SecretKeysUnavailable(
                f"{self} cannot be read: {reason}; make it readable for the user that runs Apprentice, or put "
                "it back from a backup"
            ) from None

    def write(self, text: str) -> None:
        """Replaces the file; a crash leaves the old or the new.

        Raises:
            SecretKeysUnavailable: it cannot be written.
        """
        try:
            private_folder(self._path.parent)
            fresh = self._path.with_name(f".{FILE_NAME}.{os.getpid()}")
            fresh.unlink(missing_ok=True)
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE), "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
            _sync(self._path.parent)
        except OSError as error:
            raise SecretKeysUnavailable(f"{self} cannot be written: {error.strerror}") from None


def private_folder(folder: Path) -> None:
    """Makes the folder and those above it, readable by its owner only.

    Raises:
        SecretKeysUnavailable: it cannot be made.
    """
    try:
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) != _FOLDER_MODE:
            folder.chmod(_FOLDER_MODE)
    except OSError as error:
        raise SecretKeysUnavailable(f"{folder} cannot be made private: {error.strerror}") from None


def _sync(folder: Path) -> None:
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


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
