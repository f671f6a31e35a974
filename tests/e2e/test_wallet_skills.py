"""Debits and balances through the API: the gate, the workflow, the sandbox, the ledger and back."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio

ADDRESS = "0x" + "c0ffee" * 6 + "beef"
AGENT = ("read", "call")


async def funded_wallet(stack: Stack, owner: str, amount: str) -> Learner:
    admin = stack.learner("root", ("admin",))
    wallet = {"wallet_address": ADDRESS, "currency": "USDC", "owner_user_id": owner}
    await admin.ok("POST", "/api/wallets", wallet)
    await admin.ok("POST", f"/api/wallets/{ADDRESS}/fund", {"amount": amount})
    return admin


def debit(amount: float, key: str | None = None) -> dict[str, Any]:
    return {
        "wallet_address": ADDRESS,
        "amount": amount,
        "currency": "USDC",
        "tx_description": "a fee",
        "idempotency_key": key or str(uuid4()),
    }


async def run_skill(who: Learner, skill: str, given: dict[str, Any], **body: Any) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given, **body}, prefer="wait=30")


@pytest.mark.everyday
@pytest.mark.acceptance("CH-52", "CH-49", "CH-03", "AI-20", "AM-11")
@pytest.mark.acceptance("X-17", "X-26", "X-29", "X-36")
async def test_a_debit_is_booked_and_the_next_look_shows_it(stack: Stack) -> None:
    await funded_wallet(stack, "alice", "20")
    agent = stack.learner("alice", AGENT)
    before = await run_skill(agent, "fetch_wallet_balance", {"wallet_address": ADDRESS})
    assert (before["status"], before["outputs"]["balance"]) == ("success", 20), before
    kept = await run_skill(agent, "fetch-wallet-balance", {"wallet_address": ADDRESS})
    assert kept["cached"]
    done = await run_skill(agent, "debit-wallet", debit(0.25))
    assert done["status"] == "success", done
    assert done["outputs"]["new_balance"] == 19.75
    assert done["outputs"]["settlement"] == "local_ledger"
    after = await run_skill(agent, "fetch-wallet-balance", {"wallet_address": ADDRESS})
    assert (after["outputs"]["balance"], after["cached"]) == (19.75, False)
    assert set(done["record"]) == {
        "skill_name",
        "timestamp",
        "input_hash",
        "output_hash",
        "duration_ms",
        "retry_count",
        "success",
        "agent_id",
        "error_code",
    }
    listed = await agent.ok("GET", "/api/skills/invocations")
    newest_first = [one["invocation_id"] for one in (after, done, kept, before)]
    assert [one["invocation_id"] for one in listed["invocations"]] == newest_first
    shown = await agent.ok("GET", f"/api/skills/invocations/{done['invocation_id']}")
    assert shown["attempts"][0]["isolation"]["seccomp"]


@pytest.mark.acceptance("CH-51", "CH-54", "AI-14")
@pytest.mark.produces("*", "SKILL_NOT_FOUND")
@pytest.mark.produces("debit-wallet", "INVALID_ADDRESS", "INSUFFICIENT_BALANCE")
@pytest.mark.produces("fetch-wallet-balance", "INVALID_ADDRESS")
async def test_what_the_gate_refuses_reaches_no_handler(stack: Stack) -> None:
    await funded_wallet(stack, "alice", "1")
    agent = stack.learner("alice", AGENT)
    status, error = await agent.refused(
        "POST", "/api/skills/debit-wallet/invocations", {"input": {**debit(1), "wallet_address": "0x12"}}
    )
    assert (status, error["code"]) == (400, "INVALID_ADDRESS")
    assert error["fields"][0]["path"] == "wallet_address"
    wrong = {"input": {"wallet_address": ADDRESS[:-1]}}
    status, error = await agent.refused("POST", "/api/skills/fetch-wallet-balance/invocations", wrong)
    assert (status, error["code"]) == (400, "INVALID_ADDRESS")
    status, error = await agent.refused("POST", "/api/skills/no-such/invocations", {"input": {}})
    assert (status, error["code"]) == (404, "SKILL_NOT_FOUND")
    reader = stack.learner("alice", ("read",))
    status, error = await reader.refused(
        "POST", "/api/skills/debit-wallet/invocations", {"input": debit(0.5)}
    )
    assert (status, error["code"]) == (403, "FORBIDDEN")
    poor = await run_skill(agent, "debit-wallet", debit(5))
    assert poor["status"] == "failure"
    assert (poor["error"]["code"], poor["error"]["http_status"]) == ("INSUFFICIENT_BALANCE", 402)
    assert len(poor["attempts"]) == 1


@pytest.mark.acceptance("AI-13")
@pytest.mark.acceptance("O-12")
async def test_a_debit_beyond_the_days_money_is_refused_and_takes_nothing(stack: Stack) -> None:
    admin = await funded_wallet(stack, "alice", "500")
    agent = stack.learner("alice", AGENT)
    much = await run_skill(agent, "debit-wallet", debit(100.01))
    assert (much["status"], much["error"]["code"], much["error"]["http_status"]) == (
        "failure",
        "BUDGET_EXCEEDED",
        429,
    )
    assert "renewed at" in much["error"]["message"]
    assert (await admin.ok("GET", f"/api/wallets/{ADDRESS}"))["balance"] == "500"


@pytest.mark.acceptance("CH-53")
async def test_debits_of_one_key_at_once_take_one_amount(stack: Stack) -> None:
    await funded_wallet(stack, "alice", "20")
    agent = stack.learner("alice", AGENT)
    asked = debit(1, key=str(uuid4()))
    done = await asyncio.gather(*(run_skill(agent, "debit-wallet", asked) for _ in range(6)))
    assert {one["outputs"]["tx_id"] for one in done} == {done[0]["outputs"]["tx_id"]}
    balance = await run_skill(agent, "fetch-wallet-balance", {"wallet_address": ADDRESS})
    assert Decimal(str(balance["outputs"]["balance"])) == Decimal(19)


@pytest.mark.acceptance("AI-12", "AM-16")
@pytest.mark.produces("*", "POLICY_DENIED")
async def test_a_rule_of_policy_has_a_debit_ask_or_forbids_it(stack: Stack) -> None:
    admin = await funded_wallet(stack, "root", "20")
    rule = {"rule_id": "money", "decision": "ask", "reason": "money is mine", "skills": ["debit-wallet"]}
    await admin.ok("PUT", "/api/skills/policy", {"rules": [rule], "expected_version": 0})
    agent = stack.learner("root", AGENT)
    waiting = await agent.ok("POST", "/api/skills/debit-wallet/invocations", {"input": debit(1)})
    assert waiting["requires_confirmation"], waiting
    path = f"/api/skills/invocations/{waiting['invocation_id']}"
    assert (await agent.refused("POST", f"{path}/confirm", {}))[0] == 403
    await admin.ok("POST", f"{path}/confirm", {})
    view = await admin.ok("GET", path)
    for _ in range(200):
        if view["status"] not in ("queued", "running"):
            break
        await asyncio.sleep(0.05)
        view = await admin.ok("GET", path)
    assert view["status"] == "success", view
    status, error = await admin.refused("POST", f"{path}/confirm", {})
    assert (status, error["code"], error["retryable"]) == (409, "CONFLICT", False)
    rule |= {"decision": "deny"}
    await admin.ok("PUT", "/api/skills/policy", {"rules": [rule], "expected_version": 1})
    status, error = await agent.refused("POST", "/api/skills/debit-wallet/invocations", {"input": debit(1)})
    assert (status, error["code"], error["rule_id"]) == (403, "POLICY_DENIED", "money")


@pytest.mark.acceptance("AI-13")
@pytest.mark.produces("*", "BUDGET_EXCEEDED")
@pytest.mark.acceptance("O-12")
async def test_of_twenty_calls_at_once_a_budget_of_three_lets_three_pass(
    tmp_path: Path, temporal_address: str
) -> None:
    client = await connect(temporal_address)
    settings = stack_settings(tmp_path, skill_calls_per_minute=3)
    async with running_stack(settings, client) as stack:
        agent = stack.learner("alice", AGENT)
        asked = {"input": {"wallet_address": ADDRESS}, "dry_run": True}
        path = "/api/skills/fetch-wallet-balance/invocations"
        answers = await asyncio.gather(*(agent.call("POST", path, asked) for _ in range(20)))
    assert sorted(one.status_code for one in answers) == [200] * 3 + [429] * 17
    refused = next(one for one in answers if one.status_code == 429)
    assert refused.json()["error"]["code"] == "BUDGET_EXCEEDED"
    assert 0 < int(refused.headers["retry-after"]) <= 61
