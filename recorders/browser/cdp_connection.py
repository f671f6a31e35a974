"""Commands and events of the DevTools protocol over one connection, many sessions (targets) in it."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from recorders.browser.cdp_transport import CdpTransport

Params = dict[str, Any]
EventHandler = Callable[[str, Params, str], None]
"""Is given an event's method, its parameters and the session it belongs to (empty: the browser's own)."""


class CdpError(Exception):
    """The browser refused a command or has gone; the message is the browser's."""


class CdpConnection:
    """One client of one browser. ``run`` reads until the browser goes away."""

    def __init__(self, transport: CdpTransport, on_event: EventHandler) -> None:
        self._transport = transport
        self._on_event = on_event
        self._waiting: dict[int, asyncio.Future[Params]] = {}
        self._number = 0
        self._is_over = False

    async def call(self, method: str, params: Params | None = None, session: str = "") -> Params:
        """Sends a command and waits for its result.

        Raises:
            CdpError: refused, or the browser went away before it answered.
        """
        if self._is_over:
            raise CdpError("the browser has gone")
        self._number += 1
        number = self._number
        message: Params = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        answer: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._transport.send(json.dumps(message))
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def run(self) -> None:
        """Takes in messages in their order until the browser goes away."""
        try:
            while (text := await self._transport.receive()) is not None:
                self._take(json.loads(text))
        finally:
            self._is_over = True
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(CdpError("the browser has gone"))

    def _take(self, message: Params) -> None:
        if "id" not in message:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId", ""))
            return
        answer = self._waiting.get(message["id"])
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(CdpError(str(message["error"].get("message", "refused"))))
        else:
            answer.set_result(message.get("result", {}))
