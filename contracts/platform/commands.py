"""Idempotent commands: the body that may carry a client key, and the key under which a decision is committed."""

from pydantic import Field

from contracts.base import Contract, Sha256, Text120, VersionedContract


class Command(VersionedContract):
    """A request body that may carry the idempotency key instead of the header."""

    client_request_id: Text120 | None = None


class CommitKey(Contract):
    """The key of one decision, so that it is committed once however often it is attempted.

    ``key`` is the caller's idempotency key within its owner, or ``workflow id#change`` for a timer's decision.
    """

    owner_user_id: str = Field(max_length=120)
    key: str = Field(max_length=300)
    request_digest: Sha256
