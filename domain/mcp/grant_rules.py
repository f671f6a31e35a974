"""Standing approvals: what one may cover, until when, and which calls it lets pass (ADR 15; DOC3 L2443-2450)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.dispatch import AskFirstDecision, GrantScope, MCPGrant

SESSION_GRANT_LASTS = timedelta(hours=12)
"""The longest that an approval for a session holds."""

NEVER_FOR_A_SESSION = frozenset({ToolEffect.DELETE, ToolEffect.SEND})
"""What cannot be taken back is approved each time, or for one turn; a decision of policy may allow it for good."""


def scope_of(decision: AskFirstDecision) -> GrantScope | None:
    """How far an approval is to reach beyond its own call; none where it does not."""
    return {
        AskFirstDecision.APPROVE_UNTIL_END_OF_TURN: GrantScope.END_OF_TURN,
        AskFirstDecision.APPROVE_FOR_SESSION: GrantScope.SESSION,
    }.get(decision)


def may_be_granted(effect: ToolEffect, scope: GrantScope) -> bool:
    """Whether a call of this kind may be approved beyond itself this far."""
    return scope is GrantScope.END_OF_TURN or effect not in NEVER_FOR_A_SESSION


def grant_expiry(scope: GrantScope, now: datetime, ask_first_expiry: timedelta) -> datetime:
    """When a standing approval ends at the latest: a turn's after the ask-first expiry, a session's after 12 h."""
    return now + (ask_first_expiry if scope is GrantScope.END_OF_TURN else SESSION_GRANT_LASTS)


def covering(
    grants: Iterable[MCPGrant],
    *,
    owner: str,
    server_id: str,
    tool_name: str,
    effect: ToolEffect,
    definition_hash: str | None,
    turn_ref: str | None,
    session_ref: str | None,
    token_id: str | None,
    runtime: str | None,
    now: datetime,
) -> MCPGrant | None:
    """The grant that lets such a call pass: the one that lasts longest, of equal ones the first by its id.

    Turns and sessions are named by whoever calls, so a grant is for the token and the runtime whose call was
    approved, whatever another one names.
    """
    refs = {GrantScope.END_OF_TURN: turn_ref, GrantScope.SESSION: session_ref}
    fitting = [
        grant
        for grant in grants
        if (grant.owner_user_id, grant.server_id, grant.tool_name) == (owner, server_id, tool_name)
        and grant.tool_definition_hash == definition_hash
        and grant.scope_ref == refs[grant.scope]
        and (grant.token_id, grant.runtime) == (token_id, runtime)
        and grant.revoked_at is None
        and grant.expires_at > now
        and may_be_granted(effect, grant.scope)
    ]
    return min(fitting, key=lambda grant: (-grant.expires_at.timestamp(), grant.grant_id), default=None)
