"""Skills as they live on: watched, failing, deprecated, changed, and asked for by many at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import pytest

from contracts.platform.identity import ACCESS_TOKEN_PREFIX
from contracts.skills.manifest import SkillBackend, ToolRecord
from gateways.platform.payload_signing import payload_keys
from tests.fixtures.learner import Learner
from tests.fixtures.skill_folders import add_skill, approve_skill, write_skill
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio

ADDRESS = "0x" + "ab" * 20
RIGHTS = (*EVERYDAY_SCOPES, "call", "admin")
FAILS = "async def handle(params, context):\n    raise ValueError('broken')\n"


async def run(who: Learner, skill: str, given: dict[str, Any] | None = None, **body: Any) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given or {}, **body}, prefer="wait=60")


async def test_a_run_is_an_observation_of_the_session_that_its_caller_names(stack: Stack) -> None:
    """Names and outcome, never a value; a session of somebody else's is shown nothing."""
    who, other = stack.learner("alice", RIGHTS), stack.learner("bob", RIGHTS)
    text: dict[str, Any] = {"input_schema": {"type": "object", "properties": {"text": {"type": "string"}}}}
    await add_skill(who, stack.settings.workspace, "look-up", **text)
    for one in (who, other):
        await one.create(observation_mode="inside_agent")
    done = await run(who, "look-up", {"text": "canary"}, context={"learn_session_id": who.session_id})
    await run(who, "look-up", {"text": "canary"}, context={"learn_session_id": other.session_id})
    path = f"/api/learn/sessions/{who.session_id}/observations"
    (seen,) = (await who.ok("GET", path))["observations"]
    assert (seen["adapter_kind"], seen["control_surface"]) == ("wrapper_receipt", "wrapper_script")
    assert (seen["target_ref"], seen["before_state_ref"]) == ("skills/look_up", "with text")
    assert seen["after_state_ref"] == "ok"
    assert "canary" not in str(seen)
    theirs = f"/api/learn/sessions/{other.session_id}/observations"
    assert (await other.ok("GET", theirs))["observations"] == []
    assert done["status"] == "success"


@pytest.mark.thorough
@pytest.mark.acceptance("X-34")
async def test_a_lesson_that_ran_a_privileged_skill_is_reported_as_high(stack: Stack) -> None:
    """The class of DOC3's validation report has three values; without the skill the lesson's commands are low."""
    who = stack.learner("alice", RIGHTS)
    await add_skill(who, stack.settings.workspace, "sign-off", safety_level="privileged", effect="create")
    classes: list[str] = []
    for skill in (None, "sign-off"):
        await who.create(observation_mode="mixed")
        await who.act("start")
        await who.act("mark-goal", {"goal_description": "Summarise the sales figures"})
        await who.observe()
        if skill is not None:
            signed = await run(who, skill, confirmed=True, context={"learn_session_id": who.session_id})
            assert signed["status"] == "success", signed
        await who.act("stop")
        await who.propose()
        assert await who.prove() == "ready_for_review"
        stack.projector.catch_up()
        written = stack.settings.memory_root / "system/learning/validation_reports.jsonl"
        report = json.loads(written.read_text(encoding="utf-8").splitlines()[-1])
        assert report["proposal_id"] == who.proposal_id
        classes.append(report["safety_class"])
        await who.propose_act("reject", {"reason": "not this one"})
    assert classes == ["low", "high"]


