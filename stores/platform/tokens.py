"""Store of access tokens, which keeps only digests (routes.md "Scopes"); the first token goes to a private file."""

import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, RowMapping, select, text, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.platform.identity import ACCESS_TOKEN_PREFIX, AccessToken, Principal, Scope
from stores.platform.database import Database
from stores.platform.document_table import DocumentTable
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.tables import access_tokens

TOKENS = DocumentTable(
    access_tokens, AccessToken, message="There is no access token with that id; list them: GET /api/tokens."
)
"""Callers give ``secret_hash``; that a token is revoked is in its column alone."""

AUDIT_STREAM = "system/audit/tokens"
"""The journal stream of created and revoked tokens."""

_RANDOM_BYTES = 32
_SECRET_LENGTH = len(ACCESS_TOKEN_PREFIX) + 43
_CACHE_SECONDS = 1.5
_CACHE_SIZE = 1024


class _Cached(NamedTuple):
    principal: Principal
    until: float


class Tokens:
    """Access tokens. Safe to share between threads.

    A secret that was right is remembered for 1.5 seconds: a token revoked here is refused at once, one
    revoked by another process within two seconds.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` gives seconds that never go back; it times the cache."""
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: dict[str, _Cached] = {}
        self._revocations = 0

    def authenticate(self, secret: str) -> Principal | None:
        """Whose secret this is and what it allows; ``None`` when it is unknown, malformed or revoked."""
        if not (secret.startswith(ACCESS_TOKEN_PREFIX) and len(secret) == _SECRET_LENGTH):
            return None
        digest = secret_digest(secret)
        with self._lock:
            cached = self._cache.get(digest)
            revocations = self._revocations
        if cached is not None and self._clock() < cached.until:
            return cached.principal
        with self._database.read() as connection:
            principal = _principal(connection, digest)
        with self._lock:
            self._cache.pop(digest, None)
            # A revocation meanwhile may be of this very token: what was read is then not remembered.
            if principal is not None and revocations == self._revocations:
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[digest] = _Cached(principal, self._clock() + _CACHE_SECONDS)
        return principal

    def create(
        self,
        name: str,
        user_id: str,
        scopes: Iterable[Scope],
        now: datetime,
        *,
        by: str | None = None,
        runtime: str | None = None,
        made_by: str | None = None,
    ) -> tuple[AccessToken, str]:
        """Makes a token and returns it with its secret, which cannot be read again.

        ``by`` is who asked for it, for the audit; ``user_id`` when left out. ``runtime`` is the only agent runtime
        that it may call tools as. ``made_by`` is the token that it was asked with, and goes with.

        Raises:
            Refusal: ``UNAUTHENTICATED`` when that one was revoked meanwhile.
        """
        with self._database.write() as connection:
            if made_by is not None:
                _refuse_revoked(connection, made_by)
            return create_token(
                connection, name, user_id, scopes, now, by=by or user_id, runtime=runtime, made_by=made_by
            )

    def list_for(self, within: str | None) -> tuple[AccessToken, ...]:
        """All tokens, or the one ``within`` and what was made with it; newest first, revoked ones too."""
        with self._database.read() as connection:
            tokens = _all_tokens(connection)
        return tokens if within is None else _family(tokens, within)

    def revoke(
        self, token_id: str, by: str, *, within: str | None = None, now: datetime | None = None
    ) -> None:
        """Revokes a token and what was made with it; what is revoked already stays as it is.

        ``within`` narrows it to that token and what was made with it.

        Raises:
            Refusal: ``NOT_FOUND`` when there is no such token.
        """
        with self._database.write() as connection:
            tokens = _all_tokens(connection, lock=True)
            reach = tokens if within is None else _family(tokens, within)
            if token_id not in {token.token_id for token in reach}:
                raise TOKENS.not_found()
            gone = [token.token_id for token in _family(tokens, token_id)]
            for one in gone:
                revoke_token(connection, one, by, now=now or datetime.now(UTC))
        with self._lock:
            self._revocations += 1
            for digest, cached in list(self._cache.items()):
                if cached.principal.token_id in gone:
                    del self._cache[digest]


def _all_tokens(connection: Connection, *, lock: bool = False) -> tuple[AccessToken, ...]:
    statement = select(access_tokens).order_by(access_tokens.c.token_id.desc())
    if lock:
        statement = statement.with_for_update()
    return tuple(_token(row) for row in connection.execute(statement).mappings())


