"""The service ``ledger`` when its store fails: a documented code, and no booking without an answer."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from activities.skills.services.ledger_service import LedgerService
from activities.skills.services.offered import Asker, ask
from contracts.learning.observation import ToolEffect
from contracts.skills.catalog import SkillRoot
from contracts.skills.invocation_work import InvocationOrder
from skills.runtime.refusals import BrokerRefused
from stores.platform.database import Database
from stores.skills.services.ledger import Ledger
from tests.domain.skills.manifests import manifest
from tests.fixtures.databases import migrated

pytestmark = pytest.mark.anyio

ADDRESS = "0x" + "aB" * 20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    opened = Database(url)
    yield opened
    opened.close()


def asker() -> Asker:
    order = InvocationOrder(
        invocation_id=str(uuid4()),
        correlation_id="test",
        owner_user_id="alice",
        token_id=str(uuid4()),
        skill="debit-wallet",
        function_name="debit_wallet",
        version="1.0.0",
        root=SkillRoot.BUNDLED,
        digest="0" * 64,
        input_digest="0" * 64,
        effect=ToolEffect.UPDATE,
        created_at=datetime(2026, 11, 23, tzinfo=UTC),
    )
    return Asker(order, manifest(), 1, order.created_at)


async def code_of(store: Database, method: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(BrokerRefused) as refused:
        await ask(LedgerService(Ledger(store), Decimal(100)), asker(), method, arguments)
    assert "skill_" not in refused.value.message, "no table, no statement"
    return refused.value.code


@pytest.mark.produces("fetch-wallet-balance", "WALLET_ERROR")
@pytest.mark.produces("debit-wallet", "TX_FAILED")
@pytest.mark.acceptance("CH-50", "CH-56")
async def test_a_store_that_fails_is_told_by_the_documented_code(store: Database) -> None:
    with store.write() as connection:
        connection.execute(text("ALTER TABLE skill_wallets RENAME TO skill_wallets_gone"))
    assert await code_of(store, "balance", {"wallet_address": ADDRESS}) == "WALLET_ERROR"
    debit = {
        "wallet_address": ADDRESS,
        "amount": "1",
        "currency": "USDC",
        "tx_description": "a fee",
        "idempotency_key": str(uuid4()),
    }
    assert await code_of(store, "debit", debit) == "TX_FAILED"
