"""Worker and API are killed at every point of a debit by a skill, and of an effect that cannot be repeated.

Whatever happens, the same key takes its amount once, every invocation ends as it may, and nothing is left of a run.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import select

from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import BrokerService, SkillPermissions
from stores.skills.skill_tables import ledger_entries
from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.patient_learner import PatientLearner
from tests.faults.verdict import assert_sound
from tests.fixtures.skill_folders import add_skill
from tests.fixtures.stack import EVERYDAY_SCOPES

pytestmark = pytest.mark.anyio

OPEN = ("queued", "running", "awaiting_confirmation")

PAYS_ONCE = (
    "async def handle(params, context):\n"
    "    entry = await context.ledger.debit(**params)\n"
    "    return {'success': True, 'result': entry}\n"
)
PAYS_AND_WORKS_ON = (
    "import asyncio\n"
    "async def handle(params, context):\n"
    "    entry = await context.ledger.debit(**params)\n"
    "    await asyncio.sleep(2.5)\n"
    "    return {'success': True, 'result': entry}\n"
)


PAID = {
    "type": "object",
    "properties": {
        "wallet_address": {"type": "string"},
        "amount": {"type": "number"},
        "currency": {"type": "string"},
        "tx_description": {"type": "string"},
        "idempotency_key": {"type": "string"},
    },
}


@dataclass
class Payer:
    """A user with a wallet of 100, who pays 1 under one key."""

    deployment: Deployment
    person: PatientLearner
    address: str = field(default_factory=lambda: f"0x{token_hex(20)}")
    key: str = field(default_factory=lambda: str(uuid4()))

    async def open_wallet(self) -> None:
        wallet = {"wallet_address": self.address, "currency": "USDC", "owner_user_id": self.person.user}
        await self.person.ok("POST", "/api/wallets", wallet)
        await self.person.ok("POST", f"/api/wallets/{self.address}/fund", {"amount": "100"})

    async def pay(self, skill: str = "debit-wallet", request_key: str | None = None) -> dict[str, Any]:
        body = {
            "input": {
                "wallet_address": self.address,
                "amount": 1,
                "currency": "USDC",
                "tx_description": "a fee",
                "idempotency_key": self.key,
            }
        }
        headers = {"idempotency_key": request_key} if request_key is not None else {}
        return await self.person.ok("POST", f"/api/skills/{skill}/invocations", body, **headers)

    async def view(self, invocation_id: str) -> dict[str, Any]:
        return await self.person.ok("GET", f"/api/skills/invocations/{invocation_id}")

    async def comes_to(self, invocation_id: str, status: str) -> bool:
        return (await self.view(invocation_id))["status"] == status

    async def ended(self, invocation_id: str) -> str:
        """How it ended; what was taken is what is told, once at most, and the books are sound."""

        async def has_ended() -> bool:
            return (await self.view(invocation_id))["status"] not in OPEN

        await eventually(has_ended, "the invocation never ends")
        found = await self.view(invocation_id)
        taken = self.debits()
        assert len(taken) <= 1, "one key takes its amount once"
        if found["status"] == "success":
            assert [found["outputs"]["tx_id"]] == taken
        if found["status"] == "outcome_unknown":
            assert found["error"]["code"] == "OUTCOME_UNKNOWN"
            assert found["next_action"]
        wallet = await self.person.ok("GET", f"/api/wallets/{self.address}")
        assert float(wallet["balance"]) == 100 - len(taken)
        verify = self.deployment.projector.verify
        await eventually(lambda: verify().differences == (), "the files never agree with the store")
        await assert_sound(self.deployment)
        return str(found["status"])

    def debits(self) -> list[str]:
        """The bookings under the payer's key."""
        query = select(ledger_entries.c.tx_id).where(ledger_entries.c.key == self.key)
        with self.deployment.database.read() as connection:
            return list(connection.execute(query).scalars())


@pytest.fixture
async def payer(deployment: Deployment, http: httpx.AsyncClient) -> Payer:
    """A user of her own, with a wallet."""
    person = deployment.learner(http, (*EVERYDAY_SCOPES, "call", "admin"))
    payer = Payer(deployment, person)
    await payer.open_wallet()
    return payer


async def _own_skill(payer: Payer, handler: str, **fields: Any) -> str:
    """A skill that pays, with a name of the user's own."""
    name = f"pay-{payer.address[2:14]}"
    await add_skill(
        payer.person,
        payer.deployment.settings.workspace,
        name,
        handler,
        effect=ToolEffect.UPDATE,
        input_schema=PAID,
        permissions=SkillPermissions(services=(BrokerService.LEDGER,)),
        **fields,
    )
    return name


