"""Where the guarded client connects, and where it does not."""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from clients.mcp.address_guard import AddressRefused, guarded_client, refusal_of_address, refusal_of_url

V4_ONLY_BEHIND_V6 = ("::ffff:{}", "::{}", "64:ff9b::{}", "::ffff:0:{}")
addresses = st.ip_addresses() | st.ip_addresses(v=4) | st.ip_addresses(v=6)


@given(addresses)
@settings(deadline=None)
def test_what_is_let_through_is_on_the_public_internet(address):
    if refusal_of_address(str(address), allow_private=False) is None:
        assert address.is_global
        assert not any((address.is_multicast, address.is_link_local, address.is_reserved))


@given(addresses)
@settings(deadline=None)
def test_what_is_let_through_with_private_addresses_is_public_or_private(address):
    if refusal_of_address(str(address), allow_private=True) is None:
        carriers = ipaddress.ip_network("100.64.0.0/10")
        assert address.is_global or address.is_private or (address.version == 4 and address in carriers)
        assert not any((address.is_multicast, address.is_link_local, address.is_unspecified))


@given(addresses)
@settings(deadline=None)
def test_allowing_private_addresses_refuses_nothing_that_was_allowed(address):
    if refusal_of_address(str(address), allow_private=False) is None:
        assert refusal_of_address(str(address), allow_private=True) is None


@given(st.ip_addresses(v=4), st.sampled_from(V4_ONLY_BEHIND_V6), st.booleans())
@settings(deadline=None)
def test_an_ipv4_address_in_the_guise_of_ipv6_is_never_let_through(address, guise: str, allow: bool):
    text = guise.format(address)
    assert ipaddress.ip_address(text) == ipaddress.ip_address("::1") or refusal_of_address(
        text, allow_private=allow
    )


@pytest.mark.parametrize(
    "text",
    [
        *(
            "127.0.0.1",
            "127.255.0.1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "::1",
            "fd12::1",
        ),
        *("0.0.0.0", "0.1.2.3", "169.254.1.1", "198.18.0.1", "192.0.2.1", "240.0.0.1", "255.255.255.255"),
        *(
            "224.0.0.1",
            "239.1.1.1",
            "ff02::1",
            "fe80::1",
            "fec0::1",
            "::",
            "2001:db8::1",
            "2002:7f00:1::",
            "100::1",
        ),
        *("192.88.99.1", "192.0.0.8", "not an address", "", "127.1", "0x7f000001"),
    ],
)
def test_what_is_not_on_the_public_internet_is_refused(text: str):
    assert refusal_of_address(text, allow_private=False) is not None


@pytest.mark.parametrize(
    "text",
    [
        "169.254.169.254",
        "fd00:ec2::254",
        "100.100.100.200",
        "fe80::1",
        "fe80::1%1",
        "0.0.0.0",
        "::",
        "224.1.1.1",
    ],
)
def test_metadata_and_link_local_addresses_are_refused_whatever_is_allowed(text: str):
    assert refusal_of_address(text, allow_private=True) is not None


@pytest.mark.parametrize("text", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"])
def test_public_addresses_are_let_through(text: str):
    assert refusal_of_address(text, allow_private=False) is None


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://example.com/",
            "file:///etc/passwd",
            "gopher://example.com/",
            "ftp://example.com",
            "//example.com",
        ),
        *(
            "https://user@example.com/",
            "https://user:word@example.com/",
            "https:///path",
            "https://127.0.0.1/",
        ),
        *("https://[::1]/", "https://[::ffff:169.254.169.254]/", "not a url", "https://exa mple.com:port/"),
    ],
)
def test_a_url_is_refused_by_its_form(url: str):
    assert refusal_of_url(url, allow_private=False) is not None


def test_http_is_allowed_only_where_private_addresses_are():
    assert refusal_of_url("https://example.com/mcp", allow_private=False) is None
    assert refusal_of_url("http://example.com/mcp", allow_private=True) is None
    assert refusal_of_url("gopher://example.com/mcp", allow_private=True) is not None


@contextmanager
def listening() -> Iterator[tuple[int, list[object]]]:
    """A port of this machine, and the connections that reach it."""
    reached: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        yield listener.getsockname()[1], reached
        try:
            connection, address = listener.accept()
            connection.close()
            reached.append(address)
        except TimeoutError:
            pass


@pytest.mark.anyio
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.1", "127.1", "[::1]"]
)
async def test_this_machine_is_not_connected_to_however_it_is_written(host: str):
    with listening() as (port, reached):
        async with guarded_client(allow_private=False) as http:
            with pytest.raises(AddressRefused):
                await http.get(f"https://{host}:{port}/")
    assert reached == []


@pytest.mark.anyio
async def test_a_name_with_one_private_address_among_public_ones_is_refused():
    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return ("93.184.216.34", "10.0.0.1")

    async with guarded_client(allow_private=False, resolve=resolve) as http:
        with pytest.raises(AddressRefused, match=r"10\.0\.0\.1 \(of tools\.example\)"):
            await http.get("https://tools.example/")


@pytest.mark.anyio
async def test_a_name_that_turns_private_is_refused_when_it_does():
    with listening() as (port, reached):
        answers = [("192.0.2.1",), ("127.0.0.1",)]

        async def resolve(host: str, port: int) -> tuple[str, ...]:
            return answers.pop(0)

        async with guarded_client(allow_private=False, resolve=resolve) as http:
            for _ in range(2):
                with pytest.raises(AddressRefused):
                    await http.get(f"https://tools.example:{port}/")
    assert reached == []
    assert answers == []


@pytest.mark.anyio
async def test_a_name_without_an_address_cannot_be_connected_to():
    async def resolve(host: str, port: int) -> tuple[str, ...]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    async with guarded_client(allow_private=True, resolve=resolve) as http:
        with pytest.raises(httpx2.ConnectError, match="no address"):
            await http.get("https://tools.example/")


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/away" else 200)
        self.send_header("Location", "http://169.254.169.254/latest")
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        return


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust it hangs up."""


@contextmanager
def tls_site(folder: Path, name: str) -> Iterator[tuple[int, ssl.SSLContext]]:
    """A site of this name with a certificate of its own, and what trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "site.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    server = _QuietServer(("127.0.0.1", 0), _Site)
    server.socket = serving.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1], ssl.create_default_context(cafile=pem)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.anyio
async def test_tls_verifies_the_name_and_the_connection_goes_to_the_judged_address(tmp_path: Path):
    asked: list[str] = []

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.1",)

    with tls_site(tmp_path, "tools.example") as (port, trusting):
        async with guarded_client(allow_private=True, tls=trusting, resolve=resolve) as http:
            assert (await http.get(f"https://tools.example:{port}/")).text == "hello"
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await http.get(f"https://other.example:{port}/")
    assert asked == ["tools.example", "other.example"]


@pytest.mark.anyio
async def test_a_redirect_is_not_followed_and_cannot_be_to_a_metadata_service(tmp_path: Path):
    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return (host if host[0].isdigit() else "127.0.0.1",)

    with tls_site(tmp_path, "tools.example") as (port, trusting):
        async with guarded_client(allow_private=True, tls=trusting, resolve=resolve) as http:
            assert (await http.get(f"https://tools.example:{port}/away")).status_code == 302
            with pytest.raises(AddressRefused):
                await http.get(f"https://tools.example:{port}/away", follow_redirects=True)
