"""API keys by reference: ``env:NAME`` of an environment variable, ``file:PATH`` of a private file."""

import os
import re
import stat

MAX_KEY_CHARS = 4096
"""The longest key that is accepted."""

_PRINTABLE = re.compile(r"[\x21-\x7e]+")


class KeyUnavailable(Exception):
    """There is no usable key where the reference points; the text never holds the key."""


def read_api_key(reference: str) -> str:
    """The key that ``reference`` names: ``env:NAME``, or ``file:PATH`` of a file only its owner can read.

    It is read at each use, so that a key that was replaced counts at once.

    Raises:
        KeyUnavailable: nothing is there, others can read the file, or it is no key.
    """
    kind, _, place = reference.partition(":")
    if kind == "env":
        key = os.environ.get(place, "").strip()
        if not key:
            raise KeyUnavailable(f"the environment variable {place} holds no key")
    else:
        key = _in_file(place)
    if len(key) > MAX_KEY_CHARS or not _PRINTABLE.fullmatch(key):
        raise KeyUnavailable(f"what {kind}:{place} holds is no key: one printable word is expected")
    return key


def _in_file(path: str) -> str:
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:  # noqa: PTH111, PTH123 - fstat of what is read
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise KeyUnavailable(
                    f"others can use the key file {path} (mode {mode:04o}): run chmod 600 on it"
                )
            return file.read(MAX_KEY_CHARS + 2).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyUnavailable(f"the key file {path} cannot be read ({type(error).__name__})") from None
