"""httpx2 over a connection pool of ours: the one that httpx2 makes for itself takes no network backend."""

from collections.abc import AsyncIterable, AsyncIterator, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, cast

import httpcore2
import httpx2


class PooledTransport(httpx2.AsyncBaseTransport):
    """Sends requests through the given pool."""

    def __init__(self, pool: httpcore2.AsyncConnectionPool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, its body still to be read.

        Raises:
            httpx2.TransportError: the connection could not be made, or broke.
        """
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=cast("AsyncIterable[bytes]", request.stream),
            extensions=request.extensions,
        )
        with _errors_of_httpx():
            answer = await self._pool.handle_async_request(asked)
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        )

    async def aclose(self) -> None:
        """Closes every connection."""
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for part in self._answer.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


_ERRORS: tuple[tuple[type[Exception], type[httpx2.TransportError]], ...] = (
    # The special ones first, as each is also of a more general kind.
    (httpcore2.ConnectTimeout, httpx2.ConnectTimeout),
    (httpcore2.ReadTimeout, httpx2.ReadTimeout),
    (httpcore2.WriteTimeout, httpx2.WriteTimeout),
    (httpcore2.PoolTimeout, httpx2.PoolTimeout),
    (httpcore2.ConnectError, httpx2.ConnectError),
    (httpcore2.ReadError, httpx2.ReadError),
    (httpcore2.WriteError, httpx2.WriteError),
    (httpcore2.LocalProtocolError, httpx2.LocalProtocolError),
    (httpcore2.RemoteProtocolError, httpx2.RemoteProtocolError),
    (httpcore2.UnsupportedProtocol, httpx2.UnsupportedProtocol),
    (httpcore2.TimeoutException, httpx2.TimeoutException),
    (httpcore2.NetworkError, httpx2.NetworkError),
)


@contextmanager
def _errors_of_httpx() -> Generator[None]:
    try:
        yield
    except Exception as error:
        for theirs, named in _ERRORS:
            if isinstance(error, theirs):
                raise named(str(error)) from error
        raise