async def test_a_skill_that_keeps_failing_is_refused_until_a_person_approves_it_again(stack: Stack) -> None:
    who = stack.learner("alice", RIGHTS)
    await add_skill(who, stack.settings.workspace, "breaks", FAILS)
    for _ in range(5):
        assert (await run(who, "breaks"))["error"]["code"] == "HANDLER_FAILED"
    status, error = await who.refused("POST", "/api/skills/breaks/invocations", {"input": {}})
    assert (status, error["code"]) == (403, "SKILL_QUARANTINED")
    shown = await who.ok("GET", "/api/skills/breaks")
    assert shown["state"] == "quarantined"
    assert "failed 5 times" in shown["reason"]
    await who.ok("POST", "/api/skills/reload", {})
    assert (await who.ok("GET", "/api/skills/breaks"))["state"] == "quarantined"
    await approve_skill(who, "breaks")
    assert (await run(who, "breaks"))["error"]["code"] == "HANDLER_FAILED"
    metrics = (await stack.http.get("/metrics")).text
    assert 'apprentice_skill_breaks_errors_total{error_code="HANDLER_FAILED"} 6.0' in metrics


SAYS_SECRETS = """
async def handle(params, context):
    print("log", params["key"], params["token"])
    if params["fails"]:
        raise context.error("NOT_GOOD", "no " + params["key"], token=params["token"])
    return {"success": True, "message": params["key"], "outputs": {params["token"]: [params["key"], "kept"]}}
"""


