"""The talk between a handler and the broker: JSON, a line each, over the two pipes of the handler's channel (AI-21).

What the handler's side sends is untrusted: every message is bounded, parsed strictly, and judged by the broker.
"""

import asyncio
import contextlib
import json
import logging
import os
from typing import Any

from domain.platform.strict_json import as_object
from skills.runtime.broker import CALL_LOG, Broker, BrokerRefused
from skills.runtime.confined import ConfinedProcess
from skills.runtime.skill_run import RunFailed, SkillFailure, failed

MAX_MESSAGE_BYTES = 1_048_576
"""The longest message, in either direction: 1 MiB."""

MAX_CALLS, MAX_CALLS_AT_ONCE = 1_000, 32
"""How many calls of its context one run may make, in all and at once."""

_FRAME_BYTES = 65_536
"""What an answer may be longer than itself by its frame, before it is too large."""


_logger = logging.getLogger(__name__)


class Ended(Exception):
    """The handler's side closed the channel without an answer."""


class Conversation:
    """One handler's talk; to be used once, and closed."""

    def __init__(self, process: ConfinedProcess, broker: Broker) -> None:
        self._process = process
        self._broker = broker
        self._calls: set[asyncio.Task[None]] = set()
        self._count = 0
        self._reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES + _FRAME_BYTES)
        self._writer: asyncio.StreamWriter | None = None
        self._transport: asyncio.BaseTransport | None = None

    async def answer(self, first: dict[str, Any]) -> Any:
        """Begins the handler with ``first``, serves its calls, and returns its answer.

        Raises:
            RunFailed: it named a failure, or broke a rule of the talk.
            Ended: it ended without an answer.
        """
        await self._open()
        self._send(first)
        while True:
            message = await self._next()
            if "call" in message:
                await self._take_call(message)
            elif "failure" in message:
                raise RunFailed(_failure(message["failure"]))
            elif "answer" in message:
                return message["answer"]
            else:
                raise failed("OUTPUT_INVALID", "the handler sent a message that is neither call nor answer")

    async def close(self) -> None:
        """Gives up calls that are still being done, and closes the channel."""
        for task in self._calls:
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        if self._transport is not None:
            self._transport.close()
        if self._writer is not None and not self._writer.is_closing():
            self._writer.transport.abort()

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        inward, outward = self._process.take_channel()
        protocol = asyncio.StreamReaderProtocol(self._reader)
        self._transport, _ = await loop.connect_read_pipe(
            lambda: protocol, os.fdopen(outward, "rb", buffering=0)
        )
        transport, writing = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(inward, "wb", buffering=0)
        )
        self._writer = asyncio.StreamWriter(transport, writing, None, loop)

    async def _next(self) -> dict[str, Any]:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            raise Ended from None
        except asyncio.LimitOverrunError:
            raise failed("OUTPUT_TOO_LARGE", "the handler sent a message of more than 1 MiB") from None
        try:
            message = json.loads(line, parse_constant=_refused_constant)
            json.dumps(message, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise failed("OUTPUT_INVALID", "the handler sent what is no JSON") from None
        told = as_object(message)
        if told is None:
            raise failed("OUTPUT_INVALID", "the handler sent a message that is no object")
        return told

    async def _take_call(self, message: dict[str, Any]) -> None:
        number, service, method = message.get("call"), message.get("service"), message.get("method")
        arguments = as_object(message.get("arguments"))
        if not (
            isinstance(number, int)
            and isinstance(service, str)
            and isinstance(method, str)
            and arguments is not None
        ):
            raise failed("OUTPUT_INVALID", "the handler sent a call without service, method and arguments")
        self._count += 1
        if self._count > MAX_CALLS:
            raise failed("HANDLER_FAILED", f"the handler made more than {MAX_CALLS} calls of its context")
        served = self._serve(number, service, method, arguments)
        if service == CALL_LOG:
            # On record before anything that was asked for later is begun.
            await served
            return
        while len(self._calls) >= MAX_CALLS_AT_ONCE:
            await asyncio.wait(self._calls, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(served)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _serve(self, number: int, service: str, method: str, arguments: dict[str, Any]) -> None:
        try:
            reply: dict[str, Any] = {
                "reply": number,
                "value": await self._broker.call(service, method, arguments),
            }
            if _size(reply) > MAX_MESSAGE_BYTES:
                raise BrokerRefused(
                    "OUTPUT_TOO_LARGE", f"the answer of {service}.{method} is longer than 1 MiB"
                )
        except BrokerRefused as error:
            reply = {"reply": number, "error": error.told()}
        except (TypeError, ValueError, KeyError) as error:
            text = f"{service}.{method} does not take these arguments ({type(error).__name__})"
            reply = {"reply": number, "error": BrokerRefused("INVALID_INPUT", text).told()}
        except Exception as error:
            _logger.exception("a service failed", extra={"service": service, "method": method})
            text = f"{service}.{method} failed ({type(error).__name__})"
            reply = {"reply": number, "error": BrokerRefused("UNAVAILABLE", text).told()}
        self._send(reply)
        if self._writer is not None:
            with contextlib.suppress(OSError):
                await self._writer.drain()

    def _send(self, message: dict[str, Any]) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")


def _size(message: dict[str, Any]) -> int:
    return len(json.dumps(message).encode())


def _refused_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _failure(told: Any) -> SkillFailure:
    """A failure as the handler's side tells it, each part checked."""
    given = as_object(told)
    if given is None or not isinstance(code := given.get("code"), str):
        return SkillFailure("OUTPUT_INVALID", "the handler told of a failure without a code")
    message, retryable, wait = given.get("message"), given.get("retryable"), given.get("retry_after_ms")
    return SkillFailure(
        code=code[:80],
        message=message[:500] if isinstance(message, str) else "",
        retryable=retryable if isinstance(retryable, bool) else None,
        retry_after_ms=wait if isinstance(wait, int) and 0 <= wait <= 86_400_000 else None,
        details=as_object(given.get("details")) or {},
    )
