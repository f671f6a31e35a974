"""Principals, tokens and their scopes (routes.md "Scopes")."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text80, Text120, UtcTime, Uuid, VersionedContract
from contracts.errors import ErrorCode, Refusal
from contracts.platform.lists import ListCounts

ACCESS_TOKEN_PREFIX = "apr_"  # noqa: S105 - the beginning of one
"""What the secret of every access token starts with, so that a leaked one can be recognised."""


class Scope(StrEnum):
    """What a token may do."""

    READ = "read"
    LEARN = "learn"
    OBSERVE = "observe"
    APPROVE = "approve"
    INSTALL = "install"
    CALL = "call"
    ADMIN = "admin"


_REVIEWING = frozenset({Scope.LEARN, Scope.APPROVE, Scope.INSTALL, Scope.ADMIN})
"""Agents read, observe and call."""


class Principal(Contract):
    """The authenticated caller of a request."""

    user_id: Text120
    token_id: Uuid
    scopes: frozenset[Scope]
    runtime: Text80 | None = Field(
        default=None, description="The only agent runtime that this token calls tools as."
    )

    @property
    def reviews(self) -> bool:
        """Whether it acts for a person who reviews drafts, and not for an agent."""
        return self.runtime is None and not self.scopes.isdisjoint(_REVIEWING)

    def may(self, scope: Scope) -> bool:
        """Whether it has ``scope``; ``admin`` has every right."""
        return not self.scopes.isdisjoint({scope, Scope.ADMIN})

    def require(self, scope: Scope, what: str = "This") -> None:
        """Refuses a caller without ``scope``; ``what`` is what needs it, for the message.

        Raises:
            Refusal: ``FORBIDDEN``, which names the scope.
        """
        if not self.may(scope):
            raise Refusal(
                ErrorCode.FORBIDDEN,
                f"{what} needs the scope {scope.value}; ask for a token that has it.",
                required_scope=scope.value,
            )


class AccessToken(VersionedContract):
    """A token as it is listed: its name and rights, never its secret."""

    token_id: Uuid
    name: Text80
    user_id: Text120
    scopes: tuple[Scope, ...]
    runtime: Text80 | None = Field(default=None, description="The only agent runtime it calls tools as.")
    made_by: Uuid | None = Field(
        default=None, description="The token that asked for it, whose revocation takes it along."
    )
    created_at: UtcTime
    revoked_at: UtcTime | None = None


class CreateTokenRequest(VersionedContract):
    """Asks for a new token; only an admin may make one for somebody else."""

    name: str = Field(min_length=1, max_length=80)
    user_id: str | None = Field(default=None, min_length=1, max_length=120, pattern=r"^[A-Za-z0-9._@-]+$")
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=7)
    runtime: str | None = Field(
        default=None,
        min_length=1,
        max_length=80,
        pattern=r"^[A-Za-z0-9._-]+$",
        description="Binds the token to one agent runtime, such as codex: it cannot call tools as another.",
    )


class CreateTokenResponse(VersionedContract):
    """The new token; the secret is shown here once and never again."""

    token: AccessToken
    secret: str


class TokenListResponse(ListCounts):
    """Tokens, newest first."""

    tokens: tuple[AccessToken, ...]


class MeResponse(VersionedContract):
    """Who the caller is."""

    user_id: Text120
    token_id: Uuid
    scopes: tuple[Scope, ...]
    runtime: Text80 | None = Field(default=None, description="The runtime that the token is bound to.")
