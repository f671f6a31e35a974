"""Enumerations of a tool server: provider, transport, auth mode and state (DOC3 §0.2D ``mcp/shared``)."""

from enum import StrEnum


class MCPProvider(StrEnum):
    """Who stands behind a server."""

    M365 = "m365"
    GMAIL_GOOGLE = "gmail_google"
    ACROBAT = "acrobat"
    CUSTOM_REMOTE = "custom_remote"
    PROVIDER_NATIVE = "provider_native"


class MCPTransport(StrEnum):
    """How a server is reached: over streamable HTTP, as a program on this machine, or inside a provider."""

    REMOTE_HTTP = "remote_http"
    LOCAL_BRIDGE = "local_bridge"
    PROVIDER_NATIVE = "provider_native"


class MCPAuthMode(StrEnum):
    """How a server is signed in to."""

    OAUTH2_DELEGATED = "oauth2_delegated"
    OAUTH2_ON_BEHALF_OF = "oauth2_on_behalf_of"
    OAUTH2_CLIENT_CREDENTIALS = "oauth2_client_credentials"
    API_KEY = "api_key"
    NONE = "none"


class MCPInteractionMode(StrEnum):
    """Whether a person is there to answer, or a service works alone."""

    INTERACTIVE_USER = "interactive_user"
    BACKGROUND_SERVICE = "background_service"


class MCPAuthState(StrEnum):
    """How a sign-in stands; ``unknown`` until the first."""

    HEALTHY = "healthy"
    CHALLENGE_REQUIRED = "challenge_required"
    EXPIRED = "expired"
    REVOKED = "revoked"
    UNKNOWN = "unknown"


NEEDS_SIGN_IN = frozenset({MCPAuthState.CHALLENGE_REQUIRED, MCPAuthState.EXPIRED, MCPAuthState.REVOKED})
"""The states a person has to do something about (DOC3 L2459 ``auth_required``)."""
