"""Gateway to the workflows of skill imports: commands, and starts of those that were lost."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation

from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_work import ImportOrder, ImportOutcome, ImportStart
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.validation import ValidationRun, ValidationRunInput, ValidationRunKind
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import import_validation_id, skill_import_workflow_id
from gateways.platform.updates import (
    Recall,
    StartOptions,
    id_of_key,
    start_options,
    start_or_join,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from stores.imports.import_installs import ImportInstalls
from stores.imports.imports import SkillImports, new_import_id
from workflows.imports.import_validation_workflow import KIND as VALIDATION_KIND
from workflows.imports.import_validation_workflow import ImportValidationWorkflow
from workflows.imports.skill_import_workflow import KIND, SkillImportWorkflow

_IMPORTS = UUID("6a1f1c0e-2d0b-4c55-9a57-0f6a3f0f7d22")
"""The UUID namespace of imports that were asked for with an idempotency key."""

ANSWERS_WITHIN = timedelta(seconds=60)
"""How long a command waits for its work: then the client has to read the import instead."""


def import_id_for(key: CommitKey) -> str:
    """The id of what a request under this key opens, an import or a run: the same key, the same one."""
    return id_of_key(_IMPORTS, key) or new_import_id()


def _options(import_id: str, owner: str, task_queue: str) -> StartOptions:
    return start_options(
        skill_import_workflow_id(import_id),
        task_queue,
        kind=KIND,
        owner=owner,
        summary=f"import of a skill bundle by {owner}"[:200],
    )


async def run_import(client: Client, task_queue: str, import_id: str, owner: str) -> None:
    """Starts the workflow of an import that the store has; one that runs stays.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; nothing was started.
    """
    start = ImportStart(import_id=import_id, owner_user_id=owner)
    await start_or_join(client, SkillImportWorkflow.run, start, _options(import_id, owner, task_queue))


async def run_import_validation(client: Client, task_queue: str, request: ValidationRunInput) -> None:
    """Starts the workflow of a validation that the store has open; one that runs stays.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; nothing was started.
    """
    options = start_options(
        import_validation_id(request.validation_run_id),
        task_queue,
        kind=VALIDATION_KIND,
        owner=request.owner_user_id,
        summary=f"validation of an imported skill by {request.owner_user_id}"[:200],
    )
    await start_or_join(client, ImportValidationWorkflow.run, request, options)


class SkillImportGateway:
    """Sends commands to imports; every failure is raised as a ``Refusal``."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        imports: SkillImports,
        installs: ImportInstalls,
        *,
        answers_within: timedelta = ANSWERS_WITHIN,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._imports = imports
        self._installs = installs
        self._answers_within = answers_within

    async def send(self, order: ImportOrder) -> ImportOutcome:
        """Sends one command, and answers when the work that it begins has ended.

        A command whose key was used before is answered from the store.

        Raises:
            Refusal: what the import refuses; ``CONFLICT`` when its work takes longer than a client waits;
                ``TEMPORAL_UNAVAILABLE``.
        """
        return await update_or_recall(
            partial(self._attempt, order),
            workflow_id=skill_import_workflow_id(order.import_id),
            conflict="The import is changing too fast; repeat the command.",
            recall=Recall(order.commit_key, self._imports.recall, tell=self._make_known),
        )

    async def validate_again(
        self,
        proposal: SkillBundleProposal,
        checks: Sequence[ValidationRunKind],
        label: str | None,
        key: CommitKey,
        correlation_id: str,
    ) -> ValidationRun:
        """Begins one more validation of an imported skill; it goes on after the answer. One key begins one run.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``; repeated under its key it is begun then.
        """
        owner = proposal.owner_user_id
        request = ValidationRunInput(
            validation_run_id=import_id_for(key),
            proposal_id=proposal.proposal_id,
            owner_user_id=owner,
            content_hash=proposal.content_hash,
            checks=tuple(checks),
            correlation_id=correlation_id,
        )
        opened = await anyio.to_thread.run_sync(
            self._installs.open_again, proposal, request, label, datetime.now(UTC)
        )
        await run_import_validation(self._client, self._task_queue, request)
        return opened

    async def _attempt(self, order: ImportOrder) -> ImportOutcome:
        owner = order.owner_user_id
        present = await anyio.to_thread.run_sync(self._imports.find, order.import_id)
        start = WithStartWorkflowOperation(
            SkillImportWorkflow.run,
            ImportStart(import_id=order.import_id, owner_user_id=owner),
            **_options(order.import_id, owner, self._task_queue),
        )
        return await update_with_start(
            self._client,
            start,
            SkillImportWorkflow.command,
            order,
            within=self._answers_within,
            # Temporal repeats refusals too: a command that is repeated once the import has changed is another one.
            update_id=update_id_of(order.commit_key, present.version if present is not None else 0),
            no_answer=_still_at_work,
        )

    async def _make_known(self, outcome: ImportOutcome) -> None:
        present = outcome.present
        if not present.is_over:
            await run_import(self._client, self._task_queue, present.import_id, present.owner_user_id)


def _still_at_work() -> Refusal:
    return Refusal(
        ErrorCode.TEMPORAL_UNAVAILABLE,
        "No answer yet: the work goes on once a worker takes it; read the import to see how it stands.",
    )
