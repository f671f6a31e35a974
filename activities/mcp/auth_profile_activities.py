"""Activities of a sign-in: discovery, authorization URL, code exchange, renewal, revocation, deletion.

Each may be repeated. Results hold references and versions; tokens stay between the authorization server and the
secret store. Errors of authorization servers become application errors, retryable or not.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx2
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.mcp.token_exchange import TokenExchange
from activities.platform.refusals import as_application_errors, refusing
from clients.mcp.oauth_discovery import discover
from clients.mcp.oauth_requests import (
    AddressNotAllowed,
    DiscoveryFailed,
    IssuerMismatch,
    OAuthTrouble,
    ServerUnreachable,
    TokenRefused,
)
from clients.mcp.oauth_tokens import (
    authorization_url,
    challenge_of,
    check_issuer,
    new_state,
    new_verifier,
    state_digest,
)
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_work import (
    AuthOutcome,
    AuthReceipt,
    BeginSignIn,
    ChangeProfile,
    FinishSignIn,
    ForgetProfile,
    RenewToken,
    RevokeSignIn,
    SignInFlow,
    SignInLook,
)
from domain.mcp.auth_status import (
    REGISTRATION_REFUSED,
    SIGNED_IN_BY_A_PERSON,
    RenewalStep,
    next_step,
    scopes_to_ask,
)
from stores.mcp.auth.flows import STATE_INVALID
from stores.mcp.auth.profile_changes import AuthProfileChanges
from stores.mcp.auth.profiles import AuthProfileStore
from stores.mcp.auth.sign_ins import Opening, SignInStore
from stores.mcp.auth.tokens import TokenRenewals
from stores.platform.secrets.key_places import SecretNotFound

_CODES: dict[type[OAuthTrouble], ErrorCode] = {
    DiscoveryFailed: ErrorCode.MCP_OAUTH_DISCOVERY_FAILED,
    AddressNotAllowed: ErrorCode.MCP_ADDRESS_REFUSED,
    TokenRefused: ErrorCode.MCP_OAUTH_TOKEN_EXCHANGE_FAILED,
    IssuerMismatch: ErrorCode.MCP_OAUTH_STATE_INVALID,
}


@asynccontextmanager
async def telling_apart() -> AsyncGenerator[None]:
    """Only an unreachable server is retried: after its Retry-After, else by the activity's preset."""
    with as_application_errors():
        try:
            yield
        except ServerUnreachable as error:
            after = error.retry_after_seconds
            raise ApplicationError(
                clipped(f"{error.message}; the sign-in is kept.", 240),
                type=ErrorCode.MCP_SERVER_UNREACHABLE.value,
                next_retry_delay=timedelta(seconds=after) if after is not None else None,
            ) from None
        except OAuthTrouble as error:
            raise Refusal(
                _CODES[type(error)], clipped(error.message, 240), auth_error_code=error.code
            ) from None


Result = TypeVar("Result")

ATTEMPTS_OF_A_PERSON = 2
"""How often the exchange that a person waits for is tried."""

DISCOVERY_SECONDS = 20.0
"""All the requests before a sign-in page can open."""


@dataclass(frozen=True)
class AuthStores:
    """What sign-ins are kept in."""

    profiles: AuthProfileStore
    sign_ins: SignInStore
    renewals: TokenRenewals
    changes: AuthProfileChanges


