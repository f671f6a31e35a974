"""The way from the API to an ability's workflow: a command is one update-with-start."""

from datetime import timedelta

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from api.opening_update import ANSWER_WITHIN, REOPENINGS, update_or_open
from api.own_keys import OWN_KEY_PREFIX
from api.update_errors import WorkflowWasClosing
from contracts.abilities.life import AbilityOrder, AbilityReceipt
from contracts.errors import ErrorCode, Refusal
from stores.ability_life import AbilityLifeStore
from workflows.ability_messages import AbilityStart
from workflows.ability_workflow import AbilityWorkflow
from workflows.ids import ability_workflow_id
from workflows.session_view import search_attributes_of

UPDATE = "command"
"""The one update of the workflow."""


class AbilityGateway:
    """Sends commands on abilities. Every refusal comes back as a ``Refusal``, whoever made it."""

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
        """One command, or what its key was answered the first time.

        Raises:
            Refusal: what the store refuses; ``TEMPORAL_UNAVAILABLE`` when nobody answers.
        """
        own_key = order.commit_key.key.startswith(OWN_KEY_PREFIX)
        recalled = None if own_key else await self._recall(order)
        if recalled is not None:
            return recalled
        try:
            # A command without prospect need not open a workflow; the one that is taken is checked again.
            await anyio.to_thread.run_sync(self._abilities.check, order)
            return await self._update_until_open(order)
        except Refusal:
            # It may have been carried out meanwhile, under the same key or by a worker whose word was lost, and
            # its state now refuses a second time.
            recalled = await self._recall(order)
            if recalled is None:
                raise
            return recalled

    async def _recall(self, order: AbilityOrder) -> AbilityReceipt | None:
        return await anyio.to_thread.run_sync(self._abilities.recall, order.commit_key)

    async def _update_until_open(self, order: AbilityOrder) -> AbilityReceipt:
        for _ in range(REOPENINGS):
            try:
                return await self._update(order)
            except WorkflowWasClosing:
                continue
        raise Refusal(ErrorCode.CONFLICT, "The ability is changing too fast; repeat the command.")

    async def _update(self, order: AbilityOrder) -> AbilityReceipt:
        start = WithStartWorkflowOperation(
            AbilityWorkflow.run,
            AbilityStart(ability_id=order.ability_id),
            id=ability_workflow_id(order.ability_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=order.ability_id,
            search_attributes=search_attributes_of("ability", order.caller_user_id),
        )
        return await update_or_open(
            self._client,
            start,
            UPDATE,
            order,
            AbilityReceipt,
            update_id=f"{order.commit_key.owner_user_id}/{order.commit_key.key}",
            within=self._answer_within,
        )