def _family(tokens: Sequence[AccessToken], token_id: str) -> tuple[AccessToken, ...]:
    """A token and what was made with it, or with one of these; in the order of ``tokens``, the newest first."""
    found: set[str] = set()
    newest = {token_id}
    while newest:
        found |= newest
        newest = {token.token_id for token in tokens if token.made_by in newest} - found
    return tuple(token for token in tokens if token.token_id in found)


def _refuse_revoked(connection: Connection, token_id: str) -> None:
    holds = (access_tokens.c.token_id == token_id, access_tokens.c.revoked_at.is_(None))
    if connection.execute(select(access_tokens.c.token_id).where(*holds).with_for_update()).first() is None:
        raise Refusal(ErrorCode.UNAUTHENTICATED, "The token that asked was revoked; send a valid one.")


def secret_digest(secret: str) -> str:
    """What the store keeps of a secret. 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def create_token(
    connection: Connection,
    name: str,
    user_id: str,
    scopes: Iterable[Scope],
    now: datetime,
    *,
    by: str,
    runtime: str | None = None,
    made_by: str | None = None,
) -> tuple[AccessToken, str]:
    """``Tokens.create`` within the caller's transaction."""
    secret = ACCESS_TOKEN_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    token = AccessToken(
        token_id=str(uuid7()),
        name=name,
        user_id=user_id,
        scopes=tuple(sorted(set(scopes), key=list(Scope).index)),
        runtime=runtime,
        made_by=made_by,
        created_at=now,
    )
    TOKENS.add(connection, token, secret_hash=secret_digest(secret))
    _audit(connection, "token.created", token, by, now)
    return token, secret


def revoke_token(connection: Connection, token_id: str, by: str, *, now: datetime) -> None:
    """Revokes this token alone, within the caller's transaction.

    Raises:
        Refusal: ``NOT_FOUND`` when there is no such token.
    """
    statement = select(access_tokens).where(access_tokens.c.token_id == token_id).with_for_update()
    row = connection.execute(statement).mappings().one_or_none()
    if row is None:
        raise TOKENS.not_found()
    if row["revoked_at"] is not None:
        return
    connection.execute(
        update(access_tokens).where(access_tokens.c.token_id == token_id).values(revoked_at=rfc3339(now))
    )
    _audit(connection, "token.revoked", _token(row), by, now)


def _held_under(digest: str) -> tuple[ColumnElement[bool], ...]:
    return access_tokens.c.secret_hash == digest, access_tokens.c.revoked_at.is_(None)


def _principal(connection: Connection, digest: str) -> Principal | None:
    token = TOKENS.first(connection, *_held_under(digest))
    return token and Principal(
        user_id=token.user_id,
        token_id=token.token_id,
        scopes=frozenset(token.scopes),
        runtime=token.runtime,
    )


def _token(row: RowMapping) -> AccessToken:
    token = AccessToken.model_validate_json(row["body"])
    if row["revoked_at"] is None:
        return token
    return token.changed(revoked_at=datetime.fromisoformat(row["revoked_at"]))


def _audit(connection: Connection, action: str, token: AccessToken, by: str, now: datetime) -> None:
    document = {
        "action": action,
        "token_id": token.token_id,
        "name": token.name,
        "user_id": token.user_id,
        "scopes": [scope.value for scope in token.scopes],
        "runtime": token.runtime,
        "by": by,
        "created_at": rfc3339(now),
    }
    entries = JournalEntries(f"token/{token.token_id}", token.user_id, token.token_id, now)
    append(connection, entries.add(AUDIT_STREAM, document).drafts)


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

    When the file is lost or its token no longer holds, a new token is made and the old one revoked; what was made
    with that one stays. Safe to call by several processes at once.

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
    return TOKENS.first(connection, *_held_under(secret_digest(secret))) is not None


def _earlier(connection: Connection) -> list[str]:
    held = (access_tokens.c.user_id == ADMIN_USER, access_tokens.c.revoked_at.is_(None))
    tokens = TOKENS.all(connection, *held, order_by=(access_tokens.c.token_id,))
    return [token.token_id for token in tokens if token.name == ADMIN_TOKEN_NAME]


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
