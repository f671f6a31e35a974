"""Which delegated scopes each Microsoft 365 operation needs: the matrix of DOC3 §0.2E, as data."""

from collections.abc import Iterable

from contracts.mcp.m365_family import M365OperationFamily as F
from contracts.mcp.m365_family import M365ScopeRule, M365TeamsTarget
from contracts.mcp.m365_requests import (
    M365EntityFilter,
    M365OperationRequest,
    M365SearchRequest,
    M365TeamsGetChannelContextRequest,
    M365TeamsPostMessageRequest,
)


def _rule(
    family: F,
    minimum: str,
    optional: str = "",
    *,
    admin: bool = False,
    delegated_only: bool = False,
    target: M365TeamsTarget | None = None,
) -> M365ScopeRule:
    return M365ScopeRule(
        operation_family=family,
        target_kind=target,
        minimum_delegated_scopes=tuple(minimum.split()),
        optional_delegated_scopes=tuple(optional.split()),
        admin_consent_likely=admin,
        delegated_only=delegated_only,
    )


_TEAMS = "Team.ReadBasic.All Channel.ReadBasic.All"

SCOPE_MATRIX: tuple[M365ScopeRule, ...] = (
    _rule(F.SEARCH, "User.Read Files.Read.All Sites.Read.All", "Mail.Read", admin=True),
    _rule(F.SHAREPOINT_LIST_DOCUMENTS, "Sites.Read.All Files.Read.All", admin=True),
    _rule(F.ONEDRIVE_FETCH_FILE, "Files.Read.All", "Files.Read"),
    _rule(F.PROJECT_GET_LATEST_DOCUMENT, "Sites.Read.All Files.Read.All", "User.Read", admin=True),
    _rule(F.OUTLOOK_MAIL_SEARCH, "Mail.Read"),
    _rule(F.OUTLOOK_GET_THREAD, "Mail.Read"),
    _rule(F.OUTLOOK_DRAFT_REPLY, "Mail.ReadWrite", "Mail.Send"),
    _rule(F.CALENDAR_CHECK_AVAILABILITY, "Calendars.Read"),
    _rule(F.CALENDAR_CREATE_EVENT, "Calendars.ReadWrite", "OnlineMeetings.ReadWrite"),
    _rule(F.CALENDAR_UPDATE_EVENT, "Calendars.ReadWrite", "OnlineMeetings.ReadWrite"),
    _rule(F.WORD_FETCH_CONTENT, "Files.Read.All Sites.Read.All", admin=True),
    _rule(F.WORD_FETCH_COMMENTS, "Files.Read.All Sites.Read.All", admin=True),
    _rule(
        F.TEAMS_POST_MESSAGE,
        "ChannelMessage.Send",
        _TEAMS,
        delegated_only=True,
        target=M365TeamsTarget.CHANNEL,
    ),
    _rule(
        F.TEAMS_POST_MESSAGE,
        "Chat.ReadWrite",
        f"{_TEAMS} ChatMessage.Send",
        admin=True,
        delegated_only=True,
        target=M365TeamsTarget.CHAT,
    ),
    _rule(F.TEAMS_GET_CHANNEL_CONTEXT, _TEAMS, "ChannelMessage.Read.All", admin=True),
)
"""A row a family; posting to Teams has one for a channel and one for a chat."""

DELEGATED_ONLY = frozenset(rule.operation_family for rule in SCOPE_MATRIX if rule.delegated_only)


def rules_of(families: Iterable[F]) -> tuple[M365ScopeRule, ...]:
    """The rows of these families, in the matrix' order."""
    wanted = frozenset(families)
    return tuple(rule for rule in SCOPE_MATRIX if rule.operation_family in wanted)


def rule_for(request: M365OperationRequest) -> M365ScopeRule:
    """The one row that an operation falls under, by its target where that matters."""
    target = request.target_kind if isinstance(request, M365TeamsPostMessageRequest) else None
    (rule,) = (one for one in rules_of((request.operation_family,)) if one.target_kind is target)
    return rule


def scopes_for(request: M365OperationRequest) -> tuple[str, ...]:
    """The scopes that this operation needs: the row's minimum, and what the request itself makes necessary."""
    needed = rule_for(request).minimum_delegated_scopes
    if isinstance(request, M365SearchRequest) and M365EntityFilter.MAIL in request.entity_filters:
        return (*needed, "Mail.Read")
    if isinstance(request, M365TeamsGetChannelContextRequest) and request.include_recent_messages:
        return (*needed, "ChannelMessage.Read.All")
    return needed
