"""Amounts of money as integers of a currency's smallest unit (O-16)."""

from decimal import Decimal

from contracts.skills.wallets import Currency

DECIMALS = {Currency.USDC: 6, Currency.ETH: 18, Currency.BASE: 18}
"""How many digits a currency has after the point."""


def to_minor(amount: Decimal, currency: Currency) -> int:
    """An amount in the smallest unit of its currency.

    Raises:
        ValueError: it has more digits than the currency.
    """
    digits = DECIMALS[currency]
    scaled = amount.scaleb(digits)
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{currency.value} has {digits} digits after the point; {amount} has more")
    return int(scaled)


def from_minor(minor: int, currency: Currency) -> Decimal:
    """The amount that so many of the smallest unit are, without trailing zeros."""
    amount = Decimal(minor).scaleb(-DECIMALS[currency])
    normal = amount.normalize()
    # 1E+2 is written as 100.
    return normal.quantize(Decimal(1)) if normal == normal.to_integral_value() else normal
