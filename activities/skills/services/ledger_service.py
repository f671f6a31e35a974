"""The service ``ledger``: balances and debits of the local ledger, for handlers of skills (X-7, CH-48…CH-56)."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from activities.skills.services.offered import Asker, Method
from contracts.base import Contract
from contracts.skills.wallets import DebitRequest, WalletAddress
from skills.runtime.broker import BrokerRefused
from stores.skills.services.ledger import Allowance, Ledger, LedgerRefused

SETTLEMENT = "local_ledger"
"""Where money moves: in the ledger of this installation, on no chain (X-29)."""


class BalanceRequest(Contract):
    """Asks for the balance of a wallet."""

    wallet_address: WalletAddress


class LedgerService:
    """The wallets of whoever asks."""

    def __init__(self, ledger: Ledger, money_per_day: Decimal) -> None:
        """``money_per_day`` is what one user may spend by one skill within a day, in the wallet's currency."""
        self._ledger = ledger
        self._a_day = money_per_day
        self.methods: Mapping[str, Method] = {
            "balance": Method(BalanceRequest, self._balance, reads=True),
            "debit": Method(DebitRequest, self._debit),
        }

    async def _balance(self, asker: Asker, asked: BalanceRequest) -> dict[str, Any]:
        """The balance; an unknown wallet, and another owner's, holds nothing (O-15)."""
        try:
            found = await asyncio.to_thread(self._ledger.wallet, asked.wallet_address, asker.owner)
        except SQLAlchemyError as fault:
            raise BrokerRefused("WALLET_ERROR", "The ledger could not be read.") from fault
        if found is None:
            return {
                "known": False,
                "wallet_address": asked.wallet_address.lower(),
                "balance": 0,
                "currency": "USDC",
                "network": "base",
                "last_updated": None,
            }
        return {
            "known": True,
            "wallet_address": found.wallet_address,
            "balance": as_number(found.balance),
            "currency": found.currency.value,
            "network": found.network.value,
            "last_updated": found.model_dump(mode="json")["last_updated"],
        }

    async def _debit(self, asker: Asker, asked: DebitRequest) -> dict[str, Any]:
        try:
            entry = await asyncio.to_thread(
                self._ledger.debit,
                asked,
                asker.owner,
                asker.order.correlation_id,
                Allowance(asker.order.skill, self._a_day, asker.order.invocation_id),
            )
        except LedgerRefused as refused:
            raise BrokerRefused(refused.code, refused.message) from None
        except SQLAlchemyError as fault:
            # Whether it was booked or not, the same key is booked once.
            raise BrokerRefused("TX_FAILED", "The ledger could not book it.") from fault
        return {
            "tx_id": entry.tx_id,
            "amount_deducted": as_number(entry.amount),
            "new_balance": as_number(entry.balance_after),
            "confirmed_at": entry.model_dump(mode="json")["booked_at"],
            "settlement": SETTLEMENT,
            "booked_before": entry.invocation_id not in (None, asker.order.invocation_id),
        }


def as_number(amount: Decimal) -> int | float:
    """An exact amount as the JSON number that reads back as the same text, as far as a double carries it."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)
