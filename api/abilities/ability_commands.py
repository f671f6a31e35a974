"""Commands on an installed ability, and its outcomes (DOC3 §0A.19, §0C.16; routes.md)."""

import anyio.to_thread
from fastapi import APIRouter

from api.platform.commands import ApproverFrame, CommandFrame, InstallerFrame, masked
from api.platform.dependencies import AbilityId, Reader, ServicesDep
from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.lifecycle import (
    AbilityActionRequest,
    AbilityArchivedResponse,
    AbilityEnabledResponse,
    AbilityLaneResponse,
    AbilityOrder,
    AbilityOutcomes,
    AbilityQuarantineResponse,
    AbilityReceipt,
    AbilityRollbackResponse,
    QuarantineAbilityRequest,
    RollbackAbilityRequest,
)
from contracts.errors import ErrorCode, Refusal
from contracts.platform.identity import Scope
from gateways.abilities.abilities import AbilityGateway
from stores.abilities.ability_commands import AbilityLifeStore
from stores.abilities.ability_standing import outcomes_of

router = APIRouter(prefix="/api/abilities/{ability_id}", tags=["abilities"])

NOTHING = AbilityActionRequest()
TO_THE_PREVIOUS = RollbackAbilityRequest()


@router.get("/outcomes", operation_id="ability_outcomes")
def outcomes(ability_id: AbilityId, caller: Reader, services: ServicesDep) -> AbilityOutcomes:
    """How the ability has done: installs, uses, checkpoints, quarantines, rollbacks."""
    services.abilities.visible_entry(ability_id, caller.user_id)
    with services.database.read() as connection:
        return outcomes_of(connection, ability_id)


@router.post("/activate", operation_id="ability_activate")
async def activate(
    ability_id: AbilityId, frame: InstallerFrame, body: AbilityActionRequest = NOTHING
) -> AbilityEnabledResponse:
    """Lets a deactivated or archived ability be routed to again."""
    receipt = await _command(Action.ACTIVATE, ability_id, frame, body)
    return AbilityEnabledResponse(ability_id=receipt.ability_id, enabled=receipt.enabled)


@router.post("/deactivate", operation_id="ability_deactivate")
async def deactivate(
    ability_id: AbilityId, frame: InstallerFrame, body: AbilityActionRequest = NOTHING
) -> AbilityEnabledResponse:
    """Takes an ability out of routing and out of the agent's workspace."""
    receipt = await _command(Action.DEACTIVATE, ability_id, frame, body)
    return AbilityEnabledResponse(ability_id=receipt.ability_id, enabled=receipt.enabled)


@router.post("/quarantine", operation_id="ability_quarantine")
async def quarantine(
    ability_id: AbilityId, body: QuarantineAbilityRequest, frame: InstallerFrame
) -> AbilityQuarantineResponse:
    """Takes an ability out of use until its failure has been investigated."""
    receipt = await _command(Action.QUARANTINE, ability_id, frame, body)
    return AbilityQuarantineResponse(ability_id=receipt.ability_id, quarantined=True, reason=receipt.reason)


@router.post("/unquarantine", operation_id="ability_unquarantine")
async def unquarantine(
    ability_id: AbilityId, frame: ApproverFrame, body: AbilityActionRequest = NOTHING
) -> AbilityQuarantineResponse:
    """Lifts a quarantine: after a new passed validation of the same content, or for a stated reason."""
    receipt = await _command(Action.UNQUARANTINE, ability_id, frame, body)
    return AbilityQuarantineResponse(ability_id=receipt.ability_id, quarantined=False, reason=receipt.reason)


@router.post("/promote-shared", operation_id="ability_promote_shared")
async def promote_shared(
    ability_id: AbilityId, frame: ApproverFrame, body: AbilityActionRequest = NOTHING
) -> AbilityLaneResponse:
    """Shares an ability with everybody here."""
    await anyio.to_thread.run_sync(frame.services.pending.require_settled)
    receipt = await _command(Action.PROMOTE_SHARED, ability_id, frame, body)
    return AbilityLaneResponse(ability_id=receipt.ability_id, install_lane=receipt.install_lane)


@router.post("/demote-private", operation_id="ability_demote_private")
async def demote_private(
    ability_id: AbilityId, frame: InstallerFrame, body: AbilityActionRequest = NOTHING
) -> AbilityLaneResponse:
    """Makes an ability its owner's alone again."""
    receipt = await _command(Action.DEMOTE_PRIVATE, ability_id, frame, body)
    return AbilityLaneResponse(ability_id=receipt.ability_id, install_lane=receipt.install_lane)


@router.post("/archive", operation_id="ability_archive")
async def archive(
    ability_id: AbilityId, frame: InstallerFrame, body: AbilityActionRequest = NOTHING
) -> AbilityArchivedResponse:
    """Puts an ability away. Its versions and records stay, and ``activate`` brings it back."""
    receipt = await _command(Action.ARCHIVE, ability_id, frame, body)
    return AbilityArchivedResponse(ability_id=receipt.ability_id)


@router.post("/rollback", operation_id="ability_rollback")
async def rollback(
    ability_id: AbilityId, frame: InstallerFrame, body: RollbackAbilityRequest = TO_THE_PREVIOUS
) -> AbilityRollbackResponse:
    """Makes the previous or a named version's content current, as a new version."""
    receipt = await _command(Action.ROLLBACK, ability_id, frame, body, to_version=body.to_version)
    if receipt.restored_from is None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The rollback was not carried out.")
    return AbilityRollbackResponse(
        ability_id=receipt.ability_id,
        version=receipt.version,
        restored_from=receipt.restored_from,
        content_hash=receipt.content_hash,
    )


async def _command(
    action: Action,
    ability_id: str,
    frame: CommandFrame,
    body: AbilityActionRequest | QuarantineAbilityRequest | RollbackAbilityRequest,
    to_version: int | None = None,
) -> AbilityReceipt:
    order = frame.message(
        AbilityOrder,
        body,
        ability_id=ability_id,
        action=action,
        reason=masked(body.reason),
        to_version=to_version,
        caller_user_id=frame.owner,
        as_admin=Scope.ADMIN in frame.caller.scopes,
    )
    services = frame.services
    gateway = AbilityGateway(
        services.client, services.settings.task_queue, AbilityLifeStore(services.database)
    )
    return await gateway.send(order)