class AuthProfileActivities:
    """The hands of ``AuthProfileWorkflow``."""

    def __init__(
        self,
        stores: AuthStores,
        exchange: TokenExchange,
        open_http: Callable[[], httpx2.AsyncClient],
        *,
        allow_private: bool,
    ) -> None:
        self._stores = stores
        self._exchange = exchange
        self._open_http = open_http
        self._allow_private = allow_private

    @activity.defn
    @refusing
    def look_at_sign_in(self, look: SignInLook) -> AuthReceipt:
        """How a sign-in stands in the store."""
        stored = self._stores.profiles.get(look.auth_profile_id, look.owner_user_id)
        return _timed(stored.outcome(AuthOutcome.CURRENT))

    @activity.defn
    async def begin_sign_in(self, order: BeginSignIn) -> AuthReceipt:
        """Finds the authorization server and keeps a state and a verifier; the browser goes there next."""
        async with telling_apart():
            known = await asyncio.to_thread(
                self._stores.sign_ins.flow, order.challenge_id, order.owner_user_id
            )
            if known is None:
                opening = await self._opening(order)
                return _timed(
                    await asyncio.to_thread(self._stores.sign_ins.open_flow, order, opening, _now())
                )
            stored = await asyncio.to_thread(
                self._stores.profiles.get, order.auth_profile_id, order.owner_user_id
            )
            return _timed(stored.outcome(AuthOutcome.CURRENT))

    @activity.defn
    async def finish_sign_in(self, order: FinishSignIn) -> AuthReceipt:
        """Uses the state up, checks who answered, and exchanges the code; why it failed is kept."""
        async with telling_apart():
            sign_ins = self._stores.sign_ins
            flow = await asyncio.to_thread(sign_ins.claim, order, _now())
            if order.code_ref is None:
                code = _said(order, flow)
                return _timed(await asyncio.to_thread(sign_ins.fail_sign_in, order, flow, code, _now()))
            try:
                check_issuer(flow.server, order.iss)
                return _timed(await _to_the_end(self._exchange.code(order, flow, order.code_ref)))
            except SecretNotFound:
                return await self._finished_before(order)
            except (IssuerMismatch, TokenRefused, ServerUnreachable) as error:
                if not isinstance(error, ServerUnreachable) or _last_attempt():
                    await asyncio.to_thread(sign_ins.fail_sign_in, order, flow, error.code, _now())
                raise

    @activity.defn
    async def renew_token(self, order: RenewToken) -> AuthReceipt:
        """Gets a new token where that is allowed and due. Only ``invalid_grant`` loses the sign-in."""
        async with telling_apart():
            renewals = self._stores.renewals
            base, held = await asyncio.to_thread(
                self._exchange.held, order.auth_profile_id, order.owner_user_id
            )
            good = held is not None and held.is_good(_now())
            step = next_step(order, base.profile, base.connection, _now(), good=good)
            if step is RenewalStep.CURRENT:
                return _timed(base.outcome(AuthOutcome.CURRENT))
            if step is RenewalStep.DECLINE:
                return _timed(await asyncio.to_thread(renewals.decline, order, _now()))
            try:
                return _timed(await _to_the_end(self._exchange.renewal(order, base, held)))
            except TokenRefused as error:
                if error.ends_the_sign_in:
                    return _timed(await asyncio.to_thread(renewals.lose, order, base, error.code, _now()))
                await asyncio.to_thread(renewals.note_trouble, order, error.code, _now())
                raise
            except OAuthTrouble as error:
                await asyncio.to_thread(renewals.note_trouble, order, error.code, _now())
                raise

    @activity.defn
    async def revoke_sign_in(self, order: RevokeSignIn) -> AuthReceipt:
        """Ends a sign-in here, and before that, where asked, at the authorization server."""
        async with telling_apart():
            remote: str | None = None
            if order.remote:
                try:
                    remote = await self._exchange.revocation(order)
                except OAuthTrouble as error:
                    # A revocation ends here whatever the server answers; the receipt has its answer.
                    remote = error.code
            return _timed(await asyncio.to_thread(self._stores.changes.revoke, order, remote, _now()))

    @activity.defn
    @refusing
    def change_profile(self, order: ChangeProfile) -> AuthReceipt:
        """Changes what people chose of a sign-in."""
        return _timed(self._stores.changes.change(order, _now()))

    @activity.defn
    @refusing
    def forget_profile(self, order: ForgetProfile) -> AuthReceipt:
        """Removes a sign-in that no server uses."""
        return self._stores.changes.forget(order, _now())

    async def _opening(self, order: BeginSignIn) -> Opening:
        server_url, stored = await asyncio.to_thread(
            self._stores.profiles.of_server, order.server_id, order.owner_user_id
        )
        if stored.profile.auth_profile_id != order.auth_profile_id:
            raise Refusal(
                ErrorCode.CONFLICT,
                "The server was given another sign-in meanwhile; start again.",
                retryable=False,
            )
        if stored.profile.auth_mode not in SIGNED_IN_BY_A_PERSON:
            raise Refusal(
                ErrorCode.CONFLICT,
                f"A sign-in by {stored.profile.auth_mode.value} needs no browser; enter its secret instead.",
                retryable=False,
            )
        if not server_url:
            raise Refusal(
                ErrorCode.CONFLICT, "A server without an address has nothing to sign in to.", retryable=False
            )
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS), self._open_http() as http:
                server = await discover(http, server_url, allow_private=self._allow_private)
                wanted = scopes_to_ask(order.scopes, stored.profile, stored.connection, server)
                client, secret = await self._exchange.client_at(
                    http, server, stored, order.redirect_uri, wanted
                )
        except TimeoutError as error:
            raise ServerUnreachable("The sign-in's servers take too long to answer") from error
        except DiscoveryFailed as error:
            if error.code == REGISTRATION_REFUSED:
                # It may be for a scope that a tool server named and we do not know.
                await asyncio.to_thread(self._stores.sign_ins.forget_needed, order, _now())
            raise
        verifier, state = new_verifier(), new_state()
        authorization_url(
            server,
            client,
            redirect_uri=order.redirect_uri,
            state=state,
            challenge=challenge_of(verifier),
            scopes=wanted,
        )
        return Opening(
            server=server,
            client=client,
            client_secret=secret,
            scopes=wanted,
            state=state,
            state_digest=state_digest(state),
            verifier=verifier,
            expires_at=_now() + timedelta(seconds=order.lifetime_seconds),
        )

    async def _finished_before(self, order: FinishSignIn) -> AuthReceipt:
        """An attempt that was cut off may have done it all: then its code is gone and its token is there."""
        stored = await asyncio.to_thread(
            self._stores.profiles.get, order.auth_profile_id, order.owner_user_id
        )
        if stored.profile.token_ref is None:
            raise Refusal(ErrorCode.MCP_OAUTH_STATE_INVALID, STATE_INVALID)
        return _timed(stored.outcome(AuthOutcome.CURRENT))


def _said(order: FinishSignIn, flow: SignInFlow) -> str:
    """The error code of a sign-in that brought no code: a wrong issuer first, as its own error is not to be trusted."""
    try:
        check_issuer(flow.server, order.iss)
    except IssuerMismatch as error:
        return error.code
    return order.error or "no_code"


async def _to_the_end(work: Awaitable[Result]) -> Result:
    """Sees ``work`` through even where the activity is cancelled: a token that was given must be kept."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _last_attempt() -> bool:
    return activity.info().attempt >= ATTEMPTS_OF_A_PERSON


def _timed(receipt: AuthReceipt) -> AuthReceipt:
    if receipt.refresh_at is None:
        return receipt
    left = (receipt.refresh_at - _now()).total_seconds()
    return receipt.changed(renew_in_seconds=max(left, 0.0))


def _now() -> datetime:
    return datetime.now(UTC)
