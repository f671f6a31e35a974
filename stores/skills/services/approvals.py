"""Approval tokens: signed by this installation for exactly one content, kept so that they can be revoked (O-4, CH-36).

A token is a JWT with an Ed25519 signature, whose key is in the secret store. It counts only as long as its row is there
and not revoked, so that neither a stolen nor a forged key makes an approval by itself.
"""

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.inbox.items import SentItem, SentKind, SentState
from contracts.skills.content import ContentPackage
from contracts.skills.publishing import (
    MAX_TOKEN_SECONDS,
    ApprovalRecord,
    ApprovalToken,
    ApproveContentRequest,
    RevokedApproval,
)
from stores.inbox.inbox import put_item, withdraw_item
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.secrets.key_places import SecretNotFound
from stores.platform.secrets.store import SecretStore
from stores.skills.invocation_rows import AUDIT
from stores.skills.skill_tables import APPROVALS

ALGORITHM = "EdDSA"
LEEWAY = timedelta(seconds=60)
"""How far the time of issue may lie ahead; for the end there is none."""

_SYSTEM, _KIND, _REF = "system", "skill-approval-key", "skill-approval-key"
_IN_LINES = frozenset({"script", "captions"})
"""Fields that keep their line ends, as the manifest of publish-content says."""

_CLAIMS = ("sub", "reviewer_id", "content_id", "digest", "platforms", "jti", "iat", "exp")


