"""What can go wrong with an authorization server, told apart by what may be done next.

No text of these errors holds a secret; what an authorization server says of itself is cut to its error code.
"""


class OAuthTrouble(Exception):
    """An authorization server that could not be used. ``code`` is short and stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class DiscoveryFailed(OAuthTrouble):
    """What the servers publish of themselves is missing, contradicts itself, or is not safe enough."""


class ServerUnreachable(OAuthTrouble):
    """Nobody answered, or the answer was a failure of theirs: the same may succeed later."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__("unreachable", message)
        self.retry_after_seconds = retry_after_seconds


class AddressNotAllowed(OAuthTrouble):
    """An address that is not connected to, by the rules of this installation."""

    def __init__(self, message: str) -> None:
        super().__init__("address_refused", message)


class TokenRefused(OAuthTrouble):
    """The token endpoint said no, and why: RFC 6749 §5.2. Only ``invalid_grant`` ends a sign-in."""

    @property
    def ends_the_sign_in(self) -> bool:
        """Whether no later attempt with the same refresh token can succeed."""
        return self.code == "invalid_grant"


class IssuerMismatch(OAuthTrouble):
    """The browser came back from another authorization server than it was sent to (RFC 9207)."""

    def __init__(self) -> None:
        super().__init__("issuer_mismatch", "The answer does not come from the server that was asked.")
