"""Gateway to the workflow of the catalog of skills: reload, approve."""

from datetime import timedelta
from typing import Any

from temporalio.client import Client, WithStartWorkflowOperation

from contracts.skills.catalog import (
    ApproveFolder,
    ApproveSkillResponse,
    CatalogCommand,
    InspectFolder,
    ReloadCatalog,
    ReloadSkillsResponse,
    SkillRecord,
)
from contracts.skills.registration import (
    RegisterSkill,
    RegisterSkillResponse,
    RegisterTool,
    RegisterToolResponse,
)
from contracts.workflow_ids import SKILL_CATALOG
from gateways.platform.updates import (
    ANSWER_WITHIN,
    Answer,
    Message,
    Update,
    start_options,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from workflows.skills.skill_catalog_workflow import SkillCatalogWorkflow
from workflows.skills.skill_messages import CatalogEnd, CatalogStart


class SkillCatalogGateway:
    """Sends commands on the catalog; every failure is raised as a ``Refusal``."""

    def __init__(self, client: Client, task_queue: str, *, answer_within: timedelta = ANSWER_WITHIN) -> None:
        self._client = client
        self._task_queue = task_queue
        self._answer_within = answer_within

    async def reload(self, order: ReloadCatalog) -> ReloadSkillsResponse:
        """Reads the roots again; the same key again gets the same answer.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE`` when no worker answers.
        """
        return await self._send(SkillCatalogWorkflow.reload, order, order)

    async def approve(self, order: ApproveFolder) -> ApproveSkillResponse:
        """Approves a folder as it was seen.

        Raises:
            Refusal: ``SKILL_NOT_FOUND``, ``SKILL_MALFORMED``, ``CONFLICT``, ``TEMPORAL_UNAVAILABLE``.
        """
        return await self._send(SkillCatalogWorkflow.approve, order, order)

    async def inspect(self, order: InspectFolder) -> SkillRecord:
        """A folder as it lies there, approved or not.

        Raises:
            Refusal: ``SKILL_NOT_FOUND``, ``SKILL_MALFORMED``, ``CONFLICT``, ``TEMPORAL_UNAVAILABLE``.
        """
        return await self._send(SkillCatalogWorkflow.inspect, order, order)

    async def register_tool(self, order: RegisterTool) -> RegisterToolResponse:
        """Adds or updates a tool.

        Raises:
            Refusal: ``SKILL_MALFORMED``, ``TEMPORAL_UNAVAILABLE``.
        """
        return await self._send(SkillCatalogWorkflow.register_tool, order, order)

    async def register_skill(self, order: RegisterSkill) -> RegisterSkillResponse:
        """Adds or updates a skill, which then awaits approval.

        Raises:
            Refusal: ``SKILL_MALFORMED``, ``CONFLICT``, ``TEMPORAL_UNAVAILABLE``.
        """
        return await self._send(SkillCatalogWorkflow.register_skill, order, order)

    async def _send(self, update: Update[Message, Answer], message: Message, order: CatalogCommand) -> Answer:
        async def attempt() -> Answer:
            start: WithStartWorkflowOperation[Any, CatalogEnd] = WithStartWorkflowOperation(
                SkillCatalogWorkflow.run,
                CatalogStart(),
                **start_options(
                    SKILL_CATALOG,
                    self._task_queue,
                    kind=SKILL_CATALOG,
                    owner=None,
                    summary="catalog of skills",
                ),
            )
            return await update_with_start(
                self._client,
                start,
                update,
                message,
                update_id=update_id_of(order.commit_key),
                within=self._answer_within,
            )

        return await update_or_recall(
            attempt,
            workflow_id=SKILL_CATALOG,
            conflict="The catalog is changing too fast; repeat the command.",
        )
