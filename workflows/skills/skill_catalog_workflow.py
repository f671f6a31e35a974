"""Workflow of the skill catalog: its commands (reload, approve, inspect, register) run one at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.skills.catalog_activities import SkillCatalogActivities
    from activities.skills.registration_activities import SkillRegistrationActivities
    from contracts.skills.catalog import (
        ApproveFolder,
        ApproveSkillResponse,
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
    from workflows.platform.presets import CHECK_CALL
    from workflows.platform.refusals import application_error_in
    from workflows.skills.skill_messages import CatalogEnd, CatalogStart


@workflow.defn(name="SkillCatalogWorkflow")
class SkillCatalogWorkflow:
    """Takes commands as updates, in the order they come, and closes when none is under way.

    It remembers nothing: the folders, the allowlist and the store are the catalog.
    """

    @workflow.init
    def __init__(self, start: CatalogStart) -> None:
        self._turn = asyncio.Lock()
        self._asked = 0
        self._answered = 0

    @workflow.run
    async def run(self, start: CatalogStart) -> CatalogEnd:
        """Lives until everybody who asked has been answered."""
        await workflow.wait_condition(lambda: self._asked > 0 and workflow.all_handlers_finished())
        return CatalogEnd(answered=self._answered)

    @workflow.update(description="Read the roots again")
    async def reload(self, order: ReloadCatalog) -> ReloadSkillsResponse:
        async with self._in_turn():
            found = await workflow.execute_local_activity_method(
                SkillCatalogActivities.reload_catalog, order, summary="reload", **CHECK_CALL
            )
            workflow.set_current_details(
                f"**{found.ready} ready**, {found.awaiting_approval} awaiting approval, {found.malformed} malformed"
            )
            return found

    @workflow.update(description="Approve a folder as it was seen")
    async def approve(self, order: ApproveFolder) -> ApproveSkillResponse:
        async with self._in_turn():
            return await workflow.execute_local_activity_method(
                SkillCatalogActivities.approve_folder, order, summary=f"approve {order.name}", **CHECK_CALL
            )

    @workflow.update(description="Read a folder that nobody has approved")
    async def inspect(self, order: InspectFolder) -> SkillRecord:
        async with self._in_turn():
            return await workflow.execute_local_activity_method(
                SkillCatalogActivities.inspect_folder, order, summary=f"inspect {order.name}", **CHECK_CALL
            )

    @workflow.update(description="Add or update a tool")
    async def register_tool(self, order: RegisterTool) -> RegisterToolResponse:
        async with self._in_turn():
            return await workflow.execute_local_activity_method(
                SkillRegistrationActivities.register_tool,
                order,
                summary=f"register tool {order.tool.tool_id}",
                **CHECK_CALL,
            )

    @workflow.update(description="Add or update a skill")
    async def register_skill(self, order: RegisterSkill) -> RegisterSkillResponse:
        async with self._in_turn():
            return await workflow.execute_local_activity_method(
                SkillRegistrationActivities.register_skill,
                order,
                summary=f"register {order.name}",
                **CHECK_CALL,
            )

    @asynccontextmanager
    async def _in_turn(self) -> AsyncGenerator[None]:
        """One command at a time, counted; what its activity failed with is what the caller is refused with."""
        self._asked += 1
        async with self._turn:
            try:
                yield
            except FailureError as error:
                raise application_error_in(error) from None
            finally:
                self._answered += 1
