"""``apprentice wallets``: wallets of the local ledger, which skills debit."""

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import RenderableType
from rich.markup import escape

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import OnePageOption, answer_list
from cli.platform.output import facts, listing
from clients.apprentice.wallets import WalletApi
from contracts.skills.wallets import CreateWalletRequest, Currency, FundWalletRequest, Network, Wallet

app = typer.Typer(no_args_is_help=True, help="Wallets of the local ledger: create, fund, list, show.")

_Address = Annotated[str, typer.Argument(help="0x and 40 hexadecimal digits.", metavar="ADDRESS")]


@api_command(app, "create")
def create(
    call: Invocation,
    address: _Address,
    currency: Annotated[Currency, typer.Option(help="What it holds.")],
    owner: Annotated[str | None, typer.Option(help="Whose it is; you, when left out.")] = None,
    network: Annotated[Network, typer.Option(help="Its setting; no chain is asked.")] = Network.BASE,
) -> None:
    """Make a wallet with a balance of zero."""
    try:
        request = CreateWalletRequest(
            wallet_address=address, currency=currency, owner_user_id=owner, network=network
        )
    except ValidationError:
        raise NothingToDo(f"{address} is no address; write 0x and 40 hexadecimal digits.") from None
    call.answer(_facts(WalletApi(call.api.http).create(request)))


@api_command(app, "fund")
def fund(
    call: Invocation,
    address: _Address,
    amount: Annotated[str, typer.Argument(help="How much, such as 12.50.", metavar="AMOUNT")],
) -> None:
    """Put an amount into a wallet."""
    try:
        request = FundWalletRequest(amount=Decimal(amount))
    except (InvalidOperation, ValidationError):
        raise NothingToDo(f"{amount} is no amount; write a number above 0, such as 12.50.") from None
    call.answer(_facts(WalletApi(call.api.http).fund(address, request)))


@api_command(app, "list")
def list_wallets(call: Invocation, page: OnePageOption = 1) -> None:
    """List every wallet."""
    found = WalletApi(call.api.http).list(page)
    table = listing("address", "balance", "owner", "network", whole="address")
    for one in found.wallets:
        balance = f"{one.balance} {one.currency.value}"
        table.add_row(one.wallet_address, balance, escape(one.owner_user_id), one.network.value)
    nothing = "No wallets. Make one with `apprentice wallets create ADDRESS --currency USDC`."
    answer_list(call, found, table, nothing)


@api_command(app, "show")
def show(call: Invocation, address: _Address) -> None:
    """Show one wallet."""
    call.answer(_facts(WalletApi(call.api.http).show(address)))


def _facts(wallet: Wallet) -> RenderableType:
    return facts(
        [
            ("wallet", wallet.wallet_address),
            ("holds", f"{wallet.balance} {wallet.currency.value}"),
            ("owner", wallet.owner_user_id),
            ("network", f"{wallet.network.value} (a local ledger; no chain is asked)"),
            ("changed", f"{wallet.last_updated:%Y-%m-%d %H:%M:%S} UTC"),
        ]
    )
