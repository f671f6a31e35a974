"""Gateway to the workflows of abilities: commands on an ability, and rechecks of a capability."""

from datetime import timedelta
from functools import partial
from uuid import UUID, uuid5

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation

from contracts.abilities.capability_health import ReprobeRequest, ReprobeResponse
from contracts.abilities.lifecycle import AbilityOrder, AbilityReceipt
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import REPROBE_SCHEDULE, ability_workflow_id, capability_reprobe_id
from gateways.platform.updates import (
    ANSWER_WITHIN,
    Recall,
    start_options,
    start_or_join,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from stores.abilities.ability_commands import AbilityLifeStore
from stores.abilities.capability_health import CapabilityHealthStore
from workflows.abilities.ability_messages import AbilityStart, ReprobeStart
from workflows.abilities.ability_workflow import AbilityWorkflow
from workflows.abilities.capability_reprobe_workflow import CapabilityReprobeWorkflow


class AbilityGateway:
    """Sends commands on abilities; every failure is raised as a ``Refusal``."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        abilities: AbilityLifeStore,
        *,
        answer_within: timedelta = ANSWER_WITHIN,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._abilities = abilities
        self._answer_within = answer_within

    async def send(self, order: AbilityOrder) -> AbilityReceipt:
        """Carries out one command, or returns the receipt stored under its key.

        Raises:
            Refusal: as ``AbilityLifeStore.check``; ``TEMPORAL_UNAVAILABLE`` when no worker answers.
        """

        async def attempt() -> AbilityReceipt:
            start = WithStartWorkflowOperation(
                AbilityWorkflow.run,
                AbilityStart(ability_id=order.ability_id),
                **start_options(
                    ability_workflow_id(order.ability_id),
                    self._task_queue,
                    kind="ability",
                    owner=order.caller_user_id,
                    summary=order.ability_id,
                ),
            )
            return await update_with_start(
                self._client,
                start,
                AbilityWorkflow.command,
                order,
                update_id=update_id_of(order.commit_key),
                within=self._answer_within,
            )

        return await update_or_recall(
            attempt,
            workflow_id=ability_workflow_id(order.ability_id),
            conflict="The ability is changing too fast; repeat the command.",
            recall=Recall(order.commit_key, self._abilities.recall),
            check=partial(self._abilities.check, order),
        )


_KEYS = UUID("c1a3b6c2-0f0e-5c55-8a55-6f0f0e5d1c77")


class CapabilityGateway:
    """Starts rechecks. The id of a canary derives from the idempotency key, so a repeated start counts once."""

    def __init__(self, client: Client, task_queue: str, health: CapabilityHealthStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._health = health

    async def reprobe(
        self, request: ReprobeRequest, caller: str, key: CommitKey, correlation_id: str
    ) -> ReprobeResponse:
        """Starts a recheck, or joins the one that runs.

        Raises:
            Refusal: as ``CapabilityHealthStore.recheckable``; ``TEMPORAL_UNAVAILABLE``, nothing was started.
        """
        status = await anyio.to_thread.run_sync(self._health.recheckable, request.capability_id, caller)
        options = start_options(
            capability_reprobe_id(request.capability_id),
            self._task_queue,
            kind=REPROBE_SCHEDULE,
            owner=caller,
            summary=f"recheck of {request.capability_id} by {caller}",
        )
        start = ReprobeStart(
            capability_id=request.capability_id,
            canaries=request.canaries,
            reprobe_id=str(uuid5(_KEYS, f"{caller}/{key.key}")),
            requested_by=caller,
            correlation_id=correlation_id,
        )
        await start_or_join(self._client, CapabilityReprobeWorkflow.run, start, options)
        return ReprobeResponse(
            capability_id=request.capability_id,
            canaries=request.canaries,
            health_status=status,
            workflow_id=options["id"],
        )
