"""The ledger: wallets, double-entry postings, each debit once under its key and never beyond the balance.

A transaction has two postings that add up to nothing: the wallet's and that of the account on the other side. The
balance in the wallet's row is their sum, changed in the same SQL transaction.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.skills.wallets import (
    CreateWalletRequest,
    Currency,
    DebitRequest,
    LedgerEntry,
    Network,
    Wallet,
)
from domain.skills.money import from_minor, to_minor
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database, PageCounts, PageRequest, advisory_lock, fetch_page
from stores.platform.journal.journal import JournalEntries, append
from stores.skills.invocation_rows import AUDIT
from stores.skills.skill_tables import ledger_entries, ledger_postings, skill_results, wallets

SPENT, FUNDED, ADJUSTED = "external:spent", "external:funded", "external:adjusted"
"""The accounts on the other side of a wallet's postings."""


SHOWS_BALANCES = ("fetch-wallet-balance", "get-agent-profile")
"""The skills whose kept answers a booking makes wrong (X-26)."""

_DAY = timedelta(days=1)


class LedgerRefused(Exception):
    """A booking that was refused, with a code of the documents; nothing was booked."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Allowance:
    """What one user may spend by one skill within a day, in the wallet's currency (O-12), and for which call."""

    skill: str
    a_day: Decimal
    invocation_id: str | None = None


class Ledger:
    """All wallets. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, request: CreateWalletRequest, owner: str, correlation_id: str, now: datetime) -> Wallet:
        """Makes a wallet; the same again is the one there is.

        Raises:
            Refusal: ``CONFLICT`` where the address is taken by another wallet.
        """
        address = request.wallet_address.lower()
        with self._database.write() as connection:
            advisory_lock(connection, f"wallet {address}")
            known = find_wallet(connection, address)
            if known is not None:
                same = (known.owner_user_id, known.currency, known.network)
                if same != (owner, request.currency, request.network):
                    raise Refusal(ErrorCode.CONFLICT, "There is another wallet with this address already.")
                return known
            row = {
                "address": address,
                "owner": owner,
                "currency": request.currency.value,
                "network": request.network.value,
                "balance": "0",
                "updated_at": rfc3339(now),
            }
            connection.execute(insert(wallets).values(row))
            entries = JournalEntries(f"wallet/{address}", owner, correlation_id, now)
            entries.add(
                AUDIT, {"when": "wallet_created", "wallet_address": address, "timestamp": rfc3339(now)}
            )
            append(connection, entries.drafts)
            return _wallet(connection, address)

    def wallet(self, address: str, owner: str | None = None) -> Wallet | None:
        """A wallet as it stands; with ``owner``, only that owner's."""
        with self._database.read() as connection:
            found = find_wallet(connection, address.lower())
        return found if found is None or owner in (None, found.owner_user_id) else None

    def list_for(self, owner: str | None, wanted: PageRequest) -> tuple[tuple[Wallet, ...], PageCounts]:
        """Wallets by address; only those of ``owner``, if one is named."""
        query = select(wallets).order_by(wallets.c.address)
        if owner is not None:
            query = query.where(wallets.c.owner == owner)
        with self._database.read() as connection:
            page = fetch_page(connection, query, wanted)
        return tuple(_of_row(row) for row in page.rows), page.counts

    def fund(
        self, address: str, amount: Decimal, key: str, actor: str, correlation_id: str, now: datetime
    ) -> Wallet:
        """Puts an amount into a wallet, once under its key.

        Raises:
            Refusal: ``NOT_FOUND``, ``VALIDATION_FAILED``, ``IDEMPOTENCY_KEY_REUSED``.
        """
        address = address.lower()
        with self._database.write() as connection:
            advisory_lock(connection, f"wallet {address}")
            wallet = find_wallet(connection, address)
            if wallet is None:
                raise Refusal(ErrorCode.NOT_FOUND, "There is no wallet with this address; create it first.")
            try:
                minor = to_minor(amount, wallet.currency)
                _book(connection, wallet, minor, key, FUNDED, f"funded by {actor}", correlation_id, now)
            except ValueError as error:
                raise Refusal(ErrorCode.VALIDATION_FAILED, f"{error}.", fields=["amount"]) from None
            except LedgerRefused as refused:
                raise Refusal(ErrorCode.IDEMPOTENCY_KEY_REUSED, refused.message) from None
            return _wallet(connection, address)

    def debit(
        self, request: DebitRequest, owner: str, correlation_id: str, allowance: Allowance | None = None
    ) -> LedgerEntry:
        """Takes an amount from a wallet, once under its key: the same request again gets the first entry.

        Raises:
            LedgerRefused: ``INSUFFICIENT_BALANCE`` (an unknown wallet has nothing), ``INVALID_INPUT``,
                ``IDEMPOTENCY_KEY_REUSED``, ``BUDGET_EXCEEDED`` with when the allowance is renewed.
        """
        address = request.wallet_address.lower()
        now = datetime.now(UTC)
        with self._database.write() as connection:
            advisory_lock(connection, f"wallet {address}")
            wallet = find_wallet(connection, address)
            if wallet is None or wallet.owner_user_id != owner:
                raise LedgerRefused("INSUFFICIENT_BALANCE", "The wallet is not known, so it holds nothing.")
            if wallet.currency is not request.currency:
                raise LedgerRefused(
                    "INVALID_INPUT",
                    f"The wallet holds {wallet.currency.value}, not {request.currency.value}.",
                )
            try:
                minor = to_minor(request.amount, wallet.currency)
            except ValueError as error:
                raise LedgerRefused("INVALID_INPUT", f"{error}.") from None
            return _book(
                connection,
                wallet,
                -minor,
                request.idempotency_key,
                SPENT,
                request.tx_description,
                correlation_id,
                now,
                allowance,
            )


