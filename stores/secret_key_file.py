"""The key file: in a folder of its own (0700), readable by its owner only (0600), replaced as a whole."""

import os
import stat
from pathlib import Path

from stores.secret_problems import SecretKeysUnavailable

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
