"""Orders to auth profile workflows, and the start and end of an OAuth sign-in."""

from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit
from uuid import UUID, uuid5

import anyio.to_thread
from pydantic import BaseModel
from uuid_utils import uuid7

from api.platform.commands import CommandFrame
from api.services import Services
from clients.mcp.oauth_tokens import authorization_url, challenge_of
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile, MCPAuthStartRequest, MCPAuthStartResponse, MCPServerAuthStatus
from contracts.mcp.auth_work import AuthOrder, BeginSignIn, FinishSignIn, SignInFlow
from contracts.platform.commands import CommitKey
from domain.mcp.registration import origin_of
from gateways.mcp.auth_profiles import AuthProfileGateway
from stores.mcp.auth.flows import CALLBACK_EXPIRED
from stores.platform.secrets.key_places import SecretNotFound

Order = TypeVar("Order", bound=AuthOrder)

_CHALLENGES = UUID("7d0f5a1e-6c43-4c0e-8f5b-0a6a8c2f9be1")
"""The namespace of the ids of sign-ins that were begun with a key."""

BROWSER = "browser"
"""Actor of a callback, which has no access token."""


def gateway_of(services: Services) -> AuthProfileGateway:
    """Gateway to the workflows of auth profiles."""
    return AuthProfileGateway(services.client, services.settings.task_queue, services.mcp.auth_profiles)


def order_of(
    frame: CommandFrame, kind: type[Order], body: BaseModel | None, auth_profile_id: str, /, **fields: Any
) -> Order:
    """An order of the caller about one of their sign-ins."""
    return frame.message(
        kind, body, auth_profile_id=auth_profile_id, owner_user_id=frame.owner, actor=frame.owner, **fields
    )


async def status_of(services: Services, server_id: str, owner: str) -> MCPServerAuthStatus:
    """How a server's sign-in stands now."""
    read = partial(services.mcp.auth_profiles.status, server_id, owner, datetime.now(UTC))
    return await anyio.to_thread.run_sync(read)


def callback_address(services: Services, server_id: str, profile: MCPAuthProfile) -> str:
    """The redirect URI of the sign-in, which has to be this service or this machine.

    Raises:
        Refusal: ``VALIDATION_FAILED``, for a code that went elsewhere would be in other hands.
    """
    if profile.redirect_uri is not None:
        way_back = str(profile.redirect_uri)
        if origin_of(way_back) != origin_of(services.settings.api_url) and not _on_this_machine(way_back):
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                f"The redirect_uri of this sign-in does not lead back to {services.settings.api_url}; correct "
                "it, leave it out, or set APPRENTICE_PUBLIC_URL to where people reach this service.",
                fields=["redirect_uri"],
            )
        return way_back
    return f"{services.settings.api_url}/api/mcp/servers/{quote(server_id, safe='')}/auth/callback"


def _on_this_machine(address: str) -> bool:
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


async def begin(server_id: str, body: MCPAuthStartRequest, frame: CommandFrame) -> str:
    """Begins a sign-in; its challenge, which is the same for the same key.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_AUTH_PROFILE_NOT_FOUND``, ``MCP_OAUTH_DISCOVERY_FAILED``, and
            what the gateway refuses.
    """
    services, key = frame.services, frame.key_for(body)
    read = partial(services.mcp.auth_profiles.of_server, server_id, frame.owner)
    _, stored = await anyio.to_thread.run_sync(read)
    order = BeginSignIn(
        commit_key=key,
        correlation_id=frame.correlation_id,
        auth_profile_id=stored.profile.auth_profile_id,
        owner_user_id=frame.owner,
        actor=frame.owner,
        server_id=server_id,
        challenge_id=str(uuid5(_CHALLENGES, f"{frame.owner} {key.key}")),
        redirect_uri=callback_address(services, server_id, stored.profile),
        scopes=body.requested_scopes_override,
        lifetime_seconds=int(services.settings.oauth_state_lifetime.total_seconds()),
    )
    await gateway_of(services).send(order)
    return order.challenge_id


async def begun(services: Services, challenge_id: str, owner: str) -> MCPAuthStartResponse:
    """Where the person goes. The address is put together here: no log and no history has its state.

    Raises:
        Refusal: ``MCP_OAUTH_CALLBACK_EXPIRED`` when the sign-in is over.
    """
    return await anyio.to_thread.run_sync(_begun, services, challenge_id, owner)


def _begun(services: Services, challenge_id: str, owner: str) -> MCPAuthStartResponse:
    flow = services.mcp.sign_ins.flow(challenge_id, owner)
    try:
        if flow is None:
            raise SecretNotFound(challenge_id)
        state = services.mcp.secrets.reveal(flow.oauth_state_ref, owner).value
        verifier = services.mcp.secrets.reveal(flow.pkce_verifier_ref, owner).value
    except SecretNotFound:
        raise Refusal(ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED, CALLBACK_EXPIRED) from None
    url = authorization_url(
        flow.server,
        flow.client,
        redirect_uri=flow.redirect_uri,
        state=state,
        challenge=challenge_of(verifier),
        scopes=flow.scopes,
    )
    return MCPAuthStartResponse.model_validate(
        {
            "server_id": flow.server_id,
            "auth_url": url,
            "challenge_id": flow.challenge_id,
            "correlation_id": _as_uuid(flow.correlation_id),
            "expires_at": flow.expires_at,
        }
    )


async def finish(
    services: Services,
    flow: SignInFlow,
    correlation_id: str,
    *,
    code_ref: str | None,
    iss: str | None,
    error: str | None,
) -> MCPServerAuthStatus:
    """Takes what the browser brought back.

    Raises:
        Refusal: ``MCP_OAUTH_STATE_INVALID``, ``MCP_OAUTH_TOKEN_EXCHANGE_FAILED``, and what the gateway refuses.
    """
    owner = flow.owner_user_id
    # Of its own each time: a state is used once, even by two who bring it at the same moment.
    key = CommitKey(owner_user_id=owner, key=f"callback-{uuid7()}", request_digest="0" * 64)
    order = FinishSignIn(
        commit_key=key,
        correlation_id=correlation_id,
        auth_profile_id=flow.auth_profile_id,
        owner_user_id=owner,
        actor=BROWSER,
        challenge_id=flow.challenge_id,
        code_ref=code_ref,
        iss=iss,
        error=error,
    )
    await gateway_of(services).send(order)
    return await status_of(services, flow.server_id, owner)


def _as_uuid(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None
