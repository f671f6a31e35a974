"""The one inbox: what waits for a person stands there once, whatever it is, and is gone when it is answered."""

from typing import Any
from uuid import uuid4

import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

WALLET = "0x" + "c0ffee" * 6 + "feed"
PROMPT = "money is asked about"


async def items(who: Learner, query: str = "") -> list[dict[str, Any]]:
    return (await who.ok("GET", f"/api/inbox{query}"))["items"]


@pytest.mark.acceptance("AM-16")
@pytest.mark.acceptance("X-1")
async def test_a_skill_that_asks_stands_in_the_inbox_until_it_is_answered(stack: Stack) -> None:
    admin = stack.learner("root", ("admin",))
    await admin.ok("POST", "/api/wallets", {"wallet_address": WALLET, "currency": "USDC"})
    rule = {"rule_id": "money", "decision": "ask", "reason": PROMPT, "skills": ["debit-wallet"]}
    await admin.ok("PUT", "/api/skills/policy", {"rules": [rule]})
    given = {
        "wallet_address": WALLET,
        "amount": 1,
        "currency": "USDC",
        "tx_description": "a fee",
        "idempotency_key": str(uuid4()),
    }
    waits = await admin.ok("POST", "/api/skills/debit-wallet/invocations", {"input": given})
    assert waits["requires_confirmation"]
    (item,) = await items(admin)
    assert (item["item_id"], item["kind"]) == (waits["invocation_id"], "confirmation")
    assert item["text"] == (waits["confirmation_prompt"] or "")
    assert item["arguments"] == given, "what is decided on is what would be run"
    assert item["expires_at"] == waits["expires_at"]
    assert await items(admin, "?kind=confirmation") == [item]
    assert await items(admin, "?kind=approval") == []
    other = stack.learner("bob", ("read", "admin"))
    assert await items(other) == [], "what waits for one is not shown to another"
    await admin.ok("POST", f"/api/skills/invocations/{item['item_id']}/confirm", {"approve": False})
    assert await items(admin) == []
