"""Runs a Python handler in the confined process, and gives it its context.

Imports the standard library and ``refusals`` alone: what a handler may do is decided by the broker at the other end of
the channel, and by the operating system, never here. Messages are JSON, a line each: ``{"call", "service", "method",
"arguments"}`` out, ``{"reply", "value"}`` or ``{"reply", "error"}`` in, and at the end one ``{"answer"}`` or
``{"failure"}``.
"""

import asyncio
import importlib.util
import inspect
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from skills.runtime.refusals import PERMISSION_DENIED, BrokerRefused

_CHUNK_BYTES = 65_536


class PermissionDenied(BrokerRefused):
    """The manifest does not permit the call."""


class HandlerError(BrokerRefused):
    """An error with a name that the handler raises itself: ``raise context.error(CODE, "message")``."""


class _Data:
    """Values that cannot be set."""

    def __init__(self, **values: object) -> None:
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_values")[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} is read-only")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} is read-only")


class _Service:
    """Methods of one service; any name is one."""

    def __init__(self, channel: "Channel", name: str) -> None:
        self._channel = channel
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., "asyncio.Future[Any]"]:
        if method.startswith("_"):
            raise AttributeError(method)

        def call(**arguments: Any) -> "asyncio.Future[Any]":
            return self._channel.call(self._name, method, arguments)

        return call


class _CallLog:
    def __init__(self, channel: "Channel") -> None:
        self._channel = channel

    def write(self, entry: dict[str, Any]) -> "asyncio.Future[Any]":
        """Appends an entry. It is on its way when this returns, awaited or not, ahead of every later call."""
        return self._channel.call("call_log", "write", {"entry": entry})


class _Gateway:
    def __init__(self, channel: "Channel") -> None:
        self._channel = channel

    def post(self, payload: dict[str, Any]) -> "asyncio.Future[Any]":
        """Posts to the OpenClaw gateway."""
        return self._channel.call("gateway", "post", {"payload": payload})

    def send_message(self, message: str) -> "asyncio.Future[Any]":
        """Sends a text to the operator; there is no other recipient."""
        return self._channel.call("gateway", "send_message", {"message": message})

    sendMessage = send_message


class Context:
    """What a handler is given beside its parameters."""

    CallRefused = BrokerRefused
    PermissionDenied = PermissionDenied

    def __init__(self, channel: "Channel", given: dict[str, Any]) -> None:
        call, operator = given["call"], given["operator"]
        self._channel = channel
        self.invocation_id: str = given["invocation_id"]
        self.idempotency_key: str = given["idempotency_key"]
        self.call = _Data(**call, callerId=call["caller_id"])
        self.operator = _Data(**operator, telegramId=operator["telegram_id"])
        self.call_log = self.callLog = _CallLog(channel)
        self.gateway = _Gateway(channel)

    def exec(self, argv: list[str]) -> "asyncio.Future[Any]":
        """Runs a declared program; its standard output."""
        return self._channel.call("exec", "run", {"argv": argv})

    @staticmethod
    def error(code: str, message: str, **details: Any) -> HandlerError:
        """An error with a code of the manifest, to be raised."""
        return HandlerError(code, message, details=details)

    def __getattr__(self, name: str) -> _Service:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Service(self._channel, name)


class Channel:
    """The two pipes to the broker."""

    def __init__(self, inward: int, outward: int) -> None:
        self._inward = inward
        self._outward = outward
        self._left = b""
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0

    def first(self) -> dict[str, Any]:
        """The order with which a run begins."""
        while (line := self._line()) is None:
            part = os.read(self._inward, _CHUNK_BYTES)
            if not part:
                os._exit(0)
            self._left += part
        order: dict[str, Any] = json.loads(line)
        return order

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Takes replies from now on."""
        loop.add_reader(self._inward, self._take)

    def call(self, service: str, method: str, arguments: dict[str, Any]) -> "asyncio.Future[Any]":
        """Sends a call; the future is its reply."""
        text = _encoded(
            {"call": self._number + 1, "service": service, "method": method, "arguments": arguments}
        )
        self._number += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = future
        self.write(text)
        return future

    def write(self, text: bytes) -> None:
        """Writes one message."""
        view = memoryview(text)
        while view:
            view = view[os.write(self._outward, view) :]

    def _take(self) -> None:
        part = os.read(self._inward, _CHUNK_BYTES)
        if not part:
            os._exit(0)
        self._left += part
        while (line := self._line()) is not None:
            reply = json.loads(line)
            future = self._waiting.pop(reply["reply"], None)
            if future is None or future.done():
                continue
            if (error := reply.get("error")) is None:
                future.set_result(reply["value"])
            else:
                kind = PermissionDenied if error["code"] == PERMISSION_DENIED else BrokerRefused
                future.set_exception(kind(**error))

    def _line(self) -> bytes | None:
        line, end, rest = self._left.partition(b"\n")
        if not end:
            return None
        self._left = rest
        return line


def run(channel: tuple[int, ...]) -> None:
    """Runs the handler that the first message names, and sends what came of it."""
    log = io.FileIO(2, "w", closefd=False)
    sys.stdout = sys.stderr = io.TextIOWrapper(log, "utf-8", errors="backslashreplace", line_buffering=True)
    inward, outward = channel
    os.set_blocking(inward, True)
    pipes = Channel(inward, outward)
    try:
        end = _run(pipes)
    except BrokerRefused as error:
        end = {"failure": error.told()}
    except BaseException as error:
        traceback.print_exc()
        end = {"failure": {"code": "HANDLER_FAILED", "message": _described(error)}}
    try:
        text = _encoded(end)
    except (TypeError, ValueError, RecursionError) as error:
        text = _encoded(
            {"failure": {"code": "OUTPUT_INVALID", "message": f"the answer is no JSON: {error}"[:300]}}
        )
    sys.stderr.flush()
    pipes.write(text)


def _run(channel: Channel) -> dict[str, Any]:
    order = channel.first()
    function = _load(order["folder"], order["entrypoint"], order["entry"])

    async def answered() -> Any:
        channel.listen(asyncio.get_running_loop())
        answer = function(order["params"], Context(channel, order))
        return await answer if inspect.isawaitable(answer) else answer

    return {"answer": _completed(answered())}


def _completed(work: Coroutine[Any, Any, Any]) -> Any:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # The process ends with the answer: there is nothing to close that it would not close itself.
    return loop.run_until_complete(work)


def _load(folder: str, entrypoint: str, entry: str) -> Callable[..., Any]:
    path = f"{folder}/{entrypoint}"
    sys.path.insert(0, path.rpartition("/")[0])
    spec = importlib.util.spec_from_file_location("handler", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{entrypoint} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["handler"] = module
    spec.loader.exec_module(module)
    function = getattr(module, entry, None)
    if not callable(function):
        raise BrokerRefused("HANDLER_FAILED", f"{entrypoint} has no function {entry}(params, context)")
    return function


def _described(error: BaseException) -> str:
    """The kind of an error; its text stays in the log, as it may hold what nobody else should see."""
    return f"the handler raised {type(error).__name__}"


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"
