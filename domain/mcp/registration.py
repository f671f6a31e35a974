"""Validate the registration of a tool server, and derive its badges and available actions for the server list.

A local server is a program on the worker's machine, so only programs that the operator named are accepted; an address
is checked again, by number, at every connection. Badges and actions are derived only here (DOC3 L2459-2470): console,
command line and agents show them as they are.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import MCPAuthProfile, MCPRefreshPolicy, MCPServerAuthStatus
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from contracts.mcp.policy import MCPEffectivePolicy, MCPPolicyMode
from contracts.mcp.provider import (
    NEEDS_SIGN_IN,
    MCPAuthMode,
    MCPAuthState,
    MCPInteractionMode,
    MCPProvider,
    MCPTransport,
)
from contracts.mcp.servers import MCPBadgeState as Badge
from contracts.mcp.servers import MCPServerAction as Action
from contracts.mcp.servers import MCPServerCommand, MCPServerRegistryEntry
from domain.learning.redaction.redaction import redact
from domain.learning.redaction.secret_names import is_secret_name
from domain.mcp.auth_status import OAUTH_MODES, SIGNED_IN_BY_A_PERSON
from domain.mcp.m365_registration import check_connector

MAX_URL_CHARACTERS = 2_000

ProviderCheck = Callable[[MCPServerRegistryEntry, MCPAuthProfile | None], None]

PROVIDER_CHECKS: Mapping[MCPProvider, ProviderCheck] = {MCPProvider.M365: check_connector}
"""What a provider asks of its servers beyond what holds for all; a check raises ``Refusal``."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,119}")
_OWN_VARIABLES = ("APPRENTICE_", "TEMPORAL_")
_INNER_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan", ".intranet")


@dataclass(frozen=True)
class RegistrationRules:
    """What the operator allows. ``objection`` names the field of a command that leads to keys or the data directory,
    and why; looking takes the file system, so whoever has one gives it."""

    allow_private_addresses: bool = False
    local_programs: tuple[str, ...] = ()
    local_environment: tuple[str, ...] = ()
    objection: Callable[[MCPServerCommand], tuple[str, str] | None] = lambda _: None


def check_registration(
    entry: MCPServerRegistryEntry, profile: MCPAuthProfile | None, rules: RegistrationRules
) -> None:
    """Lets an entry pass that may be kept; ``profile`` is the sign-in it names, which is the owner's.

    Raises:
        Refusal: ``VALIDATION_FAILED`` with the fields; ``MCP_ADDRESS_REFUSED``; what the provider's check says.
    """
    _check_reach(entry)
    if entry.endpoint_url is not None:
        check_endpoint(str(entry.endpoint_url), rules)
    if entry.command is not None:
        _check_command(entry.command, rules)
    if profile is not None and profile.provider is not entry.provider:
        raise _invalid(
            "auth_profile_id",
            f"That sign-in is for {profile.provider.value}, the server is of {entry.provider.value}; "
            "its token would go to somebody else. Make a sign-in for this provider.",
        )
    if entry.m365 is not None and entry.provider is not MCPProvider.M365:
        raise _invalid("m365", "Only a server of the provider m365 has typed operations of Microsoft 365.")
    provider_check = PROVIDER_CHECKS.get(entry.provider)
    if provider_check is not None:
        provider_check(entry, profile)


