"""Keeps connections to other people's addresses away from this machine and its network (SSRF).

A name is resolved once, every address it has is judged, and the connection goes to an address that was judged;
TLS still verifies the name. Each request is judged anew, so a redirect or a name that changes its address gains
nothing. Proxies and credentials of the environment are not used.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import Any, cast

import anyio
import httpcore2
import httpx2

from clients.mcp.http_transport import PooledTransport

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