async def test_a_handler_tells_no_secret_of_this_installation(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    """However it came by one: not in its answer, its failure, its log, and not in the history."""
    who = stack.learner("alice", RIGHTS)
    await add_skill(
        who,
        stack.settings.workspace,
        "says-secrets",
        SAYS_SECRETS,
        input_schema={"type": "object", "additionalProperties": True},
    )
    (key,) = payload_keys(stack.settings.data_dir).ring().keys.values()
    given = {"key": key.hex(), "token": ACCESS_TOKEN_PREFIX + "m" * 43}
    capsys.readouterr()
    for fails in (False, True):
        done = await run(who, "says-secrets", {**given, "fails": fails})
        again = await who.ok("GET", f"/api/skills/invocations/{done['invocation_id']}")
        told = f"{done}{again['error']}{again['outputs']}{again['message']}{capsys.readouterr().out}"
        assert "log [MASKED] [MASKED]" in told, told
        assert not [name for name, secret in given.items() if secret in told]
        history = await stack.client.get_workflow_handle(done["workflow_id"]).fetch_history()
        assert not [name for name, secret in given.items() if secret in history.to_json()]


@pytest.mark.acceptance("AI-17")
async def test_of_several_tools_the_one_of_this_environment_is_run(stack: Stack) -> None:
    who, root = stack.learner("alice", RIGHTS), stack.settings.workspace / "skills"

    def says(where: str) -> str:
        return f"async def handle(params, context):\n    return {{'success': True, 'message': '{where}'}}\n"

    def tool(where: Literal["dev", "test", "production"], file: str) -> ToolRecord:
        return ToolRecord(
            tool_id=f"look.{where}", backend=SkillBackend.PYTHON, entrypoint=file, allowed_env=(where,)
        )

    tools = (tool("test", "handler.py"), tool("production", "real.py"))
    folder = write_skill(root, "look", says("a test"), tools=tools)
    (folder / "real.py").write_text(says("for real"), encoding="utf-8")
    await approve_skill(who, "look")
    assert (await run(who, "look"))["message"] == "for real"
    await add_skill(who, stack.settings.workspace, "tried", says("a test"), tools=tools[:1])
    status, error = await who.refused("POST", "/api/skills/tried/invocations", {"input": {}})
    assert (status, error["code"], error["precondition"]) == (409, "PRECONDITION_UNMET", "allowed_env")
    assert "may run in production" in error["message"]


@pytest.mark.acceptance("CH-65")
async def test_required_inputs_change_with_a_new_major_alone(stack: Stack) -> None:
    who, root = stack.learner("alice", RIGHTS), stack.settings.workspace / "skills"

    def schema(*required: str) -> dict[str, Any]:
        texts = {name: {"type": "string"} for name in ("a", "b")}
        return {"input_schema": {"type": "object", "properties": texts, "required": list(required)}}

    await add_skill(who, stack.settings.workspace, "grows", **schema("a"))
    _rewrite(root, "grows", version="1.1.0", **schema("a", "b"))
    status, error = await who.refused("POST", "/api/skills/grows/approve", {})
    assert (status, error["code"]) == (422, "SKILL_MALFORMED")
    assert "required inputs changed (b) without a new major" in error["message"]
    _rewrite(root, "grows", version="2.0.0", **schema("a", "b"))
    await approve_skill(who, "grows")
    assert (await who.ok("GET", "/api/skills/grows"))["version"] == "2.0.0"


@pytest.mark.acceptance("CH-66")
async def test_a_deprecated_version_says_in_every_answer_until_when_it_is_served(stack: Stack) -> None:
    who = stack.learner("alice", RIGHTS)
    since = datetime.now(UTC) - timedelta(days=3)
    await add_skill(who, stack.settings.workspace, "old", deprecated_since=since, cache_ttl_ms=60_000)
    for cached in (False, True):
        answer = await run(who, "old")
        assert answer["cached"] is cached
        (warning,) = answer["warnings"]
        assert f"served until {since + timedelta(days=30):%Y-%m-%d}" in warning
    gone = datetime.now(UTC) - timedelta(days=31)
    await add_skill(who, stack.settings.workspace, "older", deprecated_since=gone)
    status, error = await who.refused("POST", "/api/skills/older/invocations", {"input": {}})
    assert (status, error["code"]) == (410, "VERSION_RETIRED")


@pytest.fixture
async def busy_stack(tmp_path: Path, temporal_address: str) -> AsyncIterator[Stack]:
    """An installation whose budget lets two hundred calls wait for their turn."""
    settings = stack_settings(
        tmp_path, skill_calls_per_minute=10_000, skill_calls_per_hour=10_000, skill_waits_seconds=300
    )
    async with running_stack(settings, await connect(temporal_address)) as stack:
        yield stack


@pytest.mark.acceptance("CH-53", "CH-54")
@pytest.mark.thorough
@pytest.mark.parametrize("one_key", [False, True])
async def test_two_hundred_debits_at_once_take_what_there_is_and_no_more(
    busy_stack: Stack, one_key: bool
) -> None:
    """Through the gate, the workflow and the sandbox."""
    who = busy_stack.learner("alice", RIGHTS)
    wallet = {"wallet_address": ADDRESS, "currency": "USDC", "owner_user_id": "alice"}
    await who.ok("POST", "/api/wallets", wallet)
    await who.ok("POST", f"/api/wallets/{ADDRESS}/fund", {"amount": "10"})
    key = str(uuid4())

    def debit() -> dict[str, Any]:
        return {
            "wallet_address": ADDRESS,
            "amount": 0.07,
            "currency": "USDC",
            "tx_description": "a fee",
            "idempotency_key": key if one_key else str(uuid4()),
        }

    views = await asyncio.gather(*(_ended(who, debit()) for _ in range(200)))
    done = [one for one in views if one["status"] == "success"]
    assert len(done) == (200 if one_key else 142)
    assert {one["error"]["code"] for one in views if one["error"]} <= {"INSUFFICIENT_BALANCE"}
    booked = {one["outputs"]["tx_id"] for one in done}
    assert len(booked) == (1 if one_key else 142)
    left = await who.ok("GET", f"/api/wallets/{ADDRESS}")
    assert Decimal(str(left["balance"])) == 10 - len(booked) * Decimal("0.07")


async def _ended(who: Learner, given: dict[str, Any]) -> dict[str, Any]:
    path = "/api/skills/debit-wallet/invocations"
    view: dict[str, Any] = (
        await who.http.post(
            path,
            json={"input": given},
            headers={"authorization": f"Bearer {who.secret}", "prefer": "wait=200"},
            timeout=300,
        )
    ).json()
    return view


def _rewrite(root: Path, name: str, **fields: Any) -> None:
    for file in (root / name).iterdir():
        file.unlink()
    (root / name).rmdir()
    write_skill(root, name, **fields)
