"""fetch_wallet_balance: one read of the ledger."""

from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    found = await context.ledger.balance(**params)
    known = found.pop("known")
    if found["last_updated"] is None:
        found.pop("last_updated")
    words = f"The wallet holds {found['balance']} {found['currency']}."
    message = words if known else "No wallet has this address, so it holds nothing."
    return {"success": True, "result": found, "message": message}
