"""Wallets of the local ledger: created and funded by people, debited by skills (CH-48…CH-56, O-15, O-16, X-26…X-29)."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from contracts.base import Contract, Text120, Text200, UtcTime, Uuid, VersionedContract
from contracts.platform.commands import Command
from contracts.platform.lists import Page

WALLET_ADDRESS = r"^0x[a-fA-F0-9]{40}$"
WalletAddress = Annotated[str, StringConstraints(pattern=WALLET_ADDRESS)]


class Currency(StrEnum):
    """What a wallet holds."""

    USDC = "USDC"
    ETH = "ETH"
    BASE = "BASE"


class Network(StrEnum):
    """The wallet's own setting; the ledger is local, and no chain is asked (X-29)."""

    MAINNET = "mainnet"
    BASE = "base"
    SEPOLIA = "sepolia"


def _as_decimal(value: object) -> object:
    # A JSON number is read as the text that it was written with, as far as that is still known (O-16).
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Amount = Annotated[Decimal, BeforeValidator(_as_decimal), Field(allow_inf_nan=False, max_digits=40)]
"""An exact amount, as text or number."""


class Wallet(VersionedContract):
    """A wallet as it stands; ``balance`` is the sum of its postings."""

    wallet_address: WalletAddress
    owner_user_id: Text120
    currency: Currency
    network: Network
    balance: Amount
    last_updated: UtcTime


class CreateWalletRequest(Command):
    """Makes a wallet with a balance of zero."""

    wallet_address: WalletAddress
    currency: Currency
    owner_user_id: Text120 | None = None
    network: Network = Network.BASE


class FundWalletRequest(Command):
    """Puts an amount into a wallet: an entry of the ledger, with an audit entry."""

    amount: Amount = Field(gt=0)
    currency: Currency | None = None


class WalletListResponse(Page):
    """Wallets by address."""

    wallets: tuple[Wallet, ...]


class DebitRequest(Contract):
    """A debit, as a skill asks for it."""

    wallet_address: WalletAddress
    amount: Amount = Field(ge=Decimal("0.01"))
    currency: Currency
    tx_description: Text200
    idempotency_key: Text120


class LedgerEntry(Contract):
    """One booked change of a wallet."""

    tx_id: Text120
    wallet_address: WalletAddress
    amount: Amount
    balance_after: Amount
    currency: Currency
    description: Text200
    invocation_id: Uuid | None = Field(default=None, description="For which a skill booked it.")
    booked_at: UtcTime