def _folders_of_runs(skill: str) -> list[Path]:
    found = Path(tempfile.gettempdir()).glob("apprentice-skill-*/skill/manifest.json")
    return [one for one in found if f'"{skill}"' in one.read_text()]


@pytest.mark.parametrize(
    "point",
    [
        "read_invocation.any.before",
        "read_invocation.any.after",
        "run_attempt.any.before",
        "begin.before",
        "begin.after",
        "debit.before",
        pytest.param("debit.after", marks=pytest.mark.acceptance("CH-53", "CH-01", "CH-56")),
        "finish.before",
        "finish.after",
        "run_attempt.any.after",
    ],
)
async def test_a_worker_killed_at_every_point_of_a_debit_takes_the_amount_once(
    payer: Payer, point: str
) -> None:
    deployment = payer.deployment
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        asked = await payer.pay()
        assert await payer.ended(asked["invocation_id"]) == "success"
        again = await payer.pay()
        assert await payer.ended(again["invocation_id"]) == "success"
    assert deployment.traps.has_sprung(point)
    assert len(payer.debits()) == 1


@pytest.mark.parametrize(
    ("point", "ends", "taken"),
    [
        ("run_attempt.any.before", "success", 1),
        ("begin.before", "success", 1),
        ("begin.after", "outcome_unknown", 0),
        ("debit.before", "outcome_unknown", 0),
        ("debit.after", "outcome_unknown", 1),
        ("finish.before", "outcome_unknown", 1),
        ("finish.after", "success", 1),
        ("run_attempt.any.after", "success", 1),
    ],
)
async def test_a_worker_killed_at_every_point_of_what_may_not_be_repeated(
    payer: Payer, point: str, ends: str, taken: int
) -> None:
    """X-14: what may have happened is left to a person."""
    deployment = payer.deployment
    skill = await _own_skill(payer, PAYS_ONCE)
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        asked = await payer.pay(skill)
        assert await payer.ended(asked["invocation_id"]) == ends
    assert deployment.traps.has_sprung(point)
    assert len(payer.debits()) == taken


async def test_the_next_worker_killed_while_it_finds_out_what_became_of_an_attempt(payer: Payer) -> None:
    deployment = payer.deployment
    for trap in ("debit.after", "inspect.after"):
        deployment.traps.set(trap)
    async with deployment.replacing_workers():
        asked = await payer.pay()
        assert await payer.ended(asked["invocation_id"]) == "success"
    assert deployment.traps.has_sprung("inspect.after")
    assert len(payer.debits()) == 1


async def test_a_worker_killed_while_the_handler_works_leaves_no_folder_behind(payer: Payer) -> None:
    """The next worker that starts removes the folders of the run."""
    deployment = payer.deployment
    skill = await _own_skill(payer, PAYS_AND_WORKS_ON, repeatable=True, max_attempts=3)
    deployment.traps.set("run_attempt.midway")
    async with deployment.replacing_workers():
        asked = await payer.pay(skill)
        assert await payer.ended(asked["invocation_id"]) == "success"
        await eventually(lambda: _folders_of_runs(skill) == [], "the folders of the killed run stay")
    assert deployment.traps.has_sprung("run_attempt.midway")
    assert len(payer.debits()) == 1


@pytest.mark.parametrize("point", ["admit.before", "admit.after", "answer.invocations"])
async def test_the_api_killed_before_and_after_it_let_a_debit_in_and_asked_again(
    payer: Payer, point: str
) -> None:
    deployment = payer.deployment
    deployment.traps.set(point)
    request_key = str(uuid4())
    with pytest.raises(httpx.TransportError):
        await payer.pay(request_key=request_key)
    await deployment.api_has_died()
    await deployment.start_api()
    answers = [await payer.pay(request_key=request_key) for _ in range(2)]
    assert answers[0]["invocation_id"] == answers[1]["invocation_id"]
    assert await payer.ended(answers[0]["invocation_id"]) == "success"
    assert (await payer.person.ok("GET", "/api/skills/invocations"))["total"] == 1
    assert len(payer.debits()) == 1


async def test_what_the_api_let_in_before_it_was_killed_is_run_although_nobody_asks_again(
    payer: Payer,
) -> None:
    deployment = payer.deployment
    deployment.traps.set("admit.after")
    with pytest.raises(httpx.TransportError):
        await payer.pay()
    await deployment.api_has_died()
    await deployment.start_api()
    (found,) = (await payer.person.ok("GET", "/api/skills/invocations"))["invocations"]
    assert await payer.ended(found["invocation_id"]) == "success"
    assert len(payer.debits()) == 1
