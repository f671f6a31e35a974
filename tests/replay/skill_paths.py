"""The ways an invocation of a skill can go, and the commands on the catalog, walked through the API."""

from datetime import timedelta
from typing import Any

import anyio
from temporalio.testing import WorkflowEnvironment

from contracts.learning.observation import ToolEffect
from contracts.workflow_ids import skill_invocation_id
from tests.fixtures.learner import Learner
from tests.fixtures.skill_folders import add_skill
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

EXPIRY = timedelta(minutes=31)
SENDS: dict[str, Any] = {
    "effect": ToolEffect.SEND,
    "confirmation_required": True,
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
}

CHECKED = (
    "async def check(params, context):\n"
    "    if not params.get('text'):\n"
    "        return {'success': False, 'error': {'code': 'INVALID_INPUT', 'message': 'there is no text'}}\n"
    "    return {'success': True}\n"
    "async def handle(params, context):\n    return {'success': True}\n"
)
CLOSED = (
    "async def handle(params, context):\n    raise context.error('NETWORK_ERROR', 'nobody answers there')\n"
)
LONG = "import asyncio\nasync def handle(params, context):\n    await asyncio.sleep(60)\n"


async def run_skills(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """Invocations that succeeded, were tried again in vain, were confirmed, refused, refused by the handler's check,
    expired, were given up before and while they ran; the commands on the catalog; and a session cancelled.
    """
    who = stack.learner("skills_run", (*EVERYDAY_SCOPES, "call", "admin"))
    await _added(who, stack)
    await _run(who, "look")
    await _run(who, "call-closed-port")
    confirmed = await _run(who, "tell", {"text": "x"})
    await who.ok("POST", f"{_path(confirmed)}/confirm", {})
    await _comes_to(who, confirmed, "success")
    refused = await _run(who, "tell", {"text": "x"})
    await who.ok("POST", f"{_path(refused)}/confirm", {"approve": False, "reason": "not now"})
    await _run(who, "tell", {})
    forgotten = await _run(who, "tell", {"text": "x"})
    handle = env.client.get_workflow_handle(skill_invocation_id(forgotten["invocation_id"]))
    await env.fast_forward(handle, EXPIRY)
    await _comes_to(who, forgotten, "expired")
    given_up = await _run(who, "tell", {"text": "x"})
    await who.ok("POST", f"{_path(given_up)}/cancel", {"reason": "no longer wanted"})
    cut_short = await who.ok("POST", "/api/skills/work-long/invocations", {"input": {}})
    await _comes_to(who, cut_short, "running")
    stopped = await who.ok("POST", f"{_path(cut_short)}/cancel", {"reason": "takes too long"})
    assert stopped["status"] == "outcome_unknown"
    await who.create()
    await who.act("cancel", {"reason": "seen enough"})
    return who


async def _added(who: Learner, stack: Stack) -> None:
    workspace = stack.settings.workspace
    await add_skill(who, workspace, "look")
    await add_skill(who, workspace, "call-closed-port", CLOSED, max_attempts=2)
    await add_skill(who, workspace, "tell", CHECKED, has_check=True, **SENDS)
    await add_skill(who, workspace, "work-long", LONG, effect=ToolEffect.UPDATE, timeout_ms=90_000)
    await who.ok("POST", "/api/skills/reload", {})


async def _run(who: Learner, skill: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given or {}}, prefer="wait=30")


def _path(view: dict[str, Any]) -> str:
    return f"/api/skills/invocations/{view['invocation_id']}"


async def _comes_to(who: Learner, view: dict[str, Any], status: str) -> None:
    with anyio.fail_after(30):
        while (await who.ok("GET", _path(view)))["status"] != status:
            await anyio.sleep(0.05)
