"""Routes that read abilities: availability, catalog, detail, versions, lookup, explain (DOC3 §0C.11, §0C.16)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends

from api.platform.dependencies import AbilityId, Reader, ServicesDep
from api.platform.lists import ListOf, ListRequest
from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilityItem,
    AbilityAvailabilityResponse,
    AbilityDetailResponse,
    AbilityVersion,
    AbilityVersionsResponse,
    SkillCatalogEntry,
    SkillCatalogResponse,
)
from contracts.abilities.categories import ABILITY_KINDS
from contracts.abilities.lookup import (
    AbilityExplainMatchRequest,
    AbilityExplainMatchResponse,
    AbilityLookupQuery,
    AbilityLookupResult,
)
from domain.learning.proof.trial import ability_folders, ability_parameters
from stores.learning.drafts import DraftStore

router = APIRouter(prefix="/api/abilities", tags=["abilities"])

_AVAILABILITY = ListOf(
    "abilities",
    AbilityAvailabilityItem,
    "title ability_id family source install_lane enabled usable_now state",
    filters="family source install_lane enabled usable_now state",
)
_CATALOG = ListOf(
    "items",
    SkillCatalogEntry,
    "title ability_id family source install_lane enabled usable_now created_at updated_at",
    filters="family source install_lane enabled usable_now",
)
_VERSIONS = ListOf(
    "versions", AbilityVersion, "version install_lane installed_at current", filters="install_lane current"
)


@router.get("/availability", operation_id="ability_availability")
def availability(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_AVAILABILITY.wanted)]
) -> AbilityAvailabilityResponse:
    """All abilities the caller may see, which are usable now, and whether that is behind."""
    found = services.abilities.availability(caller.user_id)
    return _AVAILABILITY.listed(found.changed(freshness=services.freshness.look(datetime.now(UTC))), wanted)


@router.get("/catalog", operation_id="ability_catalog")
def catalog(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_CATALOG.wanted)]
) -> SkillCatalogResponse:
    """The skills catalog, each entry with the caller's categories."""
    found = services.abilities.catalog(caller.user_id)
    grouped = services.categories.of_items(caller.user_id, ABILITY_KINDS)
    items = tuple(item.changed(category_ids=grouped.get(item.ability_id, ())) for item in found.items)
    answer = SkillCatalogResponse(
        items=items,
        refreshed_at=found.refreshed_at,
        freshness=services.freshness.look(datetime.now(UTC)),
    )
    return _CATALOG.listed(answer, wanted)


@router.post("/lookup", operation_id="ability_lookup")
def lookup(body: AbilityLookupQuery, caller: Reader, services: ServicesDep) -> AbilityLookupResult:
    """The abilities that match a user's request by score, and those that fit it, best first, at most ten each."""
    now = datetime.now(UTC)
    if body.project_id is None and body.room_id is not None:
        body = body.changed(project_id=services.mcp.projects.of_room(caller.user_id, body.room_id))
    found = services.abilities.lookup(
        body, caller_user_id=caller.user_id, now=now, decide=services.decide_fit
    )
    return found.changed(freshness=services.freshness.look(now))


@router.post("/explain-match", operation_id="ability_explain_match")
def explain_match(
    body: AbilityExplainMatchRequest, caller: Reader, services: ServicesDep
) -> AbilityExplainMatchResponse:
    """Why an ability does or does not match and fit."""
    return services.abilities.explain_match(
        body.user_query, body.ability_id, caller.user_id, body.project_id, services.decide_fit
    )


@router.get("/{ability_id}", operation_id="ability_detail")
def detail(ability_id: AbilityId, caller: Reader, services: ServicesDep) -> AbilityDetailResponse:
    """One ability with its SKILL.md, and the parameters that a trial takes."""
    found = services.abilities.detail(ability_id, caller.user_id)
    bundle = DraftStore(services.database).bundle_of_version(ability_id, found.version)
    if bundle is None:
        return found
    return found.changed(
        parameters=ability_parameters(bundle.interpretation.parameters),
        folders=ability_folders(bundle.draft.folders),
    )


@router.get("/{ability_id}/availability", operation_id="ability_availability_one")
def one_availability(
    ability_id: AbilityId, caller: Reader, services: ServicesDep
) -> AbilityAvailabilityEntry:
    """One ability's entry of the snapshot, whole."""
    return services.abilities.visible_entry(ability_id, caller.user_id)


@router.get("/{ability_id}/versions", operation_id="ability_versions")
def versions(
    ability_id: AbilityId,
    caller: Reader,
    services: ServicesDep,
    wanted: Annotated[ListRequest, Depends(_VERSIONS.wanted)],
) -> AbilityVersionsResponse:
    """An ability's installed versions, newest first."""
    return _VERSIONS.listed(services.abilities.versions(ability_id, caller.user_id), wanted)
