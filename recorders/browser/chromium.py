"""Chromium under the DevTools protocol: process with a fresh profile, transports (pipe, websocket), sessions."""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from recorders.spool import RecorderError

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


_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--password-store=basic",
)
_FIRST_FREE_DESCRIPTOR = 10
_END_TIMEOUT_S = 5.0
_POLL_S = 0.05


def find_chromium() -> str:
    """The browser's path: ``$CHROMIUM``, or the first known name on the search path.

    Raises:
        RecorderError: there is none.
    """
    named = os.environ.get("CHROMIUM")
    found = named or next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        raise RecorderError("no Chromium is on the search path: install it, or name it in CHROMIUM")
    return found


class ChromiumProcess:
    """A browser process with its profile. Start it, use ``transport``, and ``end`` it."""

    def __init__(self, process: int, profile: Path, transport: PipeTransport) -> None:
        self.transport = transport
        self.profile = profile
        self._process = process

    @classmethod
    def start(cls, *, headless: bool, arguments: tuple[str, ...]) -> "ChromiumProcess":
        """Starts the browser with an empty page.

        Raises:
            RecorderError: there is no browser, or it cannot be run.
        """
        path = find_chromium()
        profile = Path(tempfile.mkdtemp(prefix="apprentice-browser-"))
        command = [path, f"--user-data-dir={profile}", *_ARGUMENTS, *(["--headless"] if headless else [])]
        command += [*arguments, "about:blank"]
        to_browser, our_writing = os.pipe()
        our_reading, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4: what goes there must not be one of them itself.
        theirs = [
            fcntl.fcntl(d, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_DESCRIPTOR) for d in (to_browser, from_browser)
        ]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, theirs[0], 3),
            (os.POSIX_SPAWN_DUP2, theirs[1], 4),
        ]
        try:
            process = os.posix_spawn(path, command, os.environ, file_actions=actions, setpgroup=0)
        except OSError as error:
            os.close(our_reading)
            os.close(our_writing)
            shutil.rmtree(profile, ignore_errors=True)
            raise RecorderError(f"{path} cannot be run: {error.strerror}") from error
        finally:
            for descriptor in (to_browser, from_browser, *theirs):
                os.close(descriptor)
        return cls(process, profile, PipeTransport(our_reading, our_writing))

    async def end(self) -> None:
        """Waits for the browser to end, makes it end if it does not, and removes the profile."""
        if not await self._ends_within(_END_TIMEOUT_S):
            self._signal(signal.SIGKILL)
            await self._ends_within(_END_TIMEOUT_S)
        # Helpers of the browser can outlive it and would write into the profile.
        self._signal(signal.SIGKILL)
        await asyncio.sleep(0)
        for _ in range(20):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not self.profile.exists():
                return
            await asyncio.sleep(_POLL_S)

    async def _ends_within(self, seconds: float) -> bool:
        for _ in range(int(seconds / _POLL_S)):
            try:
                ended, _ = os.waitpid(self._process, os.WNOHANG)
            except ChildProcessError:
                return True
            if ended:
                return True
            await asyncio.sleep(_POLL_S)
        return False

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process, number)


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
