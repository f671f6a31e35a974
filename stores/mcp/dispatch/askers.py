"""Who asked for calls, with the names of their tokens, for whoever decides about them."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, select

from contracts.mcp.dispatch import DispatchAsker
from contracts.mcp.dispatch_work import DispatchOrder, DispatchRecord
from contracts.platform.identity import AccessToken
from stores.platform.tables import access_tokens

_TOKENS = select(access_tokens.c.token_id, access_tokens.c.body, access_tokens.c.revoked_at).where(
    access_tokens.c.token_id.in_(bindparam("token_ids", expanding=True))
)


def asker_of(order: DispatchOrder, token_name: str | None = None, *, revoked: bool = False) -> DispatchAsker:
    """Who asked for a call."""
    caller = order.caller
    return DispatchAsker(
        token_id=caller.token_id,
        token_name=token_name,
        token_revoked=revoked,
        runtime=caller.runtime,
        session_ref=caller.session_ref,
        turn_ref=caller.turn_ref,
        ability_id=order.ability_id,
    )


def askers_of(connection: Connection, records: Sequence[DispatchRecord]) -> Mapping[str, DispatchAsker]:
    """Who asked for each of the calls, by the call's id."""
    if not records:
        return {}
    ids = sorted({one.order.caller.token_id for one in records})
    rows = {row.token_id: row for row in connection.execute(_TOKENS, {"token_ids": ids})}
    found: dict[str, DispatchAsker] = {}
    for one in records:
        row = rows.get(one.order.caller.token_id)
        name = AccessToken.model_validate_json(row.body).name if row is not None else None
        revoked = row is not None and row.revoked_at is not None
        found[one.dispatch_id] = asker_of(one.order, name, revoked=revoked)
    return found
