"""Hands out access tokens to calls and renews them when needed: one renewal, however many ask concurrently.

Within a worker callers wait for the first one; across workers the sign-in's workflow is the lock, and the token
version that each caller has seen shows whether it was renewed meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from uuid_utils import uuid7

from activities.mcp.token_exchange import HeldToken, TokenExchange
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_work import AuthOutcome, AuthReceipt, RenewToken
from contracts.mcp.provider import NEEDS_SIGN_IN, MCPAuthMode, MCPAuthState
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolFailure
from contracts.platform.commands import CommitKey
from domain.mcp.auth_status import OAUTH_MODES, SIGNED_IN_BY_A_PERSON, belongs_elsewhere
from stores.mcp.auth.profiles import StoredProfile
from stores.mcp.auth.tokens import TokenRenewals
from stores.platform.secrets.store import SecretStore

_UNUSABLE = NEEDS_SIGN_IN - {MCPAuthState.EXPIRED}


@dataclass(frozen=True)
class Bearer:
    """What is sent along, and which version of the sign-in it is of; the value is not shown."""

    value: str
    version: int

    def __repr__(self) -> str:
        return f"Bearer(version={self.version})"


class TokenBroker:
    """Bearers by sign-in. One a worker, on its event loop."""

    def __init__(
        self,
        exchange: TokenExchange,
        secrets: SecretStore,
        renewals: TokenRenewals,
        renew: Callable[[RenewToken], Awaitable[AuthReceipt]],
    ) -> None:
        """``renew`` carries an order to the sign-in's workflow."""
        self._exchange = exchange
        self._secrets = secrets
        self._renewals = renewals
        self._renew = renew
        self._running: dict[str, asyncio.Task[AuthReceipt]] = {}

    async def bearer(self, auth_profile_id: str, owner: str) -> str | None:
        """The token or key to send along; none for a sign-in of mode ``none``.

        Raises:
            Refusal: as ``current``.
        """
        found = await self.current(auth_profile_id, owner)
        return found.value if found is not None else None

    async def current(self, auth_profile_id: str, owner: str, endpoint: str | None = None) -> Bearer | None:
        """The same with its version, for those who may have to ask for a newer one.

        ``endpoint`` is where it is to be sent: a token got for another server is not given out for it.

        Raises:
            Refusal: ``MCP_AUTH_CHALLENGE_REQUIRED`` where a person has to sign in; ``MCP_AUTH_PROFILE_NOT_FOUND``;
                ``MCP_SERVER_UNREACHABLE`` where the token is over, or was refused, and cannot be renewed now.
        """
        stored, held = await asyncio.to_thread(self._exchange.held, auth_profile_id, owner)
        mode = stored.profile.auth_mode
        if mode is MCPAuthMode.NONE:
            return None
        if mode is MCPAuthMode.API_KEY:
            return await self._key(stored)
        never_signed_in = held is None and mode in SIGNED_IN_BY_A_PERSON
        if stored.profile.status in _UNUSABLE or never_signed_in:
            raise _challenge(stored)
        _refuse_elsewhere(stored, endpoint)
        if held is None or not held.is_good(datetime.now(UTC)):
            return await self._renewed(stored, None, endpoint)
        if stored.connection.refused_version == held.version:
            return await self._renewed(stored, held.version, endpoint)
        return _bearer(held)

    async def for_server(self, server: MCPServerRegistryEntry, owner: str) -> Bearer | None:
        """What a server is called with; none where it wants no sign-in.

        Raises:
            Refusal: as ``current``.
        """
        if server.auth_profile_id is None:
            return None
        return await self.current(server.auth_profile_id, owner, endpoint_of(server))

    async def renewed(
        self,
        auth_profile_id: str,
        owner: str,
        seen_version: int | None = None,
        endpoint: str | None = None,
    ) -> str | None:
        """Another bearer than the one of ``seen_version``, which a server did not take; none where there is none.

        Raises:
            Refusal: as ``current``; for an API key, and where no renewal is allowed, the challenge.
        """
        stored, held = await asyncio.to_thread(self._exchange.held, auth_profile_id, owner)
        _refuse_elsewhere(stored, endpoint)
        known = stored.connection.token_version
        seen = known if seen_version is None else seen_version
        if held is not None and known > seen and held.is_good(datetime.now(UTC)):
            return held.tokens.access_token
        if stored.profile.auth_mode is MCPAuthMode.NONE:
            return None
        if stored.profile.auth_mode not in OAUTH_MODES or stored.profile.status in _UNUSABLE:
            await self.refused(auth_profile_id, owner, seen)
            raise _challenge(stored)
        order = _order(auth_profile_id, owner, seen)
        await asyncio.to_thread(self._renewals.note_refused, order, seen, datetime.now(UTC))
        return (await self._renewed(stored, seen, endpoint)).value

    async def refused(
        self, auth_profile_id: str, owner: str, seen_version: int | None = None, code: str = "token_refused"
    ) -> None:
        """A server refused the bearer of this version, renewed or not: that is shown until the next sign-in."""
        order = _order(auth_profile_id, owner, seen_version)
        await asyncio.to_thread(self._renewals.challenge, order, seen_version, code, datetime.now(UTC))

    async def note_lack(
        self, server: MCPServerRegistryEntry, owner: str, failure: ToolFailure | None, *, signed_in: bool
    ) -> None:
        """Notes the scopes that a server found to be lacking in a bearer it was sent, if that is what failed.

        They are shown, and requested at the next sign-in. A sign-in that is gone by now lacks nothing.
        """
        if failure is None or not failure.scopes_needed or not signed_in or server.auth_profile_id is None:
            return
        order = _order(server.auth_profile_id, owner, None)
        with suppress(Refusal):
            await asyncio.to_thread(self._renewals.lack, order, failure.scopes_needed, datetime.now(UTC))

    async def _renewed(self, stored: StoredProfile, seen: int | None, endpoint: str | None) -> Bearer:
        auth_profile_id, owner = stored.profile.auth_profile_id, stored.owner
        receipt = await self._joined(_order(auth_profile_id, owner, seen))
        if seen is not None and receipt.outcome is not AuthOutcome.LOST and receipt.token_version <= seen:
            # The renewal that was joined had begun for those who saw an older one.
            receipt = await self._joined(_order(auth_profile_id, owner, seen))
        stored, held = await asyncio.to_thread(self._exchange.held, auth_profile_id, owner)
        lost = receipt.outcome in {AuthOutcome.LOST, AuthOutcome.DECLINED}
        if lost or held is None:
            raise _challenge(stored)
        if not held.is_good(datetime.now(UTC)) or (seen is not None and held.version <= seen):
            # Nothing was renewed and nothing is lost: another attempt may find a newer one.
            raise Refusal(
                ErrorCode.MCP_SERVER_UNREACHABLE,
                "The authorization server has given no newer token; the sign-in is kept. Try again.",
            )
        _refuse_elsewhere(stored, endpoint)
        return _bearer(held)

    async def _joined(self, order: RenewToken) -> AuthReceipt:
        running = self._running.get(order.auth_profile_id)
        if running is None:
            running = asyncio.ensure_future(self._renew(order))
            self._running[order.auth_profile_id] = running
            running.add_done_callback(self._ended(order.auth_profile_id))
        # Who is cancelled leaves the others' renewal alone.
        return await asyncio.shield(running)

    def _ended(self, auth_profile_id: str) -> Callable[[asyncio.Task[AuthReceipt]], None]:
        def forget(task: asyncio.Task[AuthReceipt]) -> None:
            self._running.pop(auth_profile_id, None)
            if not task.cancelled():
                task.exception()

        return forget

    async def _key(self, stored: StoredProfile) -> Bearer:
        if stored.profile.secret_ref is None or stored.profile.status in _UNUSABLE:
            raise _challenge(stored)
        found = await asyncio.to_thread(self._secrets.reveal, stored.profile.secret_ref, stored.owner)
        return Bearer(found.value, stored.connection.token_version)


