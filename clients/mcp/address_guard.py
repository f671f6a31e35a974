"""SSRF guard: refuses connections to this machine's and its network's addresses.

A name is resolved once, every address it has is checked, and the connection goes to a checked address; TLS still
verifies the name. Each request is checked anew, so neither a redirect nor DNS rebinding gets around it. Proxies and
credentials of the environment are not used. httpx2's client runs over a connection pool made here, because its own
takes no network backend.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from functools import cache
from types import TracebackType
from typing import Any, Self, cast

import anyio
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


Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""The addresses of a name, as text; raises OSError where it has none."""

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

CONNECT_WITHIN_SECONDS = 10.0

_LOOPBACK_6 = ipaddress.IPv6Address("::1")
_INSTANCE_METADATA = frozenset(
    ipaddress.ip_address(text) for text in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200")
)
# Ways to write an IPv4 address as an IPv6 one: what is behind them would go unjudged.
_TRANSLATED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "::/96",
        "::ffff:0:0/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
    )
)
# This machine, and networks that people run for themselves.
_PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
        *("::1/128", "fc00::/7"),
    )
)
# Not for the public internet, though not every release of Python's ipaddress says so.
_SPECIAL = tuple(
    ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "5f00::/16", "fec0::/10")
)


class AddressRefused(httpx2.ConnectError):
    """An address that is not connected to. Nothing was sent. The text names the address and the reason."""


def refusal_of_address(text: str, *, allow_private: bool) -> str | None:
    """Why nothing may be sent to this IP address; none where it may.

    ``allow_private`` admits this machine and private networks, never link-local, multicast, metadata,
    unspecified or translated addresses.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "is no IP address"
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return "is of one network link only"
    refusal = _never(address)
    if refusal is not None or (allow_private and _in_any(address, _PRIVATE)):
        return refusal
    if not address.is_global or address.is_reserved or _in_any(address, _SPECIAL):
        return "is not on the public internet"
    return None


def _never(address: Address) -> str | None:
    if address in _INSTANCE_METADATA:
        return "is a cloud's metadata service"
    if address.is_unspecified:
        return "is unspecified"
    if address.is_multicast:
        return "is a multicast address"
    if address.is_link_local:
        return "is a link-local address"
    if address != _LOOPBACK_6 and _in_any(address, _TRANSLATED):
        return "is an IPv4 address in the guise of IPv6"
    return None


def _in_any(address: Address, networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def refusal_of_url(url: str | httpx2.URL, *, allow_private: bool) -> str | None:
    """Why this URL may not be asked, judged by its form and, where its host is an IP address, by that."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError):
        return "is no URL"
    if parsed.scheme != "https" and not (allow_private and parsed.scheme == "http"):
        return "does not begin with https://"
    if not parsed.host:
        return "has no host"
    if parsed.userinfo:
        return "holds a user name or a password"
    try:
        ipaddress.ip_address(parsed.host)
    except ValueError:
        return None
    return refusal_of_address(parsed.host, allow_private=allow_private)


async def system_resolve(host: str, port: int) -> tuple[str, ...]:
    """What the system says are the addresses of a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


@cache
def system_tls() -> ssl.SSLContext:
    """Verifies against the system's certificates; made once, for it is costly."""
    return ssl.create_default_context()


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections to judged addresses only."""

    def __init__(self, *, allow_private: bool, resolve: Resolve = system_resolve) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._backend = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first address of ``host`` that answers.

        Raises:
            AddressRefused: one of the addresses is not to be connected to.
            httpcore2.ConnectError: the name has no address, or none answers.
            httpcore2.ConnectTimeout: none answers within ``timeout`` seconds.
        """
        failure: Exception = httpcore2.ConnectTimeout("no address was found in time")
        with anyio.move_on_after(CONNECT_WITHIN_SECONDS if timeout is None else timeout):
            for address in await self._judged(host, port):
                try:
                    return await self._backend.connect_tcp(
                        address, port, local_address=local_address, socket_options=socket_options
                    )
                except httpcore2.ConnectError as error:
                    failure = error
        raise failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SocketOption] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """Never."""
        raise AddressRefused("a socket of this machine is not connected to")

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await anyio.sleep(seconds)

    async def _judged(self, host: str, port: int) -> tuple[str, ...]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise httpcore2.ConnectError("the host name has no address") from None
        for address in addresses:
            refusal = refusal_of_address(address, allow_private=self._allow_private)
            if refusal is not None:
                raise AddressRefused(f"{address} (of {host}) {refusal}")
        if not addresses:
            raise httpcore2.ConnectError("the host name has no address")
        return addresses


class GuardedTransport(PooledTransport):
    """Sends requests to judged addresses only. Closed with the client it belongs to."""

    def __init__(
        self, *, allow_private: bool, tls: ssl.SSLContext | None = None, resolve: Resolve = system_resolve
    ) -> None:
        super().__init__(
            httpcore2.AsyncConnectionPool(
                ssl_context=tls or system_tls(),
                max_connections=20,
                keepalive_expiry=30.0,
                network_backend=GuardedBackend(allow_private=allow_private, resolve=resolve),
            )
        )
        self._allow_private = allow_private

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer.

        Raises:
            AddressRefused: before anything is sent.
        """
        refusal = refusal_of_url(request.url, allow_private=self._allow_private)
        if refusal is not None:
            raise AddressRefused(f"the address at {request.url.host or 'no host'} {refusal}")
        return await super().handle_async_request(request)


def guarded_client(
    *,
    allow_private: bool,
    timeout_seconds: float = 30.0,
    headers: dict[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    resolve: Resolve = system_resolve,
    **options: Any,
) -> httpx2.AsyncClient:
    """A client that reaches public HTTPS addresses only and follows no redirect; close it after use.

    ``timeout_seconds`` bounds each single wait (connecting, writing, reading). ``tls`` and ``resolve`` replace
    the system's certificates and names. Other ``options`` are those of ``httpx2.AsyncClient``.

    Its requests raise ``AddressRefused``, a kind of ``httpx2.ConnectError``, before anything is sent.
    """
    return httpx2.AsyncClient(
        transport=GuardedTransport(allow_private=allow_private, tls=tls, resolve=resolve),
        timeout=httpx2.Timeout(timeout_seconds, connect=min(CONNECT_WITHIN_SECONDS, timeout_seconds)),
        headers=headers,
        follow_redirects=False,
        trust_env=False,
        **options,
    )
