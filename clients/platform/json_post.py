"""One JSON request to a configured address, with what is known of its arrival when it fails (X-14)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

MAX_ANSWER_BYTES = 1_048_576
"""The most that is read of an answer; a longer one is none."""

_NEVER_LEFT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)


class RequestFailed(Exception):
    """No answer. The text names the kind of failure and nothing that was sent or received.

    ``may_have_arrived`` says that the far side may have acted all the same, ``late`` that it did not answer in time.
    """

    def __init__(self, text: str, *, may_have_arrived: bool, late: bool = False) -> None:
        super().__init__(text)
        self.may_have_arrived = may_have_arrived
        self.late = late


@dataclass(frozen=True)
class Answered:
    """The far side's answer."""

    status: int
    body: bytes

    @property
    def accepted(self) -> bool:
        """Whether its status says yes."""
        return 200 <= self.status < 300


async def request_once(
    method: str,
    url: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    within_seconds: float,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Answered:
    """Sends one request, once; redirects are not followed, and proxies of the environment are not used.

    ``within_seconds`` is for the whole of it; connecting may take four fifths of that.

    Raises:
        RequestFailed: no answer within the time, or one that is too long.
    """
    timeout = httpx.Timeout(within_seconds, connect=within_seconds * 0.8)
    connected = False
    try:
        async with (
            asyncio.timeout(within_seconds),
            httpx.AsyncClient(timeout=timeout, transport=transport, trust_env=False) as client,
            client.stream(method, url, content=body, headers=dict(headers or {})) as answer,
        ):
            connected = True
            taken = bytearray()
            async for part in answer.aiter_bytes():
                taken += part
                if len(taken) > MAX_ANSWER_BYTES:
                    raise RequestFailed("the answer is longer than 1 MiB", may_have_arrived=True)
            return Answered(answer.status_code, bytes(taken))
    except _NEVER_LEFT as error:
        raise RequestFailed(_cannot_be_reached(error), may_have_arrived=connected) from None
    except (httpx.TimeoutException, TimeoutError):
        text = f"no answer within {within_seconds:g} s"
        raise RequestFailed(text, may_have_arrived=True, late=True) from None
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise RequestFailed(f"the connection broke ({type(error).__name__})", may_have_arrived=True) from None


def _cannot_be_reached(error: Exception) -> str:
    return f"it cannot be reached ({type(error).__name__})"