def endpoint_of(server: MCPServerRegistryEntry) -> str | None:
    """Where a server's bearer is sent; none for one without an address."""
    return None if server.endpoint_url is None else str(server.endpoint_url)


def _bearer(held: HeldToken) -> Bearer:
    return Bearer(held.tokens.access_token, held.version)


def _order(auth_profile_id: str, owner: str, seen: int | None) -> RenewToken:
    return RenewToken(
        commit_key=CommitKey(owner_user_id=owner, key=f"broker-{uuid7()}", request_digest="0" * 64),
        correlation_id=str(uuid7()),
        auth_profile_id=auth_profile_id,
        owner_user_id=owner,
        seen_version=seen,
        automatic=True,
    )


def _refuse_elsewhere(stored: StoredProfile, endpoint: str | None) -> None:
    elsewhere = belongs_elsewhere(stored.profile, stored.connection, endpoint)
    if elsewhere is not None:
        raise Refusal(
            ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
            f"The token of this sign-in is for {elsewhere}, not for this server; give the server one of its own.",
            auth_profile_id=stored.profile.auth_profile_id,
            auth_state=MCPAuthState.CHALLENGE_REQUIRED.value,
        )


def _challenge(stored: StoredProfile) -> Refusal:
    profile = stored.profile
    return Refusal(
        ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
        "The server needs a sign-in; GET /api/mcp/servers/{id}/auth/status says what to do.",
        auth_profile_id=profile.auth_profile_id,
        auth_state=profile.status.value,
    )
