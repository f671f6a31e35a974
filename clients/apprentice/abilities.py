"""Typed API calls: abilities, access tokens, capability bridge, categories (DOC3 §0C.16, §0C.16A, §0.10A, §0C.21)."""

from pydantic import BaseModel

from clients.apprentice.transport import ApiRoutes, M, path_part
from contracts.abilities.availability import (
    AbilityAvailabilityResponse,
    AbilityDetailResponse,
    AbilityVersionsResponse,
)
from contracts.abilities.capability_health import (
    CapabilityHealthCurrent,
    CapabilityStatsCurrent,
    ReprobeRequest,
    ReprobeResponse,
)
from contracts.abilities.capability_manifest import CapabilityBridgeCurrent
from contracts.abilities.categories import (
    AssignItemRequest,
    Category,
    CategoryAssignment,
    CategoryItemKind,
    CategoryItemsResponse,
    CategoryListResponse,
    CategoryRequest,
)
from contracts.abilities.lifecycle import (
    AbilityActionRequest,
    AbilityArchivedResponse,
    AbilityEnabledResponse,
    AbilityLaneResponse,
    AbilityOutcomes,
    AbilityQuarantineResponse,
    AbilityRollbackResponse,
    QuarantineAbilityRequest,
    RollbackAbilityRequest,
)
from contracts.abilities.lookup import (
    AbilityExplainMatchRequest,
    AbilityExplainMatchResponse,
    AbilityLookupQuery,
    AbilityLookupResult,
)
from contracts.learning.responses import DeletedResponse
from contracts.learning.starting_state import ARCHIVE_TYPE
from contracts.learning.trials import StartTrialRequest, TrialFolder, TrialRun
from contracts.platform.identity import CreateTokenRequest, CreateTokenResponse, MeResponse, TokenListResponse

_TRIALS = "/api/abilities/trials"


class AbilityApi(ApiRoutes):
    """Installed abilities."""

    def availability(self) -> AbilityAvailabilityResponse:
        """List abilities with whether they are usable now."""
        return self._http.get("/api/abilities/availability", AbilityAvailabilityResponse)

    def ability(self, ability_id: str) -> AbilityDetailResponse:
        """Read one ability whole."""
        return self._http.get(f"/api/abilities/{path_part(ability_id)}", AbilityDetailResponse)

    def ability_versions(self, ability_id: str, **query: str | int | None) -> AbilityVersionsResponse:
        """List an ability's installed versions, newest first; ``query`` has page, page_size, sort, q and filters."""
        path = f"/api/abilities/{path_part(ability_id)}/versions"
        return self._http.get(path, AbilityVersionsResponse, retried=True, **query)

    def lookup(self, query: AbilityLookupQuery) -> AbilityLookupResult:
        """Find abilities that fit what a user says."""
        return self._http.write("POST", "/api/abilities/lookup", AbilityLookupResult, query)

    def explain_match(self, request: AbilityExplainMatchRequest) -> AbilityExplainMatchResponse:
        """Say why an ability did or did not match."""
        return self._http.write("POST", "/api/abilities/explain-match", AbilityExplainMatchResponse, request)


class TrialApi(ApiRoutes):
    """Trials of abilities on other folders."""

    def hand_in(self, archive: bytes) -> TrialFolder:
        """Hand in a folder as a gzip'd tar archive, which is kept for a day."""
        headers = {"Content-Type": ARCHIVE_TYPE}
        answer = self._http.send("POST", f"{_TRIALS}/folders", content=archive, headers=headers)
        return TrialFolder.model_validate_json(answer.content, extra="ignore")

    def start(self, ability_id: str, request: StartTrialRequest) -> TrialRun:
        """Run the ability's method on a folder that was handed in."""
        return self._http.write("POST", f"/api/abilities/{path_part(ability_id)}/trials", TrialRun, request)

    def trial(self, trial_id: str) -> TrialRun:
        """See how a trial stands, or ended."""
        return self._http.get(f"{_TRIALS}/{path_part(trial_id)}", TrialRun)

    def result(self, trial_id: str) -> bytes:
        """Fetch the resulting folder as a gzip'd tar archive."""
        return self._http.download(f"{_TRIALS}/{path_part(trial_id)}/result")

    def remove(self, trial_id: str) -> DeletedResponse:
        """Cancel a trial, and remove it with its folders."""
        return self._http.write("DELETE", f"{_TRIALS}/{path_part(trial_id)}", DeletedResponse)


class TokenApi(ApiRoutes):
    """The caller and the access tokens."""

    def me(self) -> MeResponse:
        """Say who the caller is."""
        return self._http.get("/api/me", MeResponse)

    def tokens(self, **query: str | int | None) -> TokenListResponse:
        """List access tokens; secrets are never listed. ``query`` has page, page_size, sort, q and filters."""
        return self._http.get("/api/tokens", TokenListResponse, retried=True, **query)

    def create_token(self, request: CreateTokenRequest) -> CreateTokenResponse:
        """Make a token; its secret is in this answer and nowhere else.

        Sent once: the service keeps no secret to answer a repetition with, and would make another token.
        """
        return self._http.write("POST", "/api/tokens", CreateTokenResponse, request, retried=False)

    def revoke_token(self, token_id: str) -> DeletedResponse:
        """Revoke a token; it stops working at once."""
        return self._http.write("DELETE", f"/api/tokens/{path_part(token_id)}", DeletedResponse)


