"""Executable skills as tools for agents: each that may be run, under its function name (skills_interface.md).

A token without the scope ``call`` sees reads alone. A skill that has to be confirmed waits for a person; the agent is
told, and asks again with ``get_skill_run``.
"""

from datetime import timedelta
from typing import Any

import anyio.to_thread
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import Field

from api.agent_server.agent_tool import AgentRequest, AgentTool, structured
from api.services import Services
from contracts.base import Contract, Uuid
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolEffect
from contracts.platform.identity import Principal, Scope
from contracts.skills.catalog import SkillState
from contracts.skills.invocation import InvocationStatus, InvocationView, InvokeSkillRequest
from contracts.skills.manifest import SkillManifest
from domain.skills.arguments import CONFIRMED, exported_parameters, is_confirmed
from gateways.skills.choosing import Chosen
from stores.platform.canonical import canonical_json

WAITS = timedelta(seconds=20)
"""How long an agent's call waits for the end of a run before it is told to look again."""


ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": [status.value for status in InvocationStatus]},
        "invocation_id": {"type": "string"},
        "outputs": {"type": ["object", "null"], "description": "What the skill answers."},
        "warnings": {"type": "array", "items": {"type": "string"}},
        "error": {"type": "object"},
        "requires_confirmation": {"type": "boolean"},
        "confirmation_prompt": {"type": ["string", "null"]},
    },
    "required": ["status", "invocation_id", "outputs", "warnings"],
}
"""What every skill answers: how the run stands, and the outputs of the skill's own schema."""


class GetSkillRunInput(Contract):
    """Which run."""

    invocation_id: Uuid = Field(description="As the skill's answer named it.")


async def listed_skills(services: Services, caller: Principal) -> list[Tool]:
    """The skills that the caller may run, as tools."""
    ready = await anyio.to_thread.run_sync(lambda: services.skills.catalog.all([SkillState.READY]))
    return [
        _tool(one.manifest) for one in ready if one.manifest is not None and _allowed(one.manifest, caller)
    ]


async def skill_named(services: Services, name: str) -> Chosen | None:
    """The skill whose function has this name, in its newest version; none where no skill is listed under it.

    Raises:
        Refusal: it may not be run now (``SKILL_QUARANTINED``, ``VERSION_RETIRED``).
    """
    try:
        chosen = await anyio.to_thread.run_sync(services.skills.invocation_gateway.choose, name, None)
    except Refusal as refusal:
        if refusal.code is ErrorCode.SKILL_NOT_FOUND:
            return None
        raise
    return chosen if chosen.manifest.function_name == name else None


async def run_skill(asked: AgentRequest, chosen: Chosen, arguments: dict[str, Any]) -> CallToolResult:
    """Runs a skill, and waits a while for its end.

    Raises:
        Refusal: what the gate refuses.
    """
    gateway = asked.services.skills.invocation_gateway
    given = {field: value for field, value in arguments.items() if field != CONFIRMED}
    request = InvokeSkillRequest(input=given, confirmed=is_confirmed(arguments))
    key = asked.key_or_own(chosen.manifest.function_name, request)
    view = await gateway.invoke(chosen, request, asked.caller, key, asked.correlation_id, wait=WAITS)
    return _answer(view)


async def _get_run(asked: AgentRequest, given: GetSkillRunInput) -> CallToolResult:
    read = asked.services.skills.invocations.view
    return structured(await anyio.to_thread.run_sync(read, given.invocation_id, asked.caller.user_id))


def _allowed(manifest: SkillManifest, caller: Principal) -> bool:
    return caller.may(Scope.CALL if _acts(manifest) else Scope.READ)


def _acts(manifest: SkillManifest) -> bool:
    effects = {rule.effect for rule in manifest.actions} | {manifest.effect}
    return effects != {ToolEffect.READ}


def _tool(manifest: SkillManifest) -> Tool:
    return Tool(
        name=manifest.function_name,
        title=manifest.name.replace("-", " ").capitalize(),
        description=manifest.function_description or manifest.description,
        input_schema=exported_parameters(manifest),
        output_schema=ANSWER_SCHEMA,
        annotations=ToolAnnotations(
            read_only_hint=not _acts(manifest),
            idempotent_hint=manifest.repeatable,
            open_world_hint=manifest.leaves_device,
        ),
    )


def _answer(view: InvocationView) -> CallToolResult:
    """The outcome as an agent reads it: what it says, then its data."""
    failed = view.status in (InvocationStatus.FAILURE, InvocationStatus.OUTCOME_UNKNOWN)
    body: dict[str, Any] = {
        "status": view.status.value,
        "invocation_id": view.invocation_id,
        "outputs": view.outputs,
        "warnings": list(view.warnings),
    }
    if view.error is not None:
        body["error"] = view.error.model_dump(mode="json", exclude_none=True)
    if view.requires_confirmation:
        body |= {"requires_confirmation": True, "confirmation_prompt": view.confirmation_prompt}
    words = view.message or (view.error.message if view.error is not None else _words(view))
    content = [TextContent(text=words), TextContent(text=canonical_json(body))]
    return CallToolResult(content=[*content], structured_content=body, is_error=failed)


def _words(view: InvocationView) -> str:
    if view.requires_confirmation:
        return (
            f"{view.confirmation_prompt or 'A person has to confirm it.'} It waits for a person; tell the user, and"
            " ask get_skill_run how it stands. Do not repeat it."
        )
    if view.status in (InvocationStatus.QUEUED, InvocationStatus.RUNNING):
        return "It still runs; ask get_skill_run how it stands. Do not repeat it."
    return f"{view.skill}: {view.status.value.replace('_', ' ')}."


SKILL_TOOLS: tuple[AgentTool[Any], ...] = (
    AgentTool(
        name="get_skill_run",
        title="Look at a run of a skill",
        description="How a run of a skill stands, and what came of it.",
        scope=Scope.READ,
        takes=GetSkillRunInput,
        answers=InvocationView,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        run=_get_run,
    ),
)
