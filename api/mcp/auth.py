"""OAuth sign-in of a tool server: status, start, callback, refresh, revoke, challenge (DOC3 §0.2D)."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from api.mcp.sign_in_page import ASKING_HEADERS, HEADERS, question, refused_page, signed_in_page
from api.mcp.sign_ins import begin, begun, finish, gateway_of, order_of, status_of
from api.platform.commands import InstallerFrame
from api.platform.dependencies import Reader, ServerId, ServicesDep, correlation_id_of
from api.platform.errors import error_response
from api.services import Services
from clients.mcp.oauth_tokens import state_digest
from contracts.base import Contract, Text160, Uuid
from contracts.errors import ERROR_RULES, ErrorCode, Refusal
from contracts.mcp.auth import (
    MCPAuthCallbackQuery,
    MCPAuthChallengeRespondRequest,
    MCPAuthChallengeRespondResponse,
    MCPAuthRefreshRequest,
    MCPAuthRevokeRequest,
    MCPAuthRevokeResponse,
    MCPAuthStartRequest,
    MCPAuthStartResponse,
    MCPChallengeDecision,
    MCPChallengeResolution,
    MCPRevokeStatus,
    MCPServerAuthStatus,
)
from contracts.mcp.auth_work import RenewToken, RevokeSignIn, SignInFlow
from contracts.mcp.provider import MCPAuthState
from stores.mcp.auth.sign_ins import CODE

router = APIRouter(prefix="/api/mcp", tags=["mcp sign-in"])

CODE_KEPT = timedelta(minutes=10)
"""How long a code waits for its exchange; authorization servers keep theirs no longer."""

_ERROR_CODE = re.compile(r"[A-Za-z0-9._-]{1,80}")


class _Begun(Contract):
    """What a key stands for: the sign-in, not the address with its state."""

    challenge_id: Uuid


@router.get("/servers/{server_id}/auth/status", operation_id="mcp_auth_status")
async def status(server_id: ServerId, caller: Reader, services: ServicesDep) -> MCPServerAuthStatus:
    """How the server's sign-in stands, what it may do, and what to do about it."""
    return await status_of(services, server_id, caller.user_id)


@router.post("/servers/{server_id}/auth/start", operation_id="mcp_auth_start")
async def start(
    server_id: ServerId, body: MCPAuthStartRequest, frame: InstallerFrame
) -> MCPAuthStartResponse:
    """Begins a sign-in: the answer has the address to open in a browser, good for one use and 10 minutes.

    The authorization server is found anew each time. One that does not promise PKCE with S256, or whose name is
    not exactly the one it is asked by, is refused.
    """
    await _refuse_other_server(frame.services, server_id, body.server_id, frame.owner)

    async def act() -> _Begun:
        return _Begun(challenge_id=await begin(server_id, body, frame))

    found = await frame.answer_once(body, act, _Begun)
    return await begun(frame.services, found.challenge_id, frame.owner)


