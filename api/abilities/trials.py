"""Trials: run the taught method of an ability on a copy of another folder, in the sandbox (beyond DOC3 §0C.16).

They need the scope install: what is run and read here is the method itself, which agents are not shown.
"""

from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid5

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response
from uuid_utils import uuid7

from api.platform.commands import CommandFrame, InstallerFrame
from api.platform.dependencies import AbilityId, Installer, ServicesDep, TrialId
from contracts.abilities.availability import AbilityState
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import DeletedResponse
from contracts.learning.starting_state import ARCHIVE_TYPE
from contracts.learning.trials import (
    MAX_ARCHIVE_BYTES,
    MAX_FOLDER_BYTES,
    MAX_FOLDER_FILES,
    StartTrialRequest,
    TrialFolder,
    TrialRun,
    TrialState,
)
from contracts.workflow_ids import trial_workflow_id
from domain.learning.proof.trial import trial_of
from gateways.learning.trials import TrialGateway
from host.folder_archive import ArchiveLimits, FolderTooLarge, UnsafeArchive, count_entries
from stores.learning.drafts import DraftStore
from stores.learning.trials import KEPT, TrialStore, folder_digest

router = APIRouter(prefix="/api/abilities", tags=["abilities"])

_LIMITS = ArchiveLimits(MAX_FOLDER_FILES, MAX_FOLDER_BYTES)
_TRIALS = UUID("0c2d6f4a-7a50-5c1e-9a53-51b7c4f3f2a1")
"""Namespace of the ids of trials that were started with an idempotency key."""

_FOLDER = {"schema": {"type": "string", "format": "binary", "maxLength": MAX_ARCHIVE_BYTES}}


@router.post(
    "/trials/folders",
    operation_id="ability_trial_folder",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {ARCHIVE_TYPE: _FOLDER}}},
)
async def hand_in(request: Request, caller: Installer, services: ServicesDep) -> TrialFolder:
    """Hands in a folder as a gzip'd tar archive: at most 5,000 files and 64 MiB. It is deleted after a day.

    Files, folders and symbolic links only; links are kept as they are.
    """
    content = await request.body()
    files = await anyio.to_thread.run_sync(_counted, content)
    keep = partial(
        TrialStore(services.database).keep_folder, caller.user_id, content, files, datetime.now(UTC)
    )
    return await anyio.to_thread.run_sync(keep)


@router.post("/{ability_id}/trials", status_code=202, operation_id="ability_trial_start")
async def start(ability_id: AbilityId, body: StartTrialRequest, frame: InstallerFrame) -> TrialRun:
    """Runs the taught method on a copy of a folder that was handed in, with other values where some are given.

    It runs in the sandbox, without a network; nothing outside the copy is touched. Refused where a step cannot be
    carried out there, or a value cannot be put in its place.
    """
    trials = TrialStore(frame.services.database)

    async def act() -> TrialRun:
        run, commands = await anyio.to_thread.run_sync(_prepared, ability_id, body, frame)
        gateway = TrialGateway(frame.services.client, frame.services.settings.task_queue, trials)
        return await gateway.start(run, commands)

    return await frame.answer_once(body, act, TrialRun)


@router.get("/trials/{trial_id}", operation_id="ability_trial")
def progress(trial_id: TrialId, caller: Installer, services: ServicesDep) -> TrialRun:
    """A trial: its progress; at its end what was run and which conditions hold."""
    return TrialStore(services.database).owned(trial_id, caller.user_id, datetime.now(UTC))


@router.get(
    "/trials/{trial_id}/result",
    operation_id="ability_trial_result",
    response_class=Response,
    responses={200: {"content": {ARCHIVE_TYPE: {"schema": {"type": "string", "format": "binary"}}}}},
)
def result(trial_id: TrialId, caller: Installer, services: ServicesDep) -> Response:
    """The resulting folder, whole, as a gzip'd tar archive; also of a trial that failed."""
    content = TrialStore(services.database).result(trial_id, caller.user_id, datetime.now(UTC))
    return Response(content, media_type=ARCHIVE_TYPE)


@router.delete("/trials/{trial_id}", operation_id="ability_trial_remove")
async def remove(trial_id: TrialId, frame: InstallerFrame) -> DeletedResponse:
    """Cancels a trial that runs, and removes it with its folders."""
    trials = TrialStore(frame.services.database)

    async def act() -> DeletedResponse:
        run = await anyio.to_thread.run_sync(trials.remove, trial_id, frame.owner, datetime.now(UTC))
        if run.state is TrialState.RUNNING:
            await TrialGateway(frame.services.client, frame.services.settings.task_queue, trials).cancel(run)
        return DeletedResponse()

    return await frame.answer_once(None, act, DeletedResponse)


def _counted(content: bytes) -> int:
    try:
        return count_entries(content, _LIMITS)
    except FolderTooLarge as error:
        raise Refusal(ErrorCode.PAYLOAD_TOO_LARGE, f"The folder is too large: {error}.") from error
    except UnsafeArchive as error:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "The body is no folder that can be tried on; send a gzip'd tar archive of files, folders and links.",
            fields=[{"path": "body", "problem": str(error)[:200]}],
        ) from error


def _prepared(ability_id: str, body: StartTrialRequest, frame: CommandFrame) -> tuple[TrialRun, int]:
    """The trial as it is put on record, and how many commands it has.

    Raises:
        Refusal: ``ABILITY_NOT_FOUND``; ``TRIAL_NOT_POSSIBLE`` and ``VALIDATION_FAILED`` as ``trial_of``.
    """
    detail = frame.services.abilities.detail(ability_id, frame.owner)
    if detail.state is AbilityState.ARCHIVED:
        raise Refusal(ErrorCode.TRIAL_NOT_POSSIBLE, "An archived ability is not tried; activate it first.")
    bundle = DraftStore(frame.services.database).bundle_of_version(ability_id, detail.version)
    if bundle is None:
        raise Refusal(
            ErrorCode.TRIAL_NOT_POSSIBLE, "The lesson that this ability was made from is not kept here."
        )
    trial = trial_of(bundle.draft, bundle.interpretation.parameters, body.values)
    key, now = frame.client_key(body), datetime.now(UTC)
    trial_id = str(uuid5(_TRIALS, f"{key.owner_user_id}/{key.key}") if key is not None else uuid7())
    run = TrialRun(
        trial_id=trial_id,
        ability_id=ability_id,
        ability_version=detail.version,
        owner_user_id=frame.owner,
        state=TrialState.RUNNING,
        folder_digest=folder_digest(body.folder_ref),
        values=body.values,
        progress="waiting for a worker",
        workflow_id=trial_workflow_id(trial_id),
        correlation_id=frame.correlation_id,
        started_at=now,
        updated_at=now,
        expires_at=now + KEPT,
    )
    return run, len(trial.commands)
