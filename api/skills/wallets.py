"""Wallets of the local ledger: create, fund, read (skills_interface.md "Routes", O-15)."""

import re
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path

from api.platform.commands import AdminFrame
from api.platform.dependencies import Admin, PageDep, ServicesDep
from contracts.errors import ErrorCode, Refusal
from contracts.skills.wallets import (
    WALLET_ADDRESS,
    CreateWalletRequest,
    FundWalletRequest,
    Wallet,
    WalletListResponse,
)


def _address(wallet_address: Annotated[str, Path(max_length=200)]) -> str:
    if re.fullmatch(WALLET_ADDRESS, wallet_address) is None:
        raise _NOT_THERE
    return wallet_address.lower()


_NOT_THERE = Refusal(
    ErrorCode.NOT_FOUND, "There is no wallet with this address; `apprentice wallets create` makes one."
)

Address = Annotated[str, Depends(_address)]

router = APIRouter(prefix="/api/wallets", tags=["skills"])


@router.get("", operation_id="wallet_list")
def list_wallets(caller: Admin, services: ServicesDep, page: PageDep) -> WalletListResponse:
    """Every wallet, by address."""
    del caller
    found, counts = services.skills.ledger.list_for(None, page)
    return WalletListResponse(wallets=found, **counts)


@router.post("", operation_id="wallet_create", status_code=201)
async def create(body: CreateWalletRequest, frame: AdminFrame) -> Wallet:
    """Makes a wallet with a balance of zero; the same again is the one there is."""
    owner = body.owner_user_id or frame.owner

    def act() -> Wallet:
        return frame.services.skills.ledger.create(body, owner, frame.correlation_id, datetime.now(UTC))

    return await frame.write_once(body, act, Wallet)


@router.get("/{wallet_address}", operation_id="wallet_get")
def get(wallet_address: Address, caller: Admin, services: ServicesDep) -> Wallet:
    """One wallet."""
    del caller
    found = services.skills.ledger.wallet(wallet_address)
    if found is None:
        raise Refusal(
            ErrorCode.NOT_FOUND,
            "There is no wallet with this address; `apprentice wallets create` makes one.",
        )
    return found


@router.post("/{wallet_address}/fund", operation_id="wallet_fund")
async def fund(wallet_address: Address, body: FundWalletRequest, frame: AdminFrame) -> Wallet:
    """Puts an amount into a wallet, once under its idempotency key."""
    ledger = frame.services.skills.ledger
    key = f"fund/{frame.key_for(body).key}"

    def act() -> Wallet:
        wallet = ledger.wallet(wallet_address)
        if wallet is not None and body.currency not in (None, wallet.currency):
            raise Refusal(
                ErrorCode.VALIDATION_FAILED, f"The wallet holds {wallet.currency.value}.", fields=["currency"]
            )
        return ledger.fund(
            wallet_address, body.amount, key, frame.owner, frame.correlation_id, datetime.now(UTC)
        )

    return await frame.write_once(body, act, Wallet)
