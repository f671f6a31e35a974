"""debit_wallet: one booking of the ledger."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    entry = await context.ledger.debit(**params)
    before = entry.pop("booked_before")
    taken, left = f"{entry['amount_deducted']} {params['currency']}", entry["new_balance"]
    message = f"Took {taken}; {left} is left."
    if before:
        message = f"Took nothing: {taken} was booked before under this key, and {left} was left then."
    return {"success": True, "result": {"success": True, **entry}, "message": message}
