"""Finding the authorization server of a tool server, at servers that publish in every way there is."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from clients.mcp.address_guard import guarded_client
from clients.mcp.oauth_discovery import authentication_with, discover
from clients.mcp.oauth_requests import MAX_ANSWER_BYTES, AddressNotAllowed, DiscoveryFailed, ServerUnreachable
from contracts.mcp.auth_work import AuthorizationServer

pytestmark = pytest.mark.anyio

PRM = "/.well-known/oauth-protected-resource"
AS, OIDC = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"


class Publisher:
    """What a server publishes, by path; whoever asks for anything else gets 404, and a tool call 401."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.documents: dict[str, Any] = {}
        self.challenge = "Bearer"
        self.asked: list[str] = []

    def publishes(self, path: str, issuer: str | None = None, **members: Any) -> None:
        """The metadata of an authorization server."""
        issuer = issuer or self.origin
        self.documents[path] = {
            "issuer": issuer,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            **members,
        }

    def guards(self, path: str, issuer: str, **members: Any) -> None:
        """The metadata of the protected resource."""
        resource = {"resource": f"{self.origin}/mcp", "authorization_servers": [issuer]}
        self.documents[path] = resource | members

    async def found(self) -> AuthorizationServer:
        """What is found out about its tool server."""
        async with guarded_client(allow_private=True, timeout_seconds=5) as http:
            return await discover(http, f"{self.origin}/mcp", allow_private=True)


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    """One on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            it.asked.append(self.path)
            document = it.documents.get(self.path)
            self._answer(200 if document is not None else 404, document or {})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self._answer(401, {}, it.challenge)

        def _answer(self, status: int, document: Any, challenge: str | None = None) -> None:
            self.send_response(status)
            if challenge is not None:
                self.send_header("www-authenticate", challenge)
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    it = Publisher(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield it
    server.shutdown()
    server.server_close()
    thread.join(timeout=10)


async def test_where_the_401_points_to_goes_before_every_well_known_place(publisher: Publisher) -> None:
    publisher.challenge = f'Bearer resource_metadata="{publisher.origin}/elsewhere", scope="a"'
    publisher.guards("/elsewhere", publisher.origin, scopes_supported=["a"])
    publisher.guards(f"{PRM}/mcp", "https://never.asked.example")
    publisher.publishes(AS)
    found = await publisher.found()
    assert (found.issuer, found.resource, found.scopes_wanted) == (
        publisher.origin,
        f"{publisher.origin}/mcp",
        ("a",),
    )


@pytest.mark.parametrize("place", [f"{PRM}/mcp", PRM])
async def test_the_resource_is_looked_for_by_path_and_then_at_the_root(
    publisher: Publisher, place: str
) -> None:
    publisher.guards(place, publisher.origin)
    publisher.publishes(AS)
    assert (await publisher.found()).issuer == publisher.origin


@pytest.mark.parametrize("place", [f"{AS}/tenant", f"{OIDC}/tenant", f"/tenant{OIDC}"])
async def test_an_issuer_with_a_path_is_found_in_all_three_places(publisher: Publisher, place: str) -> None:
    issuer = f"{publisher.origin}/tenant"
    publisher.guards(f"{PRM}/mcp", issuer)
    publisher.publishes(place, issuer)
    assert (await publisher.found()).issuer == issuer


async def test_a_server_of_before_the_resource_metadata_is_its_own_issuer(publisher: Publisher) -> None:
    publisher.publishes(AS)
    found = await publisher.found()
    assert (found.issuer, found.resource) == (publisher.origin, f"{publisher.origin}/mcp")


async def test_a_resource_that_is_somebody_elses_is_refused(publisher: Publisher) -> None:
    publisher.guards(f"{PRM}/mcp", publisher.origin, resource="https://bank.example/api")
    publisher.publishes(AS)
    with pytest.raises(DiscoveryFailed) as failed:
        await publisher.found()
    assert failed.value.code == "resource_mismatch"


async def test_metadata_of_the_wrong_issuer_ends_the_search(publisher: Publisher) -> None:
    publisher.guards(f"{PRM}/mcp", publisher.origin)
    publisher.publishes(AS, "https://attacker.example")
    publisher.publishes(OIDC)
    with pytest.raises(DiscoveryFailed) as failed:
        await publisher.found()
    assert failed.value.code == "issuer_mismatch"
    assert OIDC not in publisher.asked


async def test_a_server_that_publishes_nothing_cannot_be_signed_in_to(publisher: Publisher) -> None:
    with pytest.raises(DiscoveryFailed) as failed:
        await publisher.found()
    assert failed.value.code == "metadata_missing"


async def test_an_answer_without_end_is_cut_off(publisher: Publisher) -> None:
    publisher.documents[f"{PRM}/mcp"] = {"padding": "x" * (MAX_ANSWER_BYTES + 1)}
    with pytest.raises(ServerUnreachable):
        await publisher.found()


async def test_an_issuer_on_the_inner_network_is_not_asked(publisher: Publisher) -> None:
    publisher.guards(f"{PRM}/mcp", "http://169.254.169.254")
    with pytest.raises(AddressNotAllowed):
        await publisher.found()


async def test_without_leave_nothing_on_this_machine_is_asked(publisher: Publisher) -> None:
    async with guarded_client(allow_private=False) as http:
        with pytest.raises(AddressNotAllowed):
            await discover(http, f"{publisher.origin}/mcp")
    assert publisher.asked == []


def test_a_client_proves_itself_as_the_server_offers() -> None:
    def server(*methods: str) -> AuthorizationServer:
        return AuthorizationServer(
            issuer="i",
            authorization_endpoint="a",
            token_endpoint="t",
            resource="r",
            authentication_methods=methods,
        )

    assert authentication_with(server(), has_secret=False) == "none"
    assert authentication_with(server(), has_secret=True) == "client_secret_basic"
    assert authentication_with(server("client_secret_post"), has_secret=True) == "client_secret_post"
    offered = server("none", "client_secret_basic")
    assert authentication_with(offered, has_secret=True) == "client_secret_basic"
    assert authentication_with(offered, has_secret=True, registering=True) == "none"
