"""Registration checks of Microsoft 365 connectors, and the delegated scopes of each operation.

DOC3 §0.2E rules, pseudocode and scope matrix; tie-break §3 item 24.
"""

from collections.abc import Iterable

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.m365 import M365ConnectorRegistration
from contracts.mcp.m365_operations import (
    M365EntityFilter,
    M365OperationFamily,
    M365OperationRequest,
    M365ScopeRule,
    M365SearchRequest,
    M365TeamsGetChannelContextRequest,
    M365TeamsPostMessageRequest,
    M365TeamsTarget,
)
from contracts.mcp.m365_operations import M365OperationFamily as F
from contracts.mcp.provider import MCPAuthMode, MCPInteractionMode, MCPProvider
from contracts.mcp.servers import MCPServerRegistryEntry

NEVER = frozenset({MCPAuthMode.API_KEY, MCPAuthMode.NONE})
"""Microsoft 365 takes neither."""

_SAID = {
    ErrorCode.M365_FORBIDDEN_AUTH_MODE: "A Microsoft 365 connector cannot sign in this way; use oauth2_delegated, "
    "or client credentials for a background service that is allowed its own operations.",
    ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED: "A connector that people sign in to needs m365.redirect_uri.",
    ErrorCode.M365_OBO_CHAIN_UNVERIFIED: "On-behalf-of needs a verified chain: m365.verified_obo_chain.",
    ErrorCode.M365_DELEGATED_ONLY_OPERATION: "A background service cannot do this; it needs a person signed in",
    ErrorCode.M365_SCOPE_MISSING: "The declared operations need scopes that are not requested",
}


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


def registration_errors(
    registration: M365ConnectorRegistration,
    profile: MCPAuthProfile,
    matrix: tuple[M365ScopeRule, ...] = SCOPE_MATRIX,
) -> list[str]:
    """Everything that is wrong, each as its code, with what it is about behind a colon; empty when all is well."""
    families = registration.operation_families
    errors = mode_errors(registration, profile.auth_mode)
    if registration.interaction_mode is MCPInteractionMode.BACKGROUND_SERVICE:
        delegated_only = {rule.operation_family for rule in matrix if rule.delegated_only}
        errors += [
            f"{ErrorCode.M365_DELEGATED_ONLY_OPERATION.value}:{family.value}"
            for family in families
            if family in delegated_only
        ]
    known = {*registration.requested_scopes, *profile.scopes}
    errors += [f"{ErrorCode.M365_SCOPE_MISSING.value}:{scope}" for scope in _missing(families, known, matrix)]
    return errors


def mode_errors(registration: M365ConnectorRegistration, mode: MCPAuthMode) -> list[str]:
    """What is wrong with how the connector signs in."""
    interactive = registration.interaction_mode is MCPInteractionMode.INTERACTIVE_USER
    alone = mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS
    errors: list[str] = []
    if mode in NEVER or (alone and (interactive or not registration.allow_background_service_ops)):
        errors.append(ErrorCode.M365_FORBIDDEN_AUTH_MODE.value)
    if interactive and registration.redirect_uri is None:
        errors.append(ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED.value)
    if mode is MCPAuthMode.OAUTH2_ON_BEHALF_OF and not registration.verified_obo_chain:
        errors.append(ErrorCode.M365_OBO_CHAIN_UNVERIFIED.value)
    return errors


def check_connector(entry: MCPServerRegistryEntry, profile: MCPAuthProfile | None) -> None:
    """Lets a server of Microsoft 365 pass that may be kept. Without ``m365`` it is a plain tool server, which
    has no typed operations and still has to sign in as Microsoft wants.

    Raises:
        Refusal: ``M365_FORBIDDEN_AUTH_MODE``, ``M365_INTERACTIVE_REDIRECT_URI_REQUIRED``,
            ``M365_OBO_CHAIN_UNVERIFIED``, ``M365_DELEGATED_ONLY_OPERATION``, ``M365_SCOPE_MISSING``, with all
            ``errors``; ``VALIDATION_FAILED`` where a field is missing.
    """
    if profile is not None:
        check_profile_mode(profile.provider, profile.auth_mode)
    options = entry.m365
    if options is None:
        # A service that works alone is allowed by a field of ``m365``, so nothing allows it here.
        alone = profile is not None and profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS
        if alone and entry.provider is MCPProvider.M365:
            raise _refused([ErrorCode.M365_FORBIDDEN_AUTH_MODE.value])
        return
    if profile is None:
        raise _needs("auth_profile_id", "A Microsoft 365 connector needs a sign-in; make one first.")
    if profile.client_id is None:
        raise _needs("auth_profile_id", "Its sign-in needs the client_id of an app registration.")
    registration = M365ConnectorRegistration(
        **options.model_dump(exclude={"tool_names", "redirect_uri"}),
        redirect_uri=options.redirect_uri or profile.redirect_uri,
        server_id=entry.server_id,
        display_name=entry.display_name,
        interaction_mode=entry.interaction_mode,
        auth_profile_id=profile.auth_profile_id,
        tenant_id=profile.tenant_id,
        client_id=profile.client_id,
    )
    errors = registration_errors(registration, profile)
    if errors:
        raise _refused(errors)


def check_profile_mode(provider: MCPProvider, mode: MCPAuthMode) -> None:
    """Refuses the sign-in that no Microsoft 365 connector may have; other providers are not looked at.

    Raises:
        Refusal: ``M365_FORBIDDEN_AUTH_MODE``.
    """
    if provider is MCPProvider.M365 and mode in NEVER:
        raise _refused([ErrorCode.M365_FORBIDDEN_AUTH_MODE.value])


def _missing(
    families: tuple[M365OperationFamily, ...], known: set[str], matrix: tuple[M365ScopeRule, ...]
) -> list[str]:
    """The scopes of the declared families that nobody requests, each once.

    Posting to Teams is covered when one of its targets is; a post to the other is refused when it is made.
    """
    missing: dict[str, None] = {}
    for family in dict.fromkeys(families):
        rows = [rule for rule in matrix if rule.operation_family is family]
        if any(known.issuperset(rule.minimum_delegated_scopes) for rule in rows):
            continue
        for rule in rows:
            if rule.target_kind in (None, M365TeamsTarget.CHANNEL):
                missing.update(dict.fromkeys(s for s in rule.minimum_delegated_scopes if s not in known))
    return list(missing)


def _refused(errors: list[str]) -> Refusal:
    code = ErrorCode(errors[0].partition(":")[0])
    about = [error.partition(":")[2] for error in errors if error.startswith(f"{code.value}:")]
    named = f": {', '.join(about)}." if about else ""
    return Refusal(code, f"{_SAID[code]}{named}"[:240], errors=errors)


def _needs(field: str, message: str) -> Refusal:
    return Refusal(ErrorCode.VALIDATION_FAILED, message, fields=[field])
