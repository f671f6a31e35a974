"""Check-ins that fire and are cancelled, and a question that waits for its answer, walked through the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
from temporalio.testing import WorkflowEnvironment

from contracts.workflow_ids import check_in_workflow_id
from tests.fixtures.learner import Learner
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

MONTH = timedelta(days=30)


async def remind(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """A question that was answered, one check-in cancelled and one a month ahead that fires, a session cancelled."""
    who = stack.learner("reminded", (*EVERYDAY_SCOPES, "call"))
    asked = await _run(who, "ask_clarifying_question", {"question": "Which Anna?", "options": ["A", "B"]})
    (item,) = (await who.ok("GET", "/api/inbox?kind=question"))["items"]
    await who.ok("POST", f"/api/inbox/{item['item_id']}/answer", {"answer": "B"})
    with anyio.fail_after(30):
        while (await who.ok("GET", f"/api/skills/invocations/{asked['invocation_id']}"))[
            "status"
        ] != "success":
            await anyio.sleep(0.05)
    given_up, kept = [await _check_in(who, text) for text in ("Cello?", "Piano?")]
    await who.ok("POST", f"/api/memory/check-ins/{given_up}/cancel", {})
    await env.client.get_workflow_handle(check_in_workflow_id(given_up)).result()
    handle = env.client.get_workflow_handle(check_in_workflow_id(kept))
    await env.fast_forward(handle, MONTH + timedelta(hours=1))
    await handle.result()
    await who.create()
    await who.act("cancel", {"reason": "seen enough"})
    return who


async def _check_in(who: Learner, text: str) -> str:
    due = (datetime.now(UTC) + MONTH).isoformat()
    done = await _run(who, "schedule_check_in", {"text": text, "due_at": due})
    return str(done["outputs"]["check_in_id"])


async def _run(who: Learner, skill: str, given: dict[str, Any]) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given}, prefer="wait=30")
