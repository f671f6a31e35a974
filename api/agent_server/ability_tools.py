"""MCP tools for abilities: find one, read its skill, verify a checkpoint."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio.to_thread
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import ValidationError

from api.agent_server.agent_tool import AgentRequest, AgentTool, invalid_arguments, structured
from contracts.abilities.lookup import AbilityLookupQuery, Fit
from contracts.errors import ErrorCode, Refusal
from contracts.learning.checkpoints import CheckpointVerificationReceipt, VerifyCheckpointRequest
from contracts.mcp.agent_tools import (
    FindAbilityInput,
    FindAbilityOutput,
    FoundAbility,
    ReadSkillInput,
    ReadSkillOutput,
    SkillFile,
    VerifyCheckpointInput,
)
from contracts.platform.identity import Scope
from domain.abilities.matching import score_match
from domain.abilities.not_proved import HOW_TO_FOLLOW_IT, not_proved
from stores.abilities.ability_files import CANONICAL
from stores.platform.projection.documents import list_documents, read_document

_SKILL = "SKILL.md"


async def _find_ability(asked: AgentRequest, given: FindAbilityInput) -> CallToolResult:
    return structured(await anyio.to_thread.run_sync(partial(_found, asked, given)))


def _found(asked: AgentRequest, given: FindAbilityInput) -> FindAbilityOutput:
    store, user = asked.services.abilities, asked.caller.user_id
    query = AbilityLookupQuery(user_query=given.query, project_id=given.project_id)
    found: list[FoundAbility] = []
    index, decide = store.indexes().by_fit, asked.services.decide_fit
    for one in index.fitting(query, caller_user_id=user, decide=decide):
        if not one.usable_now:
            continue
        detail = store.detail(one.ability_id, user)
        entry = detail.ability
        found.append(
            FoundAbility(
                ability_id=one.ability_id,
                title=entry.title,
                score=score_match(given.query, entry, given.project_id).score,
                fits=one.fit is Fit.YES,
                fit=one.fit,
                reasons=one.reasons,
                trigger_phrases=entry.trigger_phrases,
                install_lane=one.install_lane,
                not_proved=not_proved(detail.unproved, detail.imported_from),
            )
        )
    now = datetime.now(UTC)
    behind = tuple(reason.meaning for reason in asked.services.freshness.look(now).reasons)
    return FindAbilityOutput(abilities=tuple(found), next_step=_after_finding(found), behind=behind)


def _after_finding(found: Sequence[FoundAbility]) -> str:
    if not found:
        return "No installed ability fits; do the task your own way."
    if not found[0].fits:
        return "One may fit: ask the user before you use it, or do the task your own way."
    if found[0].not_proved:
        return (
            "Call read_skill with the first ability_id. Not all of it is proved (not_proved): "
            f"{HOW_TO_FOLLOW_IT}."
        )
    return "Call read_skill with the first ability_id and follow what it says."


async def _read_skill(asked: AgentRequest, given: ReadSkillInput) -> CallToolResult:
    return structured(await anyio.to_thread.run_sync(partial(_read, asked, given)))


def _read(asked: AgentRequest, given: ReadSkillInput) -> ReadSkillOutput:
    detail = asked.services.abilities.detail(given.ability_id, asked.caller.user_id)
    entry = detail.ability
    if not entry.usable_now or entry.skill_slug is None:
        why = entry.reason_unusable or "it is not in service"
        raise Refusal(ErrorCode.INSTALL_LANE_DENIED, f"The ability cannot be used now: {why}.")
    home = f"{CANONICAL}/{entry.skill_slug}/"
    with asked.services.database.read() as connection:
        contents = {
            path.removeprefix(home): read_document(connection, "memory", path) or b""
            for path in list_documents(connection, "memory", home.rstrip("/"))
        }
    content = contents.get(given.path)
    if content is None:
        raise Refusal(
            ErrorCode.NOT_FOUND,
            f"The skill has no file of that name; it has {', '.join(sorted(contents))}."[:240],
        )
    said = not_proved(detail.unproved, detail.imported_from)
    return ReadSkillOutput(
        ability_id=entry.ability_id,
        title=entry.title,
        version=detail.version,
        path=given.path,
        content=content.decode("utf-8", errors="replace"),
        files=tuple(SkillFile(path=path, bytes=len(body)) for path, body in sorted(contents.items())),
        not_proved=f"{said} So {HOW_TO_FOLLOW_IT}." if said else None,
    )


async def _verify_checkpoint(asked: AgentRequest, given: VerifyCheckpointInput) -> CallToolResult:
    try:
        request = VerifyCheckpointRequest.model_validate(given.model_dump())
    except ValidationError as error:
        raise invalid_arguments(error) from None
    key = asked.key_for("verify_checkpoint", given)
    verify = asked.services.checkpoints.verify
    receipt = await anyio.to_thread.run_sync(
        partial(verify, request, asked.caller.user_id, key, asked.correlation_id)
    )
    return structured(receipt)


ABILITY_TOOLS: tuple[AgentTool[Any], ...] = (
    AgentTool(
        name="find_ability",
        title="Find an ability",
        description="Find out whether an ability is installed that does what the user asks for. Call it before "
        "you work out a multi-step task yourself. Lists what fits and can be used now, best first.",
        scope=Scope.READ,
        takes=FindAbilityInput,
        answers=FindAbilityOutput,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        run=_find_ability,
    ),
    AgentTool(
        name="read_skill",
        title="Read a skill",
        description="Read how an installed ability is carried out: its SKILL.md, or one of the files that come "
        "with it. The answer lists those files.",
        scope=Scope.READ,
        takes=ReadSkillInput,
        answers=ReadSkillOutput,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        run=_read_skill,
    ),
    AgentTool(
        name="verify_checkpoint",
        title="Report a checkpoint",
        description="Report what became of a checkpoint of the skill that you follow: reached, skipped or "
        "failed, with what you saw. Your word is recorded and improves the ability.",
        scope=Scope.OBSERVE,
        takes=VerifyCheckpointInput,
        answers=CheckpointVerificationReceipt,
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
        run=_verify_checkpoint,
    ),
)
