"""debit_wallet: one booking of the ledger."""


async def handle(params, context):
    entry = await context.ledger.debit(**params)
    message = f"Took {entry['amount_deducted']} {params['currency']}; {entry['new_balance']} is left."
    return {"success": True, "result": {"success": True, **entry}, "message": message}
