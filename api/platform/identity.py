"""The authenticated caller, and access tokens: list, create, revoke (routes.md)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path

from api.platform.dependencies import ServicesDep, authenticated, parse_uuid
from api.platform.lists import ListOf, ListRequest
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import DeletedResponse
from contracts.platform.identity import (
    AccessToken,
    CreateTokenRequest,
    CreateTokenResponse,
    MeResponse,
    Principal,
    Scope,
    TokenListResponse,
)
from domain.mcp.policy_facts import runtime_of

router = APIRouter(prefix="/api", tags=["identity"])

_TOKENS = ListOf(
    "tokens", AccessToken, "name user_id runtime created_at revoked_at", filters="user_id runtime"
)

Caller = Annotated[Principal, Depends(authenticated)]


def _token_id(token_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(token_id, ErrorCode.NOT_FOUND, "access token", "GET /api/tokens")


@router.get("/me", operation_id="me")
def me(caller: Caller) -> MeResponse:
    """The caller, and what its token allows."""
    scopes = tuple(scope for scope in Scope if scope in caller.scopes)
    return MeResponse(user_id=caller.user_id, token_id=caller.token_id, scopes=scopes, runtime=caller.runtime)


@router.get("/tokens", operation_id="tokens_list")
def list_tokens(
    caller: Caller, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_TOKENS.wanted)]
) -> TokenListResponse:
    """The caller's token and what was made with it, newest first; everybody's for an admin.

    Secrets are never shown again.
    """
    return _TOKENS.listed(TokenListResponse(tokens=services.tokens.list_for(_reach(caller))), wanted)


@router.post("/tokens", operation_id="token_create", status_code=201)
def create_token(body: CreateTokenRequest, caller: Caller, services: ServicesDep) -> CreateTokenResponse:
    """Makes a token. Its secret is in this answer only, so a repeated request makes another token.

    A caller can grant only scopes that it has, and only an admin can create a token for another user. A
    token that is bound to an agent runtime makes tokens of that runtime only. The new token goes with the one
    that made it.
    """
    user_id, runtime = body.user_id or caller.user_id, runtime_of(caller, body.runtime)
    if Scope.ADMIN not in caller.scopes:
        if user_id != caller.user_id:
            raise Refusal(ErrorCode.FORBIDDEN, "Only an admin may make a token for somebody else.")
        excess = sorted(set(body.scopes) - caller.scopes)
        if excess:
            raise Refusal(
                ErrorCode.FORBIDDEN,
                f"Your own token lacks {', '.join(excess)}; ask an admin for a token with more rights.",
                required_scope=excess[0].value,
            )
    token, secret = services.tokens.create(
        body.name,
        user_id,
        body.scopes,
        datetime.now(UTC),
        by=caller.user_id,
        runtime=runtime,
        made_by=caller.token_id,
    )
    return CreateTokenResponse(token=token, secret=secret)


@router.delete("/tokens/{token_id}", operation_id="token_revoke")
def revoke_token(
    token_id: Annotated[str, Depends(_token_id)], caller: Caller, services: ServicesDep
) -> DeletedResponse:
    """Revokes the caller's token or one made with it, or any token for an admin; what was made with it goes too."""
    services.tokens.revoke(token_id, caller.user_id, within=_reach(caller))
    return DeletedResponse()


def _reach(caller: Principal) -> str | None:
    """The token with whose family the caller's rights over tokens end; ``None`` for all tokens."""
    return None if Scope.ADMIN in caller.scopes else caller.token_id
