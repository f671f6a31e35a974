from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select

from contracts.errors import ErrorCode, Refusal
from contracts.skills.wallets import CreateWalletRequest, Currency, DebitRequest
from stores.platform.database import Database
from stores.platform.journal.journal import JournalFilter, count_entries
from stores.skills.invocation_rows import AUDIT
from stores.skills.services.ledger import Allowance, Ledger, LedgerRefused
from stores.skills.skill_tables import ledger_entries, ledger_postings

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
ADDRESS = "0x" + "aB" * 20


@pytest.fixture
def ledger(store: Database) -> Ledger:
    found = Ledger(store)
    found.create(CreateWalletRequest(wallet_address=ADDRESS, currency=Currency.USDC), "alice", "test", NOW)
    return found


def _debit(amount: str, key: str | None = None, **fields: Any) -> DebitRequest:
    given: dict[str, Any] = {
        "wallet_address": ADDRESS,
        "currency": "USDC",
        "tx_description": "a fee",
        **fields,
    }
    return DebitRequest(amount=Decimal(amount), idempotency_key=key or str(uuid4()), **given)


def _fund(ledger: Ledger, amount: str, key: str = "fund-1") -> None:
    ledger.fund(ADDRESS, Decimal(amount), key, "alice", "test", NOW)


@pytest.mark.acceptance("CH-52")
def test_a_debit_leaves_exactly_the_difference(ledger: Ledger) -> None:
    _fund(ledger, "10.10")
    entry = ledger.debit(_debit("0.10"), "alice", "test")
    assert (entry.amount, entry.balance_after) == (Decimal("0.1"), Decimal(10))
    assert entry.tx_id.startswith("ledger:")


@pytest.mark.acceptance("CH-53")
def test_the_same_key_is_booked_once_and_gets_the_first_entry(ledger: Ledger) -> None:
    _fund(ledger, "100")
    asked = _debit("1")
    with ThreadPoolExecutor(20) as pool:
        running = [pool.submit(ledger.debit, asked, "alice", "test") for _ in range(200)]
        entries = [one.result() for one in running]
    assert {entry.tx_id for entry in entries} == {entries[0].tx_id}
    wallet = ledger.wallet(ADDRESS)
    assert wallet is not None
    assert wallet.balance == Decimal(99)


@pytest.mark.acceptance("CH-53")
@pytest.mark.produces("*", "IDEMPOTENCY_KEY_REUSED")
def test_a_key_of_another_debit_is_refused(ledger: Ledger) -> None:
    _fund(ledger, "100")
    ledger.debit(_debit("1", key="k"), "alice", "test")
    with pytest.raises(LedgerRefused) as refused:
        ledger.debit(_debit("2", key="k"), "alice", "test")
    assert refused.value.code == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.acceptance("CH-54", "CH-55")
def test_debits_at_once_never_take_more_than_there_is(store: Database, ledger: Ledger) -> None:
    _fund(ledger, "10")

    def one(_: int) -> str:
        try:
            return ledger.debit(_debit("0.07"), "alice", "test").tx_id
        except LedgerRefused as refused:
            return refused.code

    with ThreadPoolExecutor(20) as pool:
        came = list(pool.map(one, range(200)))
    done = sum(one.startswith("ledger:") for one in came)
    assert {one for one in came if not one.startswith("ledger:")} == {"INSUFFICIENT_BALANCE"}
    wallet = ledger.wallet(ADDRESS)
    assert wallet is not None
    assert done == 142
    assert wallet.balance == Decimal(10) - done * Decimal("0.07")
    with store.read() as connection:
        booked = len(connection.execute(select(ledger_entries.c.tx_id)).all())
        audited = count_entries(
            connection, JournalFilter(streams=(AUDIT,), aggregate=f"wallet/{ADDRESS.lower()}")
        )
        postings = connection.execute(select(ledger_postings.c.amount)).scalars()
        assert sum(map(int, postings)) == 0
    assert booked == done + 1
    # The wallet's own entry is one more.
    assert audited == booked + 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"wallet_address": "0x" + "0" * 40}, "INSUFFICIENT_BALANCE"),
        ({"currency": "ETH"}, "INVALID_INPUT"),
    ],
)
def test_what_the_wallet_is_not_is_refused(ledger: Ledger, fields: dict[str, Any], code: str) -> None:
    _fund(ledger, "10")
    with pytest.raises(LedgerRefused) as refused:
        ledger.debit(_debit("1", **fields), "alice", "test")
    assert refused.value.code == code


