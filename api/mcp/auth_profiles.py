"""Auth profiles, which servers share: create, change, enter a secret, delete (DOC3 §0.2D)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated
from uuid import UUID, uuid5

import anyio.to_thread
from fastapi import APIRouter, Depends, Request
from uuid_utils import uuid7

from api.mcp.sign_ins import gateway_of, order_of
from api.platform.commands import InstallerFrame
from api.platform.dependencies import AuthProfileId, Installer, Reader, ServicesDep, correlation_id_of
from api.platform.lists import ListOf, ListRequest
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import (
    MCPAuthProfile,
    MCPAuthProfileCreateRequest,
    MCPAuthProfileDeleteResponse,
    MCPAuthProfileListResponse,
    MCPAuthProfilePatchRequest,
    MCPAuthProfileSecretRequest,
)
from contracts.mcp.auth_work import ChangeProfile, ForgetProfile
from contracts.mcp.provider import MCPAuthMode
from stores.mcp.auth.profile_changes import deleted_answer, refuse_in_use

router = APIRouter(prefix="/api/mcp/auth-profiles", tags=["mcp sign-in"])

_PROFILES = ListOf(
    "auth_profiles",
    MCPAuthProfile,
    "auth_profile_id provider auth_mode status client_id tenant_id expires_at created_at",
    filters="provider auth_mode status",
)

_PROFILE_IDS = UUID("c2a2f7f4-9f0a-4e55-9a43-6d0f2b7c8e11")
"""The namespace of the ids of sign-ins that were asked for with a key."""


@router.get("", operation_id="mcp_auth_profile_list")
def list_profiles(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_PROFILES.wanted)]
) -> MCPAuthProfileListResponse:
    """The caller's sign-ins, newest first; secrets by reference only."""
    return _PROFILES.listed(services.mcp.auth_profiles.list_for(caller.user_id), wanted)


@router.post("", operation_id="mcp_auth_profile_create", status_code=201)
async def create(body: MCPAuthProfileCreateRequest, frame: InstallerFrame) -> MCPAuthProfile:
    """A new sign-in. A secret is entered apart, and a person signs in by a server that uses it."""
    if body.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS and body.client_id is None:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "Client credentials are those of a client that you made at the provider; name its client_id.",
            fields=["body.client_id"],
        )
    now = datetime.now(UTC)
    key = frame.client_key(body)
    profile = MCPAuthProfile(
        # The same request again makes the same sign-in, should its answer have been lost.
        auth_profile_id=str(uuid5(_PROFILE_IDS, f"{frame.owner} {key.key}") if key else uuid7()),
        provider=body.provider,
        auth_mode=body.auth_mode,
        scopes=body.scopes,
        tenant_id=body.tenant_id,
        client_id=body.client_id,
        redirect_uri=body.redirect_uri,
        token_subject_kind=body.token_subject_kind,
        refresh_policy=body.refresh_policy,
        shared_profile=body.shared_profile,
        created_at=now,
        updated_at=now,
    )

    made = partial(frame.services.mcp.auth_changes.create, profile, frame.owner, frame.correlation_id)
    return await frame.write_once(body, made, MCPAuthProfile)


@router.patch("/{auth_profile_id}", operation_id="mcp_auth_profile_patch")
async def patch(
    auth_profile_id: AuthProfileId, body: MCPAuthProfilePatchRequest, frame: InstallerFrame
) -> MCPAuthProfile:
    """Changes what is named. Another policy holds at once; scopes and way back with the next sign-in."""
    owner = frame.owner
    own_way_back = "redirect_uri" in body.model_fields_set and body.redirect_uri is None

    async def act() -> MCPAuthProfile:
        order = order_of(frame, ChangeProfile, body, auth_profile_id, patch=body, own_way_back=own_way_back)
        await gateway_of(frame.services).send(order)
        stored = await anyio.to_thread.run_sync(frame.services.mcp.auth_profiles.get, auth_profile_id, owner)
        return stored.profile

    return await frame.answer_once(body, act, MCPAuthProfile)


@router.delete("/{auth_profile_id}", operation_id="mcp_auth_profile_delete")
async def delete(auth_profile_id: AuthProfileId, frame: InstallerFrame) -> MCPAuthProfileDeleteResponse:
    """Deletes the sign-in with its secrets; refused while a server uses it."""
    owner = frame.owner

    async def act() -> MCPAuthProfileDeleteResponse:
        profiles = frame.services.mcp.auth_profiles

        def refuse_hopeless() -> None:
            """Without opening a workflow for what it would refuse; it looks again, in the deleting transaction."""
            profiles.get(auth_profile_id, owner)
            refuse_in_use(profiles.used_by(auth_profile_id))

        order = order_of(frame, ForgetProfile, None, auth_profile_id)
        receipt = await gateway_of(frame.services).send(order, refuse_hopeless)
        return deleted_answer(auth_profile_id, receipt)

    return await frame.answer_once(None, act, MCPAuthProfileDeleteResponse)


@router.put("/{auth_profile_id}/secret", operation_id="mcp_auth_profile_secret")
async def enter_secret(
    auth_profile_id: AuthProfileId,
    body: MCPAuthProfileSecretRequest,
    caller: Installer,
    services: ServicesDep,
    request: Request,
) -> MCPAuthProfile:
    """Enters the API key or client secret, in the place of the one before; it is never shown again."""
    read = partial(services.mcp.auth_profiles.get, auth_profile_id, caller.user_id)
    stored = await anyio.to_thread.run_sync(read)
    if stored.profile.auth_mode is MCPAuthMode.NONE:
        raise Refusal(ErrorCode.CONFLICT, "A sign-in of mode none has no secret.", retryable=False)
    take = partial(
        services.mcp.auth_changes.take_secret,
        auth_profile_id,
        caller.user_id,
        body.secret,
        datetime.now(UTC),
        correlation_id_of(request),
    )
    return await anyio.to_thread.run_sync(take)