class ApprovalRefused(Exception):
    """A token that does not approve what is to be published; ``code`` is INVALID_TOKEN or TOKEN_EXPIRED."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def content_digest(content: ContentPackage) -> str:
    """What an approval binds: SHA-256 over the canonical JSON of the content, without control characters.

    The gate of skills takes them out of an input, so content that is approved as it was written can be published.
    """
    shown = content.model_dump(mode="json", exclude_none=True)
    return digest_of(canonical_json({name: _cleaned(value, name) for name, value in shown.items()}))


def _cleaned(value: object, name: str) -> object:
    if isinstance(value, list):
        return [_cleaned(one, name) for one in cast("list[object]", value)]
    if not isinstance(value, str):
        return value
    kept = "\n\t" if name in _IN_LINES else ""
    return "".join(c for c in value if c in kept or unicodedata.category(c) != "Cc")


class Approvals:
    """The approvals of all users. Safe to share between threads and processes."""

    def __init__(self, database: Database, secrets: SecretStore) -> None:
        self._database = database
        self._secrets = secrets

    def approve(
        self, request: ApproveContentRequest, owner: str, jti: str | None, correlation_id: str, now: datetime
    ) -> ApprovalToken:
        """Approves content; with a ``jti`` that is known, the first approval's token again."""
        key = self._key()
        issued = now.replace(microsecond=0)
        with self._database.write() as connection:
            known = APPROVALS.find(connection, jti, owner=owner) if jti is not None else None
            record = known or ApprovalRecord(
                jti=jti or str(uuid7()),
                owner_user_id=owner,
                reviewer_id=owner,
                content_id=request.content.content_id,
                digest=content_digest(request.content),
                platforms=tuple(dict.fromkeys(request.platforms)),
                issued_at=issued,
                expires_at=issued + timedelta(seconds=request.ttl),
            )
            if known is None:
                APPROVALS.add(connection, record)
                put_item(connection, _shown(record, request.content, now), f"approval/{record.jti}")
                entries = JournalEntries(f"approval/{record.jti}", owner, correlation_id, now)
                entries.add(AUDIT, {"when": "content_approved", **_facts(record), "timestamp": rfc3339(now)})
                append(connection, entries.drafts)
        return ApprovalToken(
            approval_token=_signed(record, key),
            **{name: getattr(record, name) for name in ("jti", "content_id", "digest", "platforms")},
            reviewer_id=record.reviewer_id,
            expires_at=record.expires_at,
        )

    def revoke(self, jti: str, owner: str, correlation_id: str, now: datetime) -> RevokedApproval:
        """Has an approval count no more; again is the same.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.write() as connection:
            record = APPROVALS.find(connection, jti, owner=owner, lock=True)
            if record is None:
                raise Refusal(ErrorCode.NOT_FOUND, "There is no such approval of yours.")
            if record.revoked_at is None:
                record = record.changed(revoked_at=now)
                APPROVALS.put(connection, record)
                withdraw_item(connection, jti, now)
                entries = JournalEntries(f"approval/{jti}", owner, correlation_id, now)
                entries.add(AUDIT, {"when": "approval_revoked", **_facts(record), "timestamp": rfc3339(now)})
                append(connection, entries.drafts)
            return RevokedApproval(jti=jti, revoked_at=record.revoked_at or now)

    def verify(
        self, token: str, owner: str, content: ContentPackage, platform: str, now: datetime
    ) -> ApprovalRecord:
        """The approval that a token is, where it is one of this content for this platform.

        Raises:
            ApprovalRefused: ``INVALID_TOKEN``, ``TOKEN_EXPIRED``.
        """
        claims = self._claims(token)
        if claims["iat"] > (now + LEEWAY).timestamp():
            raise ApprovalRefused("INVALID_TOKEN", "The token was issued in the future.")
        if not 0 < claims["exp"] - claims["iat"] <= MAX_TOKEN_SECONDS:
            raise ApprovalRefused("INVALID_TOKEN", f"A token lives {MAX_TOKEN_SECONDS} s at most.")
        with self._database.read() as connection:
            record = APPROVALS.find(connection, str(claims["jti"]), owner=owner)
        if record is None or claims["sub"] != owner:
            raise ApprovalRefused("INVALID_TOKEN", "The token is no approval of yours.")
        if record.revoked_at is not None:
            raise ApprovalRefused("INVALID_TOKEN", "The approval was revoked.")
        if not record.digest == claims["digest"] == content_digest(content):
            raise ApprovalRefused("INVALID_TOKEN", "The token approves other content.")
        if platform not in record.platforms:
            raise ApprovalRefused("INVALID_TOKEN", "The token does not approve this platform.")
        if now.timestamp() >= claims["exp"]:
            raise ApprovalRefused("TOKEN_EXPIRED", "The approval has expired; ask for a new one.")
        return record

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key().public_key(),
                algorithms=[ALGORITHM],
                options={
                    "require": list(_CLAIMS),
                    # Judged by the time at which the call was accepted, not by now.
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except (jwt.InvalidTokenError, ValueError):
            raise ApprovalRefused("INVALID_TOKEN", "The token is none that was signed here.") from None
        if not all(isinstance(claims[name], int) for name in ("iat", "exp")):
            raise ApprovalRefused("INVALID_TOKEN", "The token has no usable times.")
        return claims

    def _key(self) -> Ed25519PrivateKey:
        """The signing key; made once, whoever asks first."""
        try:
            pem = self._secrets.reveal(_REF, _SYSTEM).value
        except SecretNotFound:
            with self._database.write() as connection:
                advisory_lock(connection, _REF)
                try:
                    pem = self._secrets.reveal_within(connection, _REF, _SYSTEM).value
                except SecretNotFound:
                    made = Ed25519PrivateKey.generate()
                    pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
                    self._secrets.put_within(connection, _SYSTEM, _KIND, pem, ref=_REF)
        key = load_pem_private_key(pem.encode(), None)
        assert isinstance(key, Ed25519PrivateKey), "the secret is written here alone"
        return key


def _signed(record: ApprovalRecord, key: Ed25519PrivateKey) -> str:
    claims = {
        "sub": record.owner_user_id,
        "reviewer_id": record.reviewer_id,
        "content_id": record.content_id,
        "digest": record.digest,
        "platforms": list(record.platforms),
        "jti": record.jti,
        "iat": int(record.issued_at.astimezone(UTC).timestamp()),
        "exp": int(record.expires_at.astimezone(UTC).timestamp()),
    }
    return jwt.encode(claims, key, algorithm=ALGORITHM)


def _shown(record: ApprovalRecord, content: ContentPackage, now: datetime) -> SentItem:
    """The item of the inbox that shows what was approved, for as long as it counts (O-4)."""
    parts = [f"For {', '.join(record.platforms)}, once.", "", content.script, *content.captions]
    if content.hashtags:
        parts.append(" ".join(content.hashtags))
    parts += [str(url) for url in content.media_urls]
    return SentItem(
        item_id=record.jti,
        owner_user_id=record.owner_user_id,
        kind=SentKind.APPROVED_CONTENT,
        state=SentState.ARRIVED,
        text=clipped("\n".join(parts), 4_000),
        skill_id="publish_content",
        invocation_id=record.jti,
        expires_at=record.expires_at,
        created_at=now,
        updated_at=now,
    )


def _facts(record: ApprovalRecord) -> dict[str, Any]:
    return {
        "jti": record.jti,
        "reviewer_id": record.reviewer_id,
        "content_id": record.content_id,
        "digest": record.digest,
        "platforms": list(record.platforms),
    }