def book_balance(
    connection: Connection,
    address: str,
    owner: str,
    balance: Decimal,
    key: str,
    description: str,
    correlation_id: str,
    now: datetime,
) -> None:
    """Has a wallet hold ``balance``, in the caller's transaction: the difference is booked as an adjustment (X-27).

    Raises:
        LedgerRefused: ``INVALID_INPUT`` where the owner has no such wallet, or for digits the currency does not have.
    """
    advisory_lock(connection, f"wallet {address}")
    wallet = find_wallet(connection, address)
    if wallet is None or wallet.owner_user_id != owner:
        raise LedgerRefused("INVALID_INPUT", "There is no such wallet of the agent's owner.")
    try:
        minor = to_minor(balance, wallet.currency) - to_minor(wallet.balance, wallet.currency)
    except ValueError as error:
        raise LedgerRefused("INVALID_INPUT", f"{error}.") from None
    _book(connection, wallet, minor, key, ADJUSTED, description, correlation_id, now)


def _book(
    connection: Connection,
    wallet: Wallet,
    minor: int,
    key: str,
    other: str,
    description: str,
    correlation_id: str,
    now: datetime,
    allowance: Allowance | None = None,
) -> LedgerEntry:
    """Books a change of a wallet whose lock is held; under a known key, the first entry."""
    request = digest_of(canonical_json([wallet.wallet_address, str(minor), other, description]))
    known = _entry_under(connection, wallet.owner_user_id, key, request)
    if known is not None:
        return known
    after = to_minor(wallet.balance, wallet.currency) + minor
    if after < 0:
        raise LedgerRefused(
            "INSUFFICIENT_BALANCE",
            f"The wallet holds {wallet.balance} {wallet.currency.value}; nothing was taken.",
        )
    if allowance is not None:
        _refuse_beyond(connection, allowance, wallet, -minor, now)
    entry = LedgerEntry(
        tx_id=f"ledger:{uuid7()}",
        wallet_address=wallet.wallet_address,
        amount=from_minor(abs(minor), wallet.currency),
        balance_after=from_minor(after, wallet.currency),
        currency=wallet.currency,
        description=description,
        invocation_id=allowance.invocation_id if allowance is not None else None,
        booked_at=now,
    )
    row = {
        "tx_id": entry.tx_id,
        "address": wallet.wallet_address,
        "owner": wallet.owner_user_id,
        "key": key,
        "request_digest": request,
        "skill": allowance.skill if allowance is not None else None,
        "booked_at": rfc3339(now),
        "body": canonical_json(entry),
    }
    connection.execute(insert(ledger_entries).values(row))
    _post(connection, wallet, entry, minor, other, after)
    entries = JournalEntries(f"wallet/{wallet.wallet_address}", wallet.owner_user_id, correlation_id, now)
    entries.add(
        AUDIT,
        {
            "when": "booked",
            "tx_id": entry.tx_id,
            "wallet_address": wallet.wallet_address,
            "amount": str(entry.amount),
            "account": other,
            "description": description,
            "timestamp": rfc3339(now),
        },
    )
    append(connection, entries.drafts)
    return entry


