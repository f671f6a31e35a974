"""The commands on abilities as typed calls (DOC3 §0C.16, §0C.16A; routes.md)."""

from pydantic import BaseModel

from clients.api_transport import ApiTransport, M, path_part
from contracts.abilities.life import AbilityOutcomes
from contracts.abilities.requests import (
    AbilityActionRequest,
    AbilityArchivedResponse,
    AbilityEnabledResponse,
    AbilityLaneResponse,
    AbilityQuarantineResponse,
    AbilityRollbackResponse,
    QuarantineAbilityRequest,
    RollbackAbilityRequest,
)


class AbilityLifeApi:
    """Changes how abilities stand. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

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