@router.get(
    "/servers/{server_id}/auth/callback",
    operation_id="mcp_auth_callback",
    response_model=MCPServerAuthStatus,
    responses={
        200: {
            "content": {
                "text/html": {
                    "schema": {"type": "string"},
                    "example": '<!doctype html><html lang="en"><title>Signed in</title></html>',
                }
            },
            "description": "The page that a browser is shown; JSON for a client that accepts it.",
        }
    },
)
async def callback(
    server_id: ServerId,
    request: Request,
    services: ServicesDep,
    state: Annotated[
        str, Query(max_length=512, description="As the sign-in's start gave it out; single use.")
    ],
    code: Annotated[str | None, Query(max_length=4_000)] = None,
    error: Annotated[str | None, Query(max_length=160)] = None,
    error_description: Annotated[str | None, Query(max_length=2_000)] = None,
    session_state: Annotated[str | None, Query(max_length=512)] = None,
    iss: Annotated[str | None, Query(max_length=2_000, description="RFC 9207.")] = None,
    agreed: Annotated[
        str | None, Query(max_length=64, description="What the page that asks has the browser bring.")
    ] = None,
) -> Response:
    """OAuth redirect target, without an access token: the state identifies the sign-in.

    A browser first gets a page that asks for consent to connect the account to the user who began the sign-in. A
    client that accepts JSON did not follow a link in a browser, and gets the status at once. An error of the
    authorization server is stored and shown; unknown parameters are dropped.
    """
    query = MCPAuthCallbackQuery(
        state=state,
        code=code,
        error=error,
        error_description=error_description,
        session_state=session_state,
        iss=iss,
    )
    as_json = _accepts_json(request)
    try:
        flow = await _returned(services, server_id, query)
        asking = None if as_json else await question(services, flow, query, agreed)
        if asking is not None:
            return HTMLResponse(asking, headers=ASKING_HEADERS)
        code_ref = await _kept_code(services, flow, query)
        found = await finish(
            services,
            flow,
            correlation_id_of(request),
            code_ref=code_ref,
            iss=query.iss,
            error=_error_code(query),
        )
    except Refusal as refusal:
        if as_json:
            response: Response = error_response(request, refusal.code, refusal.message, **refusal.extra)
        else:
            page = refused_page(refusal.message)
            response = HTMLResponse(page, status_code=ERROR_RULES[refusal.code].status)
        response.headers.update(HEADERS)
        return response
    if found.auth_state is MCPAuthState.HEALTHY:
        # Some servers list their tools to signed-in clients only.
        await services.mcp.probes.probe_soon(server_id, flow.owner_user_id, correlation_id_of(request))
    if as_json:
        return JSONResponse(found.model_dump(mode="json"), headers=HEADERS)
    return HTMLResponse(signed_in_page(found), headers=HEADERS)


@router.post("/servers/{server_id}/auth/refresh", operation_id="mcp_auth_refresh")
async def refresh(
    server_id: ServerId, body: MCPAuthRefreshRequest, frame: InstallerFrame
) -> MCPServerAuthStatus:
    """Renews the token where it is due, or now with ``force``; a sign-in that is lost thereby reports it."""
    await _refuse_other_server(frame.services, server_id, body.server_id, frame.owner)
    owner = frame.owner

    async def act() -> MCPServerAuthStatus:
        read = partial(frame.services.mcp.auth_profiles.of_server, server_id, owner)
        _, stored = await anyio.to_thread.run_sync(read)
        profile_id = stored.profile.auth_profile_id
        order = order_of(frame, RenewToken, body, profile_id, server_id=server_id, force=body.force)
        await gateway_of(frame.services).send(order)
        return await status_of(frame.services, server_id, owner)

    return await frame.answer_once(body, act, MCPServerAuthStatus)


@router.post("/servers/{server_id}/auth/revoke", operation_id="mcp_auth_revoke")
async def revoke(
    server_id: ServerId, body: MCPAuthRevokeRequest, frame: InstallerFrame
) -> MCPAuthRevokeResponse:
    """Ends the sign-in here, and with ``revoke_remote`` at its authorization server too.

    With ``keep_auth_profile: false`` the sign-in is deleted, unless another server uses it.
    """
    await _refuse_other_server(frame.services, server_id, body.server_id, frame.owner)
    owner = frame.owner

    async def act() -> MCPAuthRevokeResponse:
        known = await status_of(frame.services, server_id, owner)
        if known.auth_profile_id is None:
            return MCPAuthRevokeResponse(server_id=server_id, revoked=False, status=MCPRevokeStatus.NOOP)
        order = order_of(
            frame,
            RevokeSignIn,
            body,
            known.auth_profile_id,
            server_id=server_id,
            remote=body.revoke_remote,
            keep_profile=body.keep_auth_profile,
        )
        receipt = await gateway_of(frame.services).send(order)
        done = receipt.revoke_status or MCPRevokeStatus.REVOKED
        return MCPAuthRevokeResponse(
            server_id=server_id,
            revoked=done is not MCPRevokeStatus.NOOP,
            status=done,
            remote_outcome=receipt.remote_outcome,
            next_action=_left_to_do(receipt.remote_outcome),
            receipt_id=receipt.receipt_id,
        )

    return await frame.answer_once(body, act, MCPAuthRevokeResponse)


