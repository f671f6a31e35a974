"""debit_wallet: one booking of the ledger."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    entry = await context.ledger.debit(**params)
    message = f"Took {entry['amount_deducted']} {params['currency']}; {entry['new_balance']} is left."
    return {"success": True, "result": {"success": True, **entry}, "message": message}