@pytest.mark.acceptance("O-16")
def test_more_digits_than_the_currency_has_are_refused(ledger: Ledger) -> None:
    _fund(ledger, "10")
    with pytest.raises(LedgerRefused, match="6 digits"):
        ledger.debit(_debit("0.0100001"), "alice", "test")


def test_another_owners_wallet_holds_nothing(ledger: Ledger) -> None:
    _fund(ledger, "10")
    with pytest.raises(LedgerRefused) as refused:
        ledger.debit(_debit("1"), "bob", "test")
    assert refused.value.code == "INSUFFICIENT_BALANCE"


@pytest.mark.acceptance("CH-48")
def test_addresses_that_differ_in_case_are_one_wallet(ledger: Ledger) -> None:
    _fund(ledger, "10")
    entry = ledger.debit(_debit("1", wallet_address=ADDRESS.lower()), "alice", "test")
    assert entry.balance_after == Decimal(9)


def test_funding_under_one_key_counts_once(ledger: Ledger) -> None:
    _fund(ledger, "5")
    _fund(ledger, "5")
    wallet = ledger.wallet(ADDRESS)
    assert wallet is not None
    assert wallet.balance == Decimal(5)


def test_an_address_is_one_wallets_alone(ledger: Ledger) -> None:
    other = CreateWalletRequest(wallet_address=ADDRESS, currency=Currency.ETH)
    with pytest.raises(Refusal) as refused:
        ledger.create(other, "alice", "test", NOW)
    assert refused.value.code is ErrorCode.CONFLICT


@pytest.mark.acceptance("O-16")
def test_eighteen_digits_are_exact(store: Database) -> None:
    ledger = Ledger(store)
    address = "0x" + "1" * 40
    ledger.create(CreateWalletRequest(wallet_address=address, currency=Currency.ETH), "alice", "test", NOW)
    ledger.fund(address, Decimal("12.000000000000000001"), "f", "alice", "test", NOW)
    entry = ledger.debit(_debit("2", wallet_address=address, currency="ETH"), "alice", "test")
    assert entry.balance_after == Decimal("10.000000000000000001")


def test_a_skill_spends_what_it_may_within_a_day_and_then_waits_for_it(ledger: Ledger) -> None:
    """O-12: money by user and skill; a key that was booked is answered whatever was spent since."""
    _fund(ledger, "300")
    allowance = Allowance("debit-wallet", Decimal(100))
    first = ledger.debit(_debit("60", key="first"), "alice", "test", allowance)
    ledger.debit(_debit("40"), "alice", "test", allowance)
    with pytest.raises(LedgerRefused) as refused:
        ledger.debit(_debit("0.01"), "alice", "test", allowance)
    renewed = (first.booked_at + timedelta(days=1)).isoformat(timespec="minutes")[:16]
    assert refused.value.code == "BUDGET_EXCEEDED"
    assert "100 of 100 USDC are spent" in refused.value.message
    assert f"renewed at {renewed}" in refused.value.message
    assert ledger.debit(_debit("60", key="first"), "alice", "test", allowance) == first
    assert ledger.debit(_debit("1"), "alice", "test", Allowance("other", Decimal(1))).amount == 1


def test_debits_at_once_never_spend_more_than_a_skill_may(ledger: Ledger) -> None:
    _fund(ledger, "100")

    def take(_: int) -> str:
        try:
            return ledger.debit(_debit("1"), "alice", "test", Allowance("debit-wallet", Decimal(7))).tx_id
        except LedgerRefused as refused:
            return refused.code

    with ThreadPoolExecutor(8) as pool:
        came = list(pool.map(take, range(20)))
    assert sum(one.startswith("ledger:") for one in came) == 7
    assert came.count("BUDGET_EXCEEDED") == 13