class AbilityLifeApi(ApiRoutes):
    """Changes how abilities stand."""

    def activate(self, ability_id: str, reason: str | None = None) -> AbilityEnabledResponse:
        """Let it be routed to again."""
        return self._act(ability_id, "activate", AbilityEnabledResponse, AbilityActionRequest(reason=reason))

    def deactivate(self, ability_id: str, reason: str | None = None) -> AbilityEnabledResponse:
        """Take it out of routing and out of the agent's workspace."""
        return self._act(
            ability_id, "deactivate", AbilityEnabledResponse, AbilityActionRequest(reason=reason)
        )

    def quarantine(self, ability_id: str, reason: str) -> AbilityQuarantineResponse:
        """Take it out of use because something is wrong with it."""
        return self._act(
            ability_id, "quarantine", AbilityQuarantineResponse, QuarantineAbilityRequest(reason=reason)
        )

    def unquarantine(self, ability_id: str, reason: str | None = None) -> AbilityQuarantineResponse:
        """Lift its quarantine."""
        return self._act(
            ability_id, "unquarantine", AbilityQuarantineResponse, AbilityActionRequest(reason=reason)
        )

    def promote_shared(self, ability_id: str, reason: str | None = None) -> AbilityLaneResponse:
        """Share it with everybody."""
        return self._act(
            ability_id, "promote-shared", AbilityLaneResponse, AbilityActionRequest(reason=reason)
        )

    def demote_private(self, ability_id: str, reason: str | None = None) -> AbilityLaneResponse:
        """Make it its owner's alone."""
        return self._act(
            ability_id, "demote-private", AbilityLaneResponse, AbilityActionRequest(reason=reason)
        )

    def archive(self, ability_id: str, reason: str | None = None) -> AbilityArchivedResponse:
        """Put it away."""
        return self._act(ability_id, "archive", AbilityArchivedResponse, AbilityActionRequest(reason=reason))

    def rollback(
        self, ability_id: str, to_version: int | None = None, reason: str | None = None
    ) -> AbilityRollbackResponse:
        """Make an older version's content current; without a version, the previous one's."""
        request = RollbackAbilityRequest(to_version=to_version, reason=reason)
        return self._act(ability_id, "rollback", AbilityRollbackResponse, request)

    def outcomes(self, ability_id: str) -> AbilityOutcomes:
        """Read how it has done."""
        return self._http.get(f"/api/abilities/{path_part(ability_id)}/outcomes", AbilityOutcomes)

    def _act(self, ability_id: str, action: str, answer: type[M], request: BaseModel) -> M:
        return self._http.write("POST", f"/api/abilities/{path_part(ability_id)}/{action}", answer, request)


class CapabilityApi(ApiRoutes):
    """Capabilities."""

    def bridge(self) -> CapabilityBridgeCurrent:
        """Read the compact entries that agent runtimes route by."""
        return self._http.get("/api/capabilities/bridge", CapabilityBridgeCurrent)

    def health(self) -> CapabilityHealthCurrent:
        """Read what is installed, healthy and usable now."""
        return self._http.get("/api/capabilities/health", CapabilityHealthCurrent)

    def stats(self) -> CapabilityStatsCurrent:
        """Read how often each capability was used."""
        return self._http.get("/api/capabilities/stats", CapabilityStatsCurrent)

    def reprobe(self, capability_id: str, *, canaries: int) -> ReprobeResponse:
        """Start a recheck."""
        request = ReprobeRequest(capability_id=capability_id, canaries=canaries)
        return self._http.write("POST", "/api/capabilities/reprobe", ReprobeResponse, request)


_ROOT = "/api/categories"


class CategoryApi(ApiRoutes):
    """The caller's categories."""

    def categories(self, **query: str | int | None) -> CategoryListResponse:
        """List them by title; ``query`` has page, page_size, sort, q and filters."""
        return self._http.get(_ROOT, CategoryListResponse, retried=True, **query)

    def create(self, request: CategoryRequest) -> Category:
        """Make one."""
        return self._http.write("POST", _ROOT, Category, request)

    def change(self, category_id: str, request: CategoryRequest) -> Category:
        """Give one another title and colour."""
        return self._http.write("PUT", f"{_ROOT}/{path_part(category_id)}", Category, request)

    def delete(self, category_id: str) -> DeletedResponse:
        """Remove one with its assignments."""
        return self._http.write("DELETE", f"{_ROOT}/{path_part(category_id)}", DeletedResponse)

    def items(self, category_id: str, page: int = 1) -> CategoryItemsResponse:
        """List what is in one, newest first."""
        return self._http.get(f"{_ROOT}/{path_part(category_id)}/items", CategoryItemsResponse, page=page)

    def assign(self, category_id: str, request: AssignItemRequest) -> CategoryAssignment:
        """Put an item into one."""
        return self._http.write(
            "POST", f"{_ROOT}/{path_part(category_id)}/assign", CategoryAssignment, request
        )

    def remove(self, category_id: str, kind: CategoryItemKind, item_id: str) -> DeletedResponse:
        """Take an item out of one."""
        path = f"{_ROOT}/{path_part(category_id)}/items/{kind.value}/{path_part(item_id)}"
        return self._http.write("DELETE", path, DeletedResponse)
