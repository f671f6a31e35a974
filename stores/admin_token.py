"""The first token of an installation, kept in a file that only its owner can read."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select, text

from contracts.runtime.identity import AccessToken, Scope
from stores.database import Database
from stores.tables import access_tokens
from stores.tokens import create_token, revoke_token, secret_digest

ADMIN_USER = "admin"
"""The user who is there from the start."""

ADMIN_TOKEN_NAME = "Installation"  # noqa: S105 - what the token is called, not the token
"""The name of the token in the file; the admin's tokens of this name are the installation's own."""

FILE_NAME = "admin_token"
"""The file in the data directory that holds the secret, mode 0600."""

_LOCK_KEY = 7_202_611
_FILE_MODE = 0o600


class AdminToken(NamedTuple):
    """The admin's secret, and whether it was made just now."""

    secret: str
    created: bool


def ensure_admin_token(database: Database, data_dir: Path) -> AdminToken:
    """The secret in the data directory's token file; makes user, token and file where they are missing.

    When the file is lost or its token no longer holds, a new token is made and the old one revoked. Safe to
    call by several processes at once.

    Raises:
        OSError: when the file cannot be read or written; nothing was changed.
    """
    path = data_dir / FILE_NAME
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
        secret = _kept_secret(path)
        if secret is not None and _holds(connection, secret):
            path.chmod(_FILE_MODE)
            return AdminToken(secret, created=False)
        now = datetime.now(UTC)
        for token_id in _earlier(connection):
            revoke_token(connection, token_id, ADMIN_USER, now=now)
        _, secret = create_token(connection, ADMIN_TOKEN_NAME, ADMIN_USER, Scope, now, by=ADMIN_USER)
        # Before the commit: if that fails, the file names a token that does not hold, and is made anew.
        _write_secret(path, secret)
    return AdminToken(secret, created=True)


def _kept_secret(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _holds(connection: Connection, secret: str) -> bool:
    found = connection.execute(
        select(access_tokens.c.token_id).where(
            access_tokens.c.secret_hash == secret_digest(secret), access_tokens.c.revoked_at.is_(None)
        )
    )
    return found.one_or_none() is not None


def _earlier(connection: Connection) -> list[str]:
    rows = connection.execute(
        select(access_tokens.c.token_id, access_tokens.c.body).where(
            access_tokens.c.user_id == ADMIN_USER, access_tokens.c.revoked_at.is_(None)
        )
    )
    return [
        token_id for token_id, body in rows if AccessToken.model_validate_json(body).name == ADMIN_TOKEN_NAME
    ]


def _write_secret(path: Path, secret: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE), "w") as file:
        file.write(secret + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
