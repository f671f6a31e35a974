"""Seeded crowds on invocations of skills: a key is one invocation, of answers the first holds, an effect is one."""

from decimal import Decimal
from random import Random
from typing import Any

import anyio
import httpx
import pytest

from stores.platform.journal.chains import verify_chains
from tests.e2e.test_wallet_skills import debit, funded_wallet, run_skill
from tests.fixtures.crowds import CROWDED, FEW_ROUNDS, all_answered, each_crowd
from tests.fixtures.learner import WAIT_AT_MOST_SECONDS, Learner
from tests.fixtures.stack import Stack

pytestmark = [*CROWDED]

BEFORE = Decimal(1000)
DEBITS = "/api/skills/debit-wallet/invocations"

ANSWERS: dict[str, tuple[str, dict[str, Any]]] = {
    "approve": ("confirm", {}),
    "refuse": ("confirm", {"approve": False, "reason": "as the crowd wants it"}),
    "cancel": ("cancel", {}),
}


@pytest.fixture
async def root(stack: Stack) -> Learner:
    """Who owns a wallet, may do everything, and is asked about each debit."""
    admin = await funded_wallet(stack, "root", str(BEFORE))
    rule = {"rule_id": "money", "decision": "ask", "reason": "money is mine", "skills": ["debit-wallet"]}
    await admin.ok("PUT", "/api/skills/policy", {"rules": [rule], "expected_version": 0})
    return admin


async def balance_of(who: Learner) -> Decimal:
    """What the wallet holds."""
    seen = await run_skill(who, "fetch-wallet-balance", {"wallet_address": debit(1)["wallet_address"]})
    return Decimal(str(seen["outputs"]["balance"]))


async def over(who: Learner, invocation_id: str) -> dict[str, Any]:
    """The invocation once it has ended."""
    with anyio.fail_after(WAIT_AT_MOST_SECONDS):
        while True:
            view = await who.ok("GET", f"/api/skills/invocations/{invocation_id}")
            if view["status"] not in ("queued", "running", "awaiting_confirmation"):
                return view
            await anyio.sleep(0.05)


@each_crowd
async def test_of_a_crowd_that_answers_an_invocation_the_first_answer_holds_and_a_debit_is_one(
    stack: Stack, root: Learner, crowd: int
) -> None:
    left = BEFORE
    for seed in range(FEW_ROUNDS):
        waiting = await root.ok("POST", DEBITS, {"input": debit(1)})
        assert waiting["requires_confirmation"], waiting
        invocation_id = waiting["invocation_id"]
        verbs = Random(seed).choices(list(ANSWERS), weights=(3, 1, 1), k=crowd)
        asked = [(verb, f"{invocation_id}-{number}") for number, verb in enumerate(verbs)]

        async def send(one: tuple[str, str], invocation_id: str = invocation_id) -> httpx.Response:
            action, body = ANSWERS[one[0]]
            path = f"/api/skills/invocations/{invocation_id}/{action}"
            return await root.call("POST", path, body, idempotency_key=one[1])

        answers = await all_answered(asked, send)
        refused = {one.json()["error"]["code"] for one in answers if not one.is_success}
        assert refused <= {"CONFLICT"}
        taken = {verb for verb, one in zip(verbs, answers, strict=True) if one.is_success}
        ended = await over(root, invocation_id)
        assert taken
        before, left = left, await balance_of(root)
        match ended["status"]:
            case "success":
                assert "approve" in taken
                assert left == before - 1
            case "outcome_unknown":
                # Given up while it ran: it is said to be open whether the debit was made.
                assert taken == {"approve", "cancel"}
                assert left in (before, before - 1)
            case _:
                assert ended["status"] == "cancelled", ended
                assert taken & {"refuse", "cancel"}
                assert left == before
    assert verify_chains(stack.database).intact


@each_crowd
async def test_of_a_crowd_that_asks_under_one_key_one_invocation_is_made(
    stack: Stack, root: Learner, crowd: int
) -> None:
    made: set[str] = set()
    for seed in range(FEW_ROUNDS):
        given = {"input": debit(1), "confirmed": True}
        keys = [f"debit-{crowd}-{seed}"] * crowd

        async def ask(key: str, given: dict[str, Any] = given) -> httpx.Response:
            return await root.call("POST", DEBITS, given, idempotency_key=key)

        answers = await all_answered(keys, ask)
        assert {one.is_success for one in answers} == {True}, answers[0].text
        (one_id,) = {one.json()["invocation_id"] for one in answers}
        assert (await over(root, one_id))["status"] == "success"
        made.add(one_id)
    assert await balance_of(root) == BEFORE - len(made)
    assert verify_chains(stack.database).intact