@router.post("/auth/challenge/respond", operation_id="mcp_auth_challenge_respond")
async def respond(
    body: MCPAuthChallengeRespondRequest, frame: InstallerFrame
) -> MCPAuthChallengeRespondResponse:
    """Answers a sign-in that is under way: it is done, it is not wanted, or it is to begin anew.

    ``approve`` reports whether it succeeded; ``deny`` and ``retry`` end it and invalidate its address.
    """
    owner = frame.owner

    async def act() -> MCPAuthChallengeRespondResponse:
        flow = await anyio.to_thread.run_sync(frame.services.mcp.sign_ins.flow, body.challenge_id, owner)
        if flow is None:
            raise Refusal(ErrorCode.NOT_FOUND, "There is no sign-in of yours under way with that challenge.")
        resolution, receipt_id = await anyio.to_thread.run_sync(_resolved, frame.services, flow, body)
        found = await status_of(frame.services, flow.server_id, owner)
        if resolution is MCPChallengeResolution.APPROVED:
            resolved = found.auth_state is MCPAuthState.HEALTHY
        else:
            resolved = resolution is not MCPChallengeResolution.RETRIED
        return MCPAuthChallengeRespondResponse(
            challenge_id=body.challenge_id,
            server_id=flow.server_id,
            resolved=resolved,
            resolution=resolution,
            auth_status=found,
            receipt_id=receipt_id,
        )

    return await frame.answer_once(body, act, MCPAuthChallengeRespondResponse)


def _resolved(
    services: Services, flow: SignInFlow, body: MCPAuthChallengeRespondRequest
) -> tuple[MCPChallengeResolution, str | None]:
    now = datetime.now(UTC)
    if body.decision is not MCPChallengeDecision.APPROVE:
        denied = body.decision is MCPChallengeDecision.DENY
        code: Text160 = "denied_by_person" if denied else "begun_anew"
        receipt_id = services.mcp.sign_ins.deny(flow.challenge_id, flow.owner_user_id, code, now)
        ended = MCPChallengeResolution.DENIED if denied else MCPChallengeResolution.RETRIED
        return ended, receipt_id
    if flow.claimed_by is None and flow.expires_at <= now:
        return MCPChallengeResolution.EXPIRED, None
    return MCPChallengeResolution.APPROVED, None


async def _returned(services: Services, server_id: str, query: MCPAuthCallbackQuery) -> SignInFlow:
    digest = state_digest(query.state)
    read = partial(services.mcp.sign_ins.returned, digest, server_id, datetime.now(UTC))
    return await anyio.to_thread.run_sync(read)


async def _kept_code(services: Services, flow: SignInFlow, query: MCPAuthCallbackQuery) -> str | None:
    """The code's reference; what travels further is only that."""
    if not query.code or query.error:
        return None
    keep = partial(
        services.mcp.secrets.put,
        flow.owner_user_id,
        CODE,
        query.code,
        expires_at=datetime.now(UTC) + CODE_KEPT,
    )
    return await anyio.to_thread.run_sync(keep)


def _error_code(query: MCPAuthCallbackQuery) -> str | None:
    if not query.error:
        return None
    return query.error if _ERROR_CODE.fullmatch(query.error) else "provider_error"


def _accepts_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


async def _refuse_other_server(services: Services, server_id: str, named: str, owner: str) -> None:
    await anyio.to_thread.run_sync(services.mcp.servers.owned, server_id, owner)
    if named != server_id:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "The body names another server than the address.",
            fields=["body.server_id"],
        )


def _left_to_do(remote_outcome: str | None) -> str | None:
    """What a person has to do where a token was dropped here and may hold on at the authorization server."""
    if remote_outcome in (None, "revoked"):
        return None
    return (
        "It is ended here. The authorization server did not end it: its token may hold until it runs out. "
        "End this application's access in the account there."
    )
