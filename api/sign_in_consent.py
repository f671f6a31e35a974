"""Whether the person at a browser has agreed whose their sign-in will be.

The address of a sign-in can be sent to somebody else, who would sign in with an account of their own and thereby hand
it over. So the way back asks first. The answer carries what only the page that asked can know: it is made of the
sign-in's verifier, which never leaves the service, so that neither the address nor what leads to it can answer.
"""

import hmac
from functools import partial

import anyio.to_thread

from api.services import Services
from api.sign_in_page import asking_page
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_flow import MCPAuthCallbackQuery
from contracts.mcp.auth_work import SignInFlow
from stores.canonical import digest_of
from stores.mcp.auth_flows import CALLBACK_EXPIRED
from stores.secret_problems import SecretNotFound


async def question(
    services: Services, flow: SignInFlow, query: MCPAuthCallbackQuery, agreed: str | None
) -> str | None:
    """The page that asks; ``None`` where the person has agreed, and where there is nothing to agree to.

    Raises:
        Refusal: ``MCP_OAUTH_CALLBACK_EXPIRED`` when the sign-in is over, ``MCP_SERVER_NOT_FOUND``.
    """
    if query.code is None or query.error is not None:
        return None
    agreement = await anyio.to_thread.run_sync(_agreement, services, flow)
    if hmac.compare_digest(agreement.encode(), (agreed or "").encode()):
        return None
    find = partial(services.mcp.servers.owned, flow.server_id, flow.owner_user_id)
    server = await anyio.to_thread.run_sync(find)
    brought = query.model_dump(mode="json", exclude_none=True, exclude={"schema_version"})
    return asking_page(flow.owner_user_id, server.display_name, {**brought, "agreed": agreement})


def _agreement(services: Services, flow: SignInFlow) -> str:
    try:
        verifier = services.mcp.secrets.reveal(flow.pkce_verifier_ref, flow.owner_user_id).value
    except SecretNotFound:
        raise Refusal(ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED, CALLBACK_EXPIRED) from None
    return digest_of(f"agreed to {flow.challenge_id} with {verifier}")
