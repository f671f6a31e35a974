"""HTML pages of the OAuth callback: consent, then the result of the sign-in.

Pages are self-contained: no script, image or link, so nothing is loaded and nothing leaks to another site.

Consent prevents login fixation: the address of a sign-in can be sent to another person, who would connect their own
account to the sender's. The consent token is derived from the PKCE verifier, which never leaves the service, so only
the page itself can submit it.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from functools import partial
from html import escape

import anyio.to_thread

from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthCallbackQuery, MCPServerAuthStatus
from contracts.mcp.auth_work import SignInFlow
from contracts.mcp.provider import MCPAuthState
from stores.mcp.auth.flows import CALLBACK_EXPIRED
from stores.platform.canonical import digest_of
from stores.platform.secrets.key_places import SecretNotFound

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --soft: #56607a; --ground: #f6f7fb; --card: #ffffff;
  --edge: #dfe3ee; --mark: #1f7a4d; }
.refused { --mark: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9ecf5; --soft: #a3acc2; --ground: #11141c; --card: #1a1f2b; --edge: #2d3445; --mark: #5fcf95; }
  .refused { --mark: #ff8a80; }
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 30rem; margin: 1.5rem; padding: 2rem; background: var(--card); border: 1px solid var(--edge);
  border-top: 4px solid var(--mark); border-radius: 10px; overflow-wrap: anywhere; }
h1 { margin: 0 0 .6rem; font-size: 1.3rem; line-height: 1.3; }
p { margin: .5rem 0 0; }
.next { color: var(--soft); }
button { margin-top: 1.2rem; padding: .55rem 1.2rem; font: inherit; font-weight: 600; border: 0; border-radius: 6px;
  background: var(--mark); color: var(--card); cursor: pointer; }
button:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
code { font: .92em ui-monospace, monospace; }
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def _headers(form_action: str) -> dict[str, str]:
    return {
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "content-security-policy": (
            f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action {form_action}; "
            "frame-ancestors 'none'"
        ),
    }


HEADERS = _headers("'none'")
"""Sent with the page, and with its answer as JSON: the address that led here holds a code and a state."""

ASKING_HEADERS = _headers("'self'")
"""Sent with the page that asks: it comes back to this service and goes nowhere else."""


def asking_page(owner: str, server_name: str, fields: Mapping[str, str]) -> str:
    """Asks the person at the browser whether what they have signed in to is to be ``owner``'s.

    ``fields`` are what the browser sends when they agree.
    """
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in fields.items()
    )
    return _page(
        f"Connect {server_name}?",
        f"What you have just signed in to will be used by {owner} at this Apprentice, and by the agents of {owner}.",
        "If that is not you, or if somebody sent you here, close this window: nothing is connected.",
        ok=True,
        form=f'<form method="get">{hidden}<button>Connect it to {escape(owner)}</button></form>',
    )


def signed_in_page(status: MCPServerAuthStatus) -> str:
    """What became of a sign-in."""
    whole = status.auth_state is MCPAuthState.HEALTHY and status.last_auth_error_code is None
    if whole and not status.scopes_missing:
        return _page("Signed in", "The sign-in is kept and renewed as its policy says.", _CLOSE, ok=True)
    if whole:
        missing = ", ".join(status.scopes_missing)
        return _page("Signed in, but not for everything", f"Not granted: {missing}.", status.next_action)
    said = status.last_auth_error_code or status.auth_state.value
    return _page("Not signed in", f"The sign-in page answered: {said}.", status.next_action)


def refused_page(message: str) -> str:
    """Why a sign-in could not be taken."""
    return _page("Not signed in", message, "Close this window and start the sign-in again.")


_CLOSE = "You can close this window and go on where you were."


def _page(title: str, text: str, then: str | None, *, ok: bool = False, form: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"{"" if ok else _REFUSED}><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} - Apprentice</title><style>{_STYLE}</style></head><body><main>"
        f'<h1>{escape(title)}</h1><p>{escape(text)}</p><p class="next">{_marked(then or _CLOSE)}</p>'
        f"{form}</main></body></html>"
    )


_REFUSED = ' class="refused"'


def _marked(text: str) -> str:
    """Text whose commands, between backticks, are set as such."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


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
