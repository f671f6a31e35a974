"""Secrets in files: which files of a folder may not be kept, by their name or by what they hold.

Used for the starting state of a demonstration by the recorder and again by the service. A name is enough to leave a
file out; any other file is left out when redaction would mask something in it. Compressed content (gzip, zip, the
objects and packs of git) is looked at unpacked, within limits; of binary content only runs of printable text are
compared with the rules, since random-looking runs are its nature.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath

from domain.learning.redaction.redaction import holds_known_secret, holds_secret, redact

NAMED_LIKE_A_SECRET = "its name says that it holds a secret"  # noqa: S105 - a reason, not a secret
SEEMS_SECRET = "it seems to hold a secret"  # noqa: S105 - a reason, not a secret
NOT_LOOKED_THROUGH = "it is too large unpacked to be looked through for secrets"

MAX_UNPACKED_BYTES = 16 * 1024 * 1024
"""What one compressed file may unpack to; a larger one is left out unread."""

_MAX_MEMBERS = 2_000
_HEAD_BYTES = 64 * 1024

_SECRET_NAMES = re.compile(
    r"\.env(?:[._-].*)?|.*\.env|\.?envrc|id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?(?:[._-].*)?(?<!\.pub)"
    r"|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|kwallet|keychain(?:-db)?|ppk|asc|gpg|pgp|ovpn|age|agekey|tfstate"
    r"|tfvars|jwk|jwt|psafe3|1pif|opvault)(?:\.(?:bak|old|orig|backup))?"
    r"|\.?(?:netrc|npmrc|pgpass|pypirc|htpasswd|my\.cnf|mylogin\.cnf|dockercfg|dockerconfigjson|git-credentials|s3cfg"
    r"|boto|vault-token|yarnrc\.yml|gem_credentials|rclone\.conf|smbcredentials|passwd|shadow|gshadow)(?:[._-].*)?"
    r"|_netrc|credentials?(?:[._-].*)?|.*[._-]credentials?(?:\.[a-z0-9]+)?|.*service[._-]?account.*\.json"
    r"|secrets?(?:[._-].*)?|.*[._-]secrets?(?:\.[a-z0-9]+)?|passwords?(?:[._-].*)?|.*[._-]passwords?(?:\.[a-z0-9]+)?"
    r"|(?:(?:api|access|auth|refresh|admin|bearer|session|oauth|github|gitlab|npm|pypi|private)[._-]?)*tokens?"
    r"(?:\.(?:txt|json|ya?ml|toml|ini|cfg|conf|bak|old|pickle|dat))?"
    r"|.*[._-](?:api|access|auth|refresh|admin|bearer)[._-]?tokens?(?:\.[a-z0-9]+)?"
    r"|(?:api|access|private|secret|master|signing|encryption)[._-]?keys?(?:\.[a-z0-9]+)?"
    r"|cookies(?:\.(?:txt|sqlite|sqlite3|json|db))?|login data|logins\.json|key[34]\.db|\.bash_history|\.zsh_history"
    r"|\.python_history|\.psql_history|\.mysql_history|\.node_repl_history|\.sqlite_history|\.viminfo|wallet\.dat",
    re.IGNORECASE,
)
_SECRET_FOLDERS = frozenset(
    {
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".docker",
        ".password-store",
        ".secrets",
        "secrets",
        ".gcloud",
    }
)
_PRINTABLE = re.compile(rb"[\x20-\x7e\t]{12,}")
_MEDIA = (
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"GIF8",
    b"RIFF",
    b"ID3",
    b"OggS",
    b"fLaC",
    b"\x00\x00\x01\x00",
    b"BM",
)


class _TooMuch(Exception):
    """The content unpacks to more than it may, or cannot be unpacked."""


class _NamedSecret(Exception):
    """An archive has a member whose name says that it holds a secret."""


def reason_by_name(path: str) -> str | None:
    """Why a file of this path (relative, with slashes) is not kept, whatever it holds; None where its name is fine."""
    pure = PurePosixPath(path)
    if _SECRET_NAMES.fullmatch(pure.name) or not _SECRET_FOLDERS.isdisjoint(
        part.lower() for part in pure.parts[:-1]
    ):
        return NAMED_LIKE_A_SECRET
    return None


def reason_by_content(content: bytes) -> str | None:
    """Why a file with this content is not kept; None where nothing in it looks like a secret.

    The time it takes grows with the length of the content alone: up to a second for a MiB of text.
    """
    try:
        return SEEMS_SECRET if any(_holds_secret(part) for part in _unpacked(content)) else None
    except _NamedSecret:
        return SEEMS_SECRET
    except _TooMuch:
        return NOT_LOOKED_THROUGH


def path_holds_secret(path: str) -> bool:
    """Whether a path itself holds something that would be masked, such as ``token=…``."""
    # As a path from the present folder, so that digests in names are taken for the places that they are.
    shown = f"./{path}"
    return redact(shown).text != shown


def _holds_secret(content: bytes) -> bool:
    text = _as_text(content)
    if text is not None:
        return holds_secret(text)
    if content.startswith(_MEDIA):
        # Pictures and sound are compressed beyond their head.
        content = content[:_HEAD_BYTES]
    return holds_known_secret("\n".join(run.decode("ascii") for run in _PRINTABLE.findall(content)))


def _as_text(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        high = sum(byte >= 0x80 or byte < 9 for byte in content[:_HEAD_BYTES])
        # Text in a one-byte encoding of western Europe has few letters beyond ASCII.
        return content.decode("latin-1") if high * 5 < min(len(content), _HEAD_BYTES) else None


def _unpacked(content: bytes) -> Iterator[bytes]:
    """The content itself, and what it is the compressed form of."""
    if content[:1] == b"\x78" and int.from_bytes(content[:2], "big") % 31 == 0:
        # As git keeps an object of its own.
        yield from _inflated(content, zlib.MAX_WBITS)
    elif content.startswith(b"PACK\0\0\0"):
        yield from _packed_objects(content)
    elif content.startswith(b"\x1f\x8b"):
        yield from _inflated(content, zlib.MAX_WBITS | 16)
    elif content.startswith(b"PK\x03\x04"):
        yield from _zip_members(content)
    elif content.startswith((b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c")):
        raise _TooMuch
    else:
        yield content


def _inflated(content: bytes, wbits: int) -> Iterator[bytes]:
    size = 0
    while content:
        stream = zlib.decompressobj(wbits)
        try:
            part = stream.decompress(content, MAX_UNPACKED_BYTES - size + 1)
        except zlib.error:
            yield content
            return
        size += len(part)
        if size > MAX_UNPACKED_BYTES:
            raise _TooMuch
        yield part
        if not stream.eof or wbits == zlib.MAX_WBITS:
            return
        content = stream.unused_data


def _zip_members(content: bytes) -> Iterator[bytes]:
    size = 0
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS:
                raise _TooMuch
            for member in members:
                if not member.is_dir() and reason_by_name(member.filename) is not None:
                    raise _NamedSecret
                with archive.open(member) as stream:
                    part = stream.read(MAX_UNPACKED_BYTES - size + 1)
                size += len(part)
                if size > MAX_UNPACKED_BYTES:
                    raise _TooMuch
                yield part
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, OSError, EOFError, ValueError):
        # An encrypted or damaged archive cannot be looked into.
        raise _TooMuch from None


def _packed_objects(content: bytes) -> Iterator[bytes]:
    """The objects of a pack of git, deltas as the instructions that they are."""
    place, size, view = 12, 0, memoryview(content)
    count = int.from_bytes(content[8:12], "big")
    for _ in range(count):
        if place >= len(content):
            raise _TooMuch
        kind = (content[place] >> 4) & 7
        while content[place] & 0x80:
            place += 1
            if place >= len(content):
                raise _TooMuch
        place += 1
        if kind == 6:
            while place < len(content) and content[place] & 0x80:
                place += 1
            place += 1
        elif kind == 7:
            place += 20
        stream = zlib.decompressobj()
        try:
            part = stream.decompress(view[place:], MAX_UNPACKED_BYTES - size + 1)
        except zlib.error:
            raise _TooMuch from None
        if not stream.eof:
            raise _TooMuch
        size += len(part)
        yield part
        place = len(content) - len(stream.unused_data)
