"""The arguments of tool calls as they are kept: shared by digest, or for one call alone where they hold a secret.

What holds a secret is kept behind the call's id, so that no other call refers to the same bytes, and is replaced by
its masked form in the transaction that ends the call. The digest of what was sent stays in the call's record.
"""

from typing import Any

import orjson
from sqlalchemy import Connection, delete

from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES, AskFirstStatus
from contracts.mcp.dispatch_work import DispatchRecord
from domain.mcp.secret_arguments import without_secrets
from stores.platform.blobs import get_blob, put_blob
from stores.platform.canonical import canonical_json
from stores.platform.tables import blobs


def content_kept(dispatch_id: str, arguments: bytes) -> bytes:
    """The bytes to keep of a call's arguments; ``arguments`` themselves where none is secret by its name."""
    given: dict[str, Any] = orjson.loads(arguments)
    return arguments if without_secrets(given) == given else f"{dispatch_id}\n".encode() + arguments


def arguments_of(connection: Connection, record: DispatchRecord) -> dict[str, Any]:
    """What is sent; of an ended call with its secrets masked. Raises what ``get_blob`` raises."""
    content = get_blob(connection, record.arguments_kept or record.arguments_digest)
    found: dict[str, Any] = orjson.loads(content[content.index(b"{") :])
    return found


def forget_unused(connection: Connection, record: DispatchRecord, kept: str) -> None:
    """Removes edited arguments that hold a secret and that no decision took over: it was refused, or a repetition.

    While the call still waits they may be those of a decision that is being written: they stay.
    """
    waits = record.ask_first is not None and record.ask_first.status is AskFirstStatus.PENDING
    if waits and record.status in OPEN_DISPATCH_STATUSES:
        return
    if kept not in (record.arguments_kept, record.order.arguments_kept):
        connection.execute(delete(blobs).where(blobs.c.digest == kept))


def with_masked_arguments(connection: Connection, ended: DispatchRecord) -> DispatchRecord:
    """The record of a call that ends here, its secret arguments removed from the store, asked and edited ones."""
    apart = {digest for digest in (ended.order.arguments_kept, ended.arguments_kept) if digest is not None}
    if not apart:
        return ended
    masked = None
    if ended.arguments_kept is not None:
        content = canonical_json(without_secrets(arguments_of(connection, ended)))
        masked = put_blob(connection, content.encode(), ended.updated_at)
    connection.execute(delete(blobs).where(blobs.c.digest.in_(apart)))
    return ended.changed(arguments_kept=masked)