def _entry_under(connection: Connection, owner: str, key: str, request: str) -> LedgerEntry | None:
    """The entry that was booked under the key, if any; a key of another ``request`` is refused."""
    known = connection.execute(
        select(ledger_entries.c.request_digest, ledger_entries.c.body).where(
            ledger_entries.c.owner == owner, ledger_entries.c.key == key
        )
    ).one_or_none()
    if known is None:
        return None
    if known.request_digest != request:
        raise LedgerRefused(
            "IDEMPOTENCY_KEY_REUSED", "This idempotency key was used for a different booking; use a new key."
        )
    return LedgerEntry.model_validate_json(known.body)


def _post(
    connection: Connection, wallet: Wallet, entry: LedgerEntry, minor: int, other: str, after: int
) -> None:
    """Moves the amount between the two accounts; stored results of skills that show balances are forgotten."""
    connection.execute(
        insert(ledger_postings),
        [
            {"tx_id": entry.tx_id, "account": wallet.wallet_address, "amount": str(minor)},
            {"tx_id": entry.tx_id, "account": other, "amount": str(-minor)},
        ],
    )
    connection.execute(
        update(wallets)
        .where(wallets.c.address == wallet.wallet_address)
        .values(balance=str(after), updated_at=rfc3339(entry.booked_at))
    )
    connection.execute(
        delete(skill_results).where(
            skill_results.c.owner == wallet.owner_user_id, skill_results.c.skill.in_(SHOWS_BALANCES)
        )
    )


def _refuse_beyond(
    connection: Connection, allowance: Allowance, wallet: Wallet, minor: int, now: datetime
) -> None:
    """Refuses a debit that with those of the last 24 hours is more than the allowance, in this currency."""
    advisory_lock(connection, f"skill-money {wallet.owner_user_id} {allowance.skill}")
    bodies = connection.scalars(
        select(ledger_entries.c.body)
        .where(
            ledger_entries.c.owner == wallet.owner_user_id,
            ledger_entries.c.skill == allowance.skill,
            ledger_entries.c.booked_at > rfc3339(now - _DAY),
        )
        .order_by(ledger_entries.c.booked_at)
    )
    spent = [one for one in map(LedgerEntry.model_validate_json, bodies) if one.currency is wallet.currency]
    before = sum((one.amount for one in spent), Decimal())
    wanted = from_minor(minor, wallet.currency)
    if before + wanted <= allowance.a_day:
        return
    # Renewed as far as it takes: once the oldest debits are a day old.
    freed, renewed = before + wanted, now + _DAY
    for one in spent:
        freed -= one.amount
        if freed <= allowance.a_day:
            renewed = one.booked_at + _DAY
            break
    raise LedgerRefused(
        "BUDGET_EXCEEDED",
        f"{before} of {allowance.a_day} {wallet.currency.value} are spent within a day, and {wanted} more were asked"
        f" for; the budget is renewed at {rfc3339(renewed)}.",
    )


def find_wallet(connection: Connection, address: str) -> Wallet | None:
    """A wallet by its address in lower case, if there is one."""
    row = connection.execute(select(wallets).where(wallets.c.address == address)).one_or_none()
    return _of_row(row) if row is not None else None


def _wallet(connection: Connection, address: str) -> Wallet:
    found = find_wallet(connection, address)
    assert found is not None, "the wallet was written in this transaction"
    return found


def _of_row(row: Row[Any]) -> Wallet:
    currency = Currency(row.currency)
    return Wallet(
        wallet_address=row.address,
        owner_user_id=row.owner,
        currency=currency,
        network=Network(row.network),
        balance=from_minor(int(row.balance), currency),
        last_updated=datetime.fromisoformat(row.updated_at),
    )