def check_endpoint(url: str, rules: RegistrationRules) -> None:
    """Lets pass an https address with nothing secret in it; http and inner addresses only where allowed.

    Raises:
        Refusal: ``VALIDATION_FAILED``, ``MCP_ADDRESS_REFUSED``.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if len(url) > MAX_URL_CHARACTERS:
        raise _invalid("endpoint_url", f"The address has more than {MAX_URL_CHARACTERS} characters.")
    if parts.scheme not in ("https", "http") or not host:
        raise _invalid("endpoint_url", "The address must be https://…, with a host.")
    if parts.username is not None or parts.password is not None:
        raise _invalid("endpoint_url", "The address holds a user or password; use a sign-in profile instead.")
    if parts.fragment or "#" in url:
        raise _invalid("endpoint_url", "The address must have no fragment (#…).")
    if any(is_secret_name(name) for name, _ in parse_qsl(parts.query)) or redact(url).text != url:
        raise _invalid("endpoint_url", "The address holds a secret; use a sign-in profile instead.")
    if rules.allow_private_addresses:
        return
    if parts.scheme != "https":
        raise Refusal(
            ErrorCode.MCP_ADDRESS_REFUSED,
            "A tool server's address must be https; APPRENTICE_MCP_ALLOW_PRIVATE_ADDRESSES=true allows others.",
        )
    if _is_inner(host):
        raise Refusal(
            ErrorCode.MCP_ADDRESS_REFUSED,
            "The address is on this machine or an inner network; APPRENTICE_MCP_ALLOW_PRIVATE_ADDRESSES=true "
            "allows that.",
        )


def origin_of(url: object) -> tuple[str, str, int | None] | None:
    """Scheme, host and port of an address: what a token and a look at its tools are good for."""
    if url is None:
        return None
    parts = urlsplit(str(url))
    return parts.scheme, parts.hostname or "", parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _check_reach(entry: MCPServerRegistryEntry) -> None:
    match entry.transport:
        case MCPTransport.REMOTE_HTTP:
            if entry.endpoint_url is None or entry.command is not None:
                raise _invalid("endpoint_url", "A remote_http server needs an endpoint_url, and no command.")
        case MCPTransport.LOCAL_BRIDGE if entry.provider is MCPProvider.ACROBAT:
            if entry.command is not None or entry.endpoint_url is not None:
                raise _invalid("command", "The Acrobat adapter is part of the worker: leave the command out.")
        case MCPTransport.LOCAL_BRIDGE:
            if entry.command is None or entry.endpoint_url is not None:
                raise _invalid("command", "A local_bridge server needs a command, and no endpoint_url.")
        case MCPTransport.PROVIDER_NATIVE:
            if entry.endpoint_url is not None or entry.command is not None:
                raise _invalid("transport", "A provider_native server has neither endpoint_url nor command.")


def _check_command(command: MCPServerCommand, rules: RegistrationRules) -> None:
    if command.program not in rules.local_programs:
        raise _invalid(
            "command.program",
            "That program is not among those the operator allows; they are in "
            "APPRENTICE_MCP_LOCAL_PROGRAMS, spelled the same way.",
        )
    for argument in command.arguments:
        if not argument.isprintable():
            raise _invalid("command.arguments", "An argument holds characters that cannot be printed.")
    joined = " ".join(command.arguments)
    if redact(joined).text != joined:
        raise _invalid("command.arguments", "An argument looks like a secret; pass it by environment_refs.")
    _check_folders(command)
    for name, source in command.environment_refs.items():
        if not _VARIABLE.fullmatch(name) or not _VARIABLE.fullmatch(source):
            raise _invalid("command.environment_refs", "Both sides must be names of environment variables.")
        if source.upper().startswith(_OWN_VARIABLES):
            raise _invalid("command.environment_refs", "The service's own variables are for itself alone.")
        if source not in rules.local_environment:
            raise _invalid(
                "command.environment_refs",
                f"The operator does not let programs have the variable {clipped(source, 80)}; those they may have "
                "are in APPRENTICE_MCP_LOCAL_ENVIRONMENT.",
            )
    refused = rules.objection(command)
    if refused is not None:
        raise _invalid(*refused)


def _check_folders(command: MCPServerCommand) -> None:
    named = (
        *((("working_folder", command.working_folder),) if command.working_folder is not None else ()),
        *(("readable_folders", folder) for folder in command.readable_folders),
        *(("writable_folders", folder) for folder in command.writable_folders),
    )
    for field, folder in named:
        if not folder.startswith("/") or ".." in folder.split("/") or not folder.isprintable():
            what = "The working folder" if field == "working_folder" else "A folder that is granted"
            raise _invalid(f"command.{field}", f"{what} must be an absolute path.")


def _is_inner(host: str) -> bool:
    try:
        return not ip_address(host.partition("%")[0]).is_global
    except ValueError:
        name = host.lower()
        return name == "localhost" or name.endswith(_INNER_NAMES) or "." not in name


def _invalid(field: str, message: str) -> Refusal:
    return Refusal(ErrorCode.VALIDATION_FAILED, message, fields=[field])


def is_deferred(entry: MCPServerRegistryEntry) -> bool:
    """Whether a server is only shown."""
    return not entry.active_build_surface


def needs_sign_in(health: MCPConnectionHealth, auth: MCPServerAuthStatus | None) -> bool:
    """Whether somebody has to sign in: the sign-in says so, or the server did when it was last asked."""
    return health.auth_state in NEEDS_SIGN_IN or (auth is not None and auth.auth_state in NEEDS_SIGN_IN)


def badge_states(
    entry: MCPServerRegistryEntry,
    health: MCPConnectionHealth,
    auth: MCPServerAuthStatus | None,
    policy: MCPEffectivePolicy,
) -> tuple[Badge, ...]:
    """Every badge whose condition holds, and no other, in the order of the schema."""
    signed_out = needs_sign_in(health, auth)
    holds = {
        Badge.CONNECTED: entry.enabled
        and not is_deferred(entry)
        and not signed_out
        and health.health_status is MCPHealthStatus.HEALTHY,
        Badge.APPROVAL_REQUIRED: policy.decision.mode is MCPPolicyMode.ASK_FIRST,
        Badge.AUTH_REQUIRED: signed_out,
        Badge.DEGRADED: health.health_status is MCPHealthStatus.DEGRADED,
        Badge.DISABLED: not entry.enabled,
        Badge.DEFERRED: is_deferred(entry),
        Badge.BACKGROUND_ONLY: entry.interaction_mode is MCPInteractionMode.BACKGROUND_SERVICE,
    }
    return tuple(badge for badge in Badge if holds[badge])


def available_actions(
    entry: MCPServerRegistryEntry, profile: MCPAuthProfile | None, auth: MCPServerAuthStatus | None
) -> tuple[Action, ...]:
    """What may be done with a server now, in the order of the schema; nothing with one that is deferred.

    A sign-in by a person can be begun at any time, renewed where its policy and a token allow it, and revoked
    while there is something to revoke. A server that is switched off is not tested.
    """
    if is_deferred(entry):
        return ()
    state = auth.auth_state if auth is not None else MCPAuthState.UNKNOWN
    mode = profile.auth_mode if profile is not None else MCPAuthMode.NONE
    has_token = profile is not None and profile.token_ref is not None
    holds = {
        Action.CONNECT_AUTH: mode in SIGNED_IN_BY_A_PERSON,
        Action.REFRESH_AUTH: profile is not None
        and mode in OAUTH_MODES
        and has_token
        and profile.refresh_policy is not MCPRefreshPolicy.DENY
        and state is not MCPAuthState.REVOKED,
        Action.REVOKE_AUTH: has_token and state is not MCPAuthState.REVOKED,
        Action.EDIT: True,
        Action.DELETE: True,
        Action.SMOKE_TEST: entry.enabled and entry.supports_smoke_test,
        Action.POLICY_UPDATE: True,
    }
    return tuple(action for action in Action if holds[action])
