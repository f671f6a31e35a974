"""How messages of the DevTools protocol travel: over a browser's own pipes, or over a websocket on this machine."""

import asyncio
import os
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from recorders.errors import RecorderError

_LONGEST_MESSAGE = 64 * 1024 * 1024
_CONNECT_TIMEOUT_S = 10.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class CdpTransport(Protocol):
    """Carries whole JSON messages as text, in order."""

    async def send(self, message: str) -> None:
        """Sends one message; a closed transport drops it."""
        ...

    async def receive(self) -> str | None:
        """The next message; ``None`` when the browser has gone."""
        ...

    async def close(self) -> None:
        """Lets go of the connection; a second call does nothing."""
        ...


class PipeTransport:
    """Messages parted by NUL bytes over two pipes: nobody else on the machine can reach the browser this way."""

    def __init__(self, reading: int, writing: int) -> None:
        """Takes over both descriptors."""
        self._reading = reading
        self._writing = writing
        self._reader = asyncio.StreamReader(limit=_LONGEST_MESSAGE)
        self._read_end: asyncio.BaseTransport | None = None
        self._write_end: asyncio.WriteTransport | None = None

    async def open(self) -> None:
        """Hands the pipes to the running event loop."""
        loop = asyncio.get_running_loop()
        self._read_end, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(self._reading, "rb", 0)
        )
        self._write_end, _ = await loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(self._writing, "wb", 0)
        )

    async def send(self, message: str) -> None:
        """See ``CdpTransport``. Commands are small: none waits for the browser to read."""
        if self._write_end is not None and not self._write_end.is_closing():
            self._write_end.write(message.encode() + b"\0")

    async def receive(self) -> str | None:
        """See ``CdpTransport``."""
        try:
            message = await self._reader.readuntil(b"\0")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            return None
        return message[:-1].decode("utf-8", errors="replace")

    async def close(self) -> None:
        """See ``CdpTransport``."""
        for end in (self._read_end, self._write_end):
            if end is not None:
                end.close()
        # The loop closes a pipe one turn later.
        await asyncio.sleep(0)


class WebSocketTransport:
    """The browser endpoint of a Chromium that was started with a debugging port on this machine."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    async def open(cls, cdp_url: str) -> "WebSocketTransport":
        """Asks the port for its browser endpoint and connects.

        Raises:
            RecorderError: the address is not on this machine, or no browser answers there.
        """
        parts = urlsplit(cdp_url)
        if parts.scheme != "http" or parts.hostname not in _LOOPBACK:
            raise RecorderError(f"{cdp_url} is no debugging port of this machine: use http://127.0.0.1:PORT")
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=_CONNECT_TIMEOUT_S) as http:
                answer = await http.get(f"{cdp_url.rstrip('/')}/json/version")
            endpoint = str(answer.raise_for_status().json()["webSocketDebuggerUrl"])
            if urlsplit(endpoint).hostname not in _LOOPBACK:
                raise RecorderError(f"the browser at {cdp_url} names an endpoint on another machine")
            socket = await connect(
                endpoint, max_size=_LONGEST_MESSAGE, open_timeout=_CONNECT_TIMEOUT_S, proxy=None
            )
        except (httpx.HTTPError, WebSocketException, OSError, ValueError, KeyError) as error:
            raise RecorderError(
                f"no browser answers at {cdp_url} ({type(error).__name__}): start Chromium with "
                "--remote-debugging-port and a profile of its own"
            ) from error
        return cls(socket)

    async def send(self, message: str) -> None:
        """See ``CdpTransport``."""
        with suppress(ConnectionClosed):
            await self._socket.send(message)

    async def receive(self) -> str | None:
        """See ``CdpTransport``."""
        try:
            message = await self._socket.recv()
        except ConnectionClosed:
            return None
        return message if isinstance(message, str) else message.decode("utf-8", errors="replace")

    async def close(self) -> None:
        """See ``CdpTransport``."""
        await self._socket.close()
