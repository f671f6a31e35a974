"""The gate of skills: what is attached to a call before it is judged, and in which order it is judged."""

from pathlib import Path

import pytest

from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import BrokerService, Precondition
from stores.platform.journal.journal import JournalFilter, read_entries
from stores.skills.invocation_rows import AUDIT, RECORDS
from tests.e2e.skill_calling import ASKER, opened
from tests.fixtures.skill_folders import add_skill
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

ADMIN = (*ASKER, "admin")
INPUT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SENDS = {
    "effect": ToolEffect.SEND,
    "confirmation_required": True,
    "life_areas": ("work",),
    "side_effect_tags": ("writes_files",),
    "input_schema": INPUT,
}


@pytest.mark.everyday
@pytest.mark.acceptance("AI-10")
async def test_a_call_carries_its_ontology_before_it_is_judged(stack: Stack) -> None:
    admin = stack.learner("root", ADMIN)
    await add_skill(admin, stack.settings.workspace, "tell", **SENDS)
    at_home = {"input": {"text": "x"}, "context": {"life_areas": ["home", "work"]}}
    path = "/api/skills/tell/invocations"
    view = await admin.ok("POST", path, at_home)
    assert view["facts"] == {
        "skill_id": "tell",
        "input_schema_id": "trial.input",
        "output_schema_id": "trial.output",
        "effect": "send",
        "safety_level": "low",
        "side_effect_tags": ["writes_files"],
        "life_areas": ["work", "home"],
        "tool_id": "trial.handler",
    }
    with stack.database.read() as connection:
        (admitted,) = read_entries(connection, JournalFilter(streams=(AUDIT,), aggregate=view["workflow_id"]))
    assert (admitted.document["when"], admitted.document["facts"]) == ("admitted", view["facts"])
    rule = {"rule_id": "home", "decision": "deny", "reason": "not at home", "life_areas": ["home"]}
    await admin.ok("PUT", "/api/skills/policy", {"rules": [rule]})
    assert (await admin.refused("POST", path, at_home))[1]["code"] == "POLICY_DENIED"
    assert (await admin.ok("POST", path, {"input": {"text": "x"}}))["requires_confirmation"]


@pytest.mark.everyday
@pytest.mark.acceptance("AI-11", "AI-07")
@pytest.mark.acceptance("O-7")
async def test_a_call_is_judged_in_the_order_of_the_gate_and_a_denial_costs_no_budget(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address, skill_calls_per_minute=1) as stack:
        admin, reader = stack.learner("root", ADMIN), stack.learner("root", ("read",))
        needs = Precondition(name="pet", fact="Household pet")
        await add_skill(admin, stack.settings.workspace, "tell", preconditions=(needs,), **SENDS)
        rule = {"rule_id": "never", "decision": "deny", "reason": "never", "skills": ["tell"]}
        await admin.ok("PUT", "/api/skills/policy", {"rules": [rule]})
        path = "/api/skills/tell/invocations"
        # Each of these calls breaks every later condition as well.
        assert (await reader.refused("POST", path, {"input": {}}))[0] == 403
        assert (await admin.refused("POST", path, {"input": {}}))[1]["code"] == "INVALID_INPUT"
        good = {"input": {"text": "x"}}
        assert (await admin.refused("POST", path, good))[1]["code"] == "PRECONDITION_UNMET"
        fact = {"subject": "Household", "predicate": "pet", "object": "a cat"}
        await admin.ok("POST", "/api/skills/upsert_world_fact/invocations", {"input": fact}, prefer="wait=30")
        for _ in range(3):
            assert (await admin.refused("POST", path, good))[1]["code"] == "POLICY_DENIED"
        await admin.ok("PUT", "/api/skills/policy", {"rules": []})
        asks = await admin.ok("POST", path, good)
        assert asks["requires_confirmation"], asks
        assert (await admin.refused("POST", path, good))[1]["code"] == "BUDGET_EXCEEDED"
        where = f"/api/skills/invocations/{asks['invocation_id']}"
        await admin.ok("POST", f"{where}/confirm", {})
        await stack.client.get_workflow_handle(asks["workflow_id"]).result()
        with stack.database.read() as connection:
            told = read_entries(
                connection, JournalFilter(streams=(AUDIT, RECORDS), aggregate=asks["workflow_id"])
            )
        assert [one.document.get("when", "record") for one in told] == [
            "admitted",
            "confirmation",
            "before",
            "record",
            "after",
        ]


@pytest.mark.acceptance("AI-07")
async def test_a_service_that_a_skill_needs_and_that_is_not_configured_is_named(stack: Stack) -> None:
    admin = stack.learner("root", ADMIN)
    needs = Precondition(name="voice_app", service=BrokerService.VOICE)
    await add_skill(admin, stack.settings.workspace, "ring", preconditions=(needs,))
    status, error = await admin.refused("POST", "/api/skills/ring/invocations", {"input": {}})
    assert (status, error["code"], error["precondition"]) == (409, "PRECONDITION_UNMET", "voice_app")
    assert "voice" in error["message"]


@pytest.mark.acceptance("O-2")
async def test_what_goes_on_is_answered_202_and_a_run_that_failed_is_data(stack: Stack) -> None:
    admin = stack.learner("admin", ADMIN)
    broken = "async def handle(params, context):\n    raise ValueError('no')\n"
    await add_skill(admin, stack.settings.workspace, "breaks", broken)
    path = "/api/skills/breaks/invocations"
    begun = await admin.call("POST", path, {"input": {}})
    assert (begun.status_code, begun.json()["status"]) == (202, "queued")
    over = await admin.call("POST", path, {"input": {}}, prefer="wait=30")
    assert (over.status_code, over.json()["status"]) == (200, "failure")
    read = await admin.call("GET", f"/api/skills/invocations/{over.json()['invocation_id']}")
    error = read.json()["error"]
    assert (read.status_code, error["code"], error["http_status"]) == (200, "HANDLER_FAILED", 500)
    unknown = await admin.call("POST", path, {"input": {}, "unknown": 1})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (422, "VALIDATION_FAILED")
