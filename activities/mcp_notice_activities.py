"""Telling the outside that a call waits for a person: a signed webhook with names and a link, and no value."""

import asyncio

from temporalio import activity

from clients.webhook import Webhook
from contracts.base import rfc3339
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import NoticeOrder
from stores.database import Database
from stores.mcp.dispatch_rows import KeptDispatch, read_dispatch


class McpNoticeActivities:
    """An ordinary activity, retried for a while; what becomes of it never touches the call."""

    def __init__(self, database: Database, webhook: Webhook | None, console_url: str) -> None:
        """``webhook`` is absent where nobody wants to be told."""
        self._database = database
        self._webhook = webhook
        self._console_url = console_url

    @activity.defn
    async def tell_waiting(self, order: NoticeOrder) -> None:
        """Tells that a call waits, unless it does not any more."""
        if self._webhook is None:
            return
        kept = await asyncio.to_thread(self._read, order.dispatch_id)
        if kept is None or kept.record.status is not DispatchStatus.PENDING_APPROVAL:
            return
        await self._webhook.post(self._notice(kept), delivery_id=f"{order.dispatch_id}/{kept.version}")

    def _read(self, dispatch_id: str) -> KeptDispatch | None:
        with self._database.read() as connection:
            return read_dispatch(connection, dispatch_id)

    def _notice(self, kept: KeptDispatch) -> dict[str, object]:
        record = kept.record
        order, waiting = record.order, record.ask_first
        return {
            "event": "ask_first.pending",
            "dispatch_id": order.dispatch_id,
            "correlation_id": order.correlation_id,
            "user_id": record.owner,
            "server_id": order.server_id,
            "tool_name": order.tool_name,
            "summary": order.request_summary,
            "expires_at": rfc3339(waiting.expires_at) if waiting is not None else None,
            "console_url": f"{self._console_url}#ask-first/{order.dispatch_id}",
        }
