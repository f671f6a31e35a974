"""The routes of abilities and access tokens as typed calls (DOC3 §0C.16, §0C.16A; routes.md)."""

from clients.api_transport import ApiTransport, path_part
from contracts.abilities.availability import (
    AbilityAvailabilityResponse,
    AbilityDetailResponse,
    AbilityVersionsResponse,
)
from contracts.abilities.lookup import (
    AbilityExplainMatchRequest,
    AbilityExplainMatchResponse,
    AbilityLookupQuery,
    AbilityLookupResult,
)
from contracts.learning.responses import DeletedResponse
from contracts.runtime.identity import (
    CreateTokenRequest,
    CreateTokenResponse,
    MeResponse,
    TokenListResponse,
)


class AbilityApi:
    """Installed abilities. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def availability(self) -> AbilityAvailabilityResponse:
        """List abilities with whether they are usable now."""
        return self._http.get("/api/abilities/availability", AbilityAvailabilityResponse)

    def ability(self, ability_id: str) -> AbilityDetailResponse:
        """Read one ability whole."""
        return self._http.get(f"/api/abilities/{path_part(ability_id)}", AbilityDetailResponse)

    def ability_versions(self, ability_id: str) -> AbilityVersionsResponse:
        """List an ability's installed versions, newest first."""
        return self._http.get(f"/api/abilities/{path_part(ability_id)}/versions", AbilityVersionsResponse)

    def lookup(self, query: AbilityLookupQuery) -> AbilityLookupResult:
        """Find abilities that fit what a user says."""
        return self._http.write("POST", "/api/abilities/lookup", AbilityLookupResult, query)

    def explain_match(self, request: AbilityExplainMatchRequest) -> AbilityExplainMatchResponse:
        """Say why an ability did or did not match."""
        return self._http.write("POST", "/api/abilities/explain-match", AbilityExplainMatchResponse, request)


class TokenApi:
    """The caller and the access tokens. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def me(self) -> MeResponse:
        """Say who the caller is."""
        return self._http.get("/api/me", MeResponse)

    def tokens(self) -> TokenListResponse:
        """List access tokens; secrets are never listed."""
        return self._http.get("/api/tokens", TokenListResponse)

    def create_token(self, request: CreateTokenRequest) -> CreateTokenResponse:
        """Make a token; its secret is in this answer and nowhere else.

        Sent once: the service keeps no secret to answer a repetition with, and would make another token.
        """
        return self._http.write("POST", "/api/tokens", CreateTokenResponse, request, retried=False)

    def revoke_token(self, token_id: str) -> DeletedResponse:
        """Revoke a token; it stops working at once."""
        return self._http.write("DELETE", f"/api/tokens/{path_part(token_id)}", DeletedResponse)
