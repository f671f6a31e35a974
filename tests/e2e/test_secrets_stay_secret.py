"""Canaries in every secret of the tool gateway, a whole life of them, and then a look into everything it left."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import new as hmac
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest

from tests.fixtures.authorization_server import AuthorizationServer, running_authorization_server
from tests.fixtures.canaries import canary, files_with, spellings, texts_with
from tests.fixtures.mcp_servers import MisbehavingServer, started

PATIENCE_SECONDS = 120
STORE = ("apprentice.db", "apprentice.db-wal")

LOCAL_PROGRAM = """
import json, os, sys
print("my key is " + os.environ["API_TOKEN"], file=sys.stderr, flush=True)
TOOL = {"name": "read_key_digest", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "local", "version": "1"}},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": str(len(os.environ["API_TOKEN"]))}]},
    }
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] in answers:
        answer["result"] = answers[asked["method"]]
    else:
        answer["error"] = {"code": -32601, "message": "no " + os.environ["API_TOKEN"]}
    print(json.dumps(answer), flush=True)
"""


@dataclass
class Life:
    """What was done, with which secrets, and what it left behind."""

    data_dir: Path
    secrets: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    """What was given to tools: only the store may have it, for whoever decides about the call."""
    answers: list[str] = field(default_factory=list)
    printed: str = ""
    known: str = ""
    """What is no secret and must be found, or the search finds nothing at all."""


class Application:
    """A running ``apprentice up``, as its administrator uses it."""

    def __init__(self, life: Life, api_url: str, token: str) -> None:
        self._life = life
        self._http = httpx.Client(
            base_url=api_url, headers={"authorization": f"Bearer {token}"}, timeout=60, trust_env=False
        )

    def __enter__(self) -> "Application":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """One request; its answer is remembered."""
        headers = {"accept": "application/json"}
        response = self._http.request(method, path, json=body, headers=headers)
        self._life.answers.append(f"{response.headers}\n{response.text}")
        return response

    def ok(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """One that must succeed."""
        response = self.call(method, path, body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        found: dict[str, Any] = response.json()
        return found

    def server(self, name: str, profile: str | None = None, **fields: Any) -> str:
        """Registers a server."""
        body = {"provider": "custom_remote", "display_name": name, "transport": "remote_http", **fields}
        body |= {"auth_profile_id": profile} if profile else {}
        made = self.ok("POST", "/api/mcp/servers/register", body)
        return str(made["server"]["registry"]["server_id"])

    def profile(self, mode: str, secret: str | None = None, **fields: Any) -> str:
        """Makes a sign-in, and enters its secret."""
        body = {"provider": "custom_remote", "auth_mode": mode, **fields}
        made = self.ok("POST", "/api/mcp/auth-profiles", body)["auth_profile_id"]
        if secret is not None:
            self.ok("PUT", f"/api/mcp/auth-profiles/{made}/secret", {"secret": secret})
        return str(made)

    def discovers(self, server_id: str) -> None:
        """Lists a server's tools, as far as it lets us."""
        self.call("POST", f"/api/mcp/servers/{server_id}/smoke-test", {"server_id": server_id})

    def calls(self, server_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Makes a call and waits for its end, or for it to wait for a person."""
        body = {"server_id": server_id, "tool_name": tool, "arguments": arguments, "wait_ms": 30_000}
        return self.ok("POST", "/api/mcp/dispatches", body)

    def allows(self, server_id: str) -> None:
        """Lets every call of a server pass."""
        decision = {"mode": "enabled", "updated_by": "user", "updated_at": datetime.now(UTC).isoformat()}
        target = {"target_kind": "server", "server_id": server_id}
        self.ok("POST", "/api/mcp/policy/update", {"target": target, "decision": decision})

    def looks_at_everything(self, server_ids: list[str]) -> None:
        """Reads whatever may show something of secrets."""
        for path in ("servers", "auth-profiles", "receipts", "dispatches", "ask-first/pending", "grants"):
            self.ok("GET", f"/api/mcp/{path}")
        for dispatch in self.ok("GET", "/api/mcp/dispatches")["dispatches"]:
            self.ok("GET", f"/api/mcp/dispatches/{dispatch['dispatch_id']}")
        for server_id in server_ids:
            self.ok("GET", f"/api/mcp/servers/{server_id}/tools")
            self.call("GET", f"/api/mcp/servers/{server_id}/auth/status")
        self.call("GET", "/metrics")


@contextmanager
def running(life: Life, environment: dict[str, str]) -> Generator[Application]:
    ready = life.data_dir.parent / "ready.json"
    options = ["--data-dir", str(life.data_dir), "--ready-file", str(ready), "--verbose"]
    options += ["--api-port", "0", "--temporal-port", "0", "--no-ui"]
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    output = (life.data_dir.parent / "printed").open("w+b")
    with (
        output,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "cli.main", "up", *options],
            stdout=output,
            stderr=output,
            cwd=life.data_dir.parent,
            env=ours | environment,
        ) as process,
    ):
        try:
            until = monotonic() + PATIENCE_SECONDS
            while not ready.exists():
                ended = process.poll() is not None or monotonic() > until
                assert not ended, (life.data_dir.parent / "printed").read_text()[-3000:]
                threading.Event().wait(0.05)
            state = json.loads(ready.read_text())
            with Application(life, state["api_url"], state["admin_token"]) as app:
                yield app
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_SECONDS)
            output.seek(0)
            life.printed = output.read().decode()


class Listener(ThreadingHTTPServer):
    """Takes the notices of waiting calls."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Notices)
        self.notices: list[tuple[str, bytes]] = []
        self.told = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/told"


class _Notices(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.notices.append((self.headers["x-apprentice-signature"], body))
        self.send_response(204)
        self.end_headers()
        self.server.told.set()

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@contextmanager
def listening() -> Generator[Listener]:
    listener = Listener()
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield listener
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def uses_an_api_key(app: Application, life: Life, server: MisbehavingServer) -> str:
    """A key that works, and one that a server repeats in what it has against a call."""
    key = life.secrets["API key"] = canary("key")
    server_id = app.server("With a key", app.profile("api_key", key), endpoint_url=server.url)
    server.order("token", token=key, headers={})
    app.discovers(server_id)
    app.allows(server_id)
    life.asked["argument"] = canary("argument")
    assert app.calls(server_id, "append_line", line=life.asked["argument"])["status"] == "completed"
    assert f"Bearer {key}" in {one["headers"].get("authorization") for one in server.asked()}
    server.order("answer", structured={"effects": 1, "line": f"you sent {key}"})
    answered = app.calls(server_id, "append_line", line="x")
    assert answered["result"]["structured_content"]["line"] == "you sent [MASKED]"
    server.lift()
    server.order("refuse", code=-32000, message=f"I do not like {key} at all")
    assert app.calls(server_id, "read_line", line="x")["status"] != "completed"
    server.lift()
    server.order("status", status=401, headers={"WWW-Authenticate": f'Bearer error="invalid_token {key}"'})
    app.calls(server_id, "read_line", line="x")
    server.lift()
    return server_id


def has_others_secrets(
    app: Application, life: Life, provider: AuthorizationServer, server: MisbehavingServer
) -> None:
    """A server without any sign-in says what belongs to other ones, and the key that notices are signed with."""
    (registered,) = [secret for secret in provider.clients.values() if secret]
    theirs = [list(provider.access_tokens)[-1], *provider.refresh_tokens, registered, life.secrets["API key"]]
    theirs += [life.secrets["environment"], life.secrets["webhook key"]]
    server_id = app.server("Knows too much", endpoint_url=server.url)
    app.discovers(server_id)
    app.allows(server_id)
    server.order(
        "answer", structured={"effects": 1, "line": f"found {' and '.join(theirs)} & {quote(theirs[0])}"}
    )
    answered = app.calls(server_id, "append_line", line="x")
    assert (
        answered["result"]["structured_content"]["line"]
        == f"found {' and '.join(['[MASKED]'] * 6)} & [MASKED]"
    )
    server.lift()


def signs_in(app: Application, life: Life, provider: AuthorizationServer, server: MisbehavingServer) -> str:
    """A person signs in, the token is renewed, used, and ended."""
    server_id = app.server("With a sign-in", app.profile("oauth2_delegated"), endpoint_url=provider.url)
    begun = app.call("POST", f"/api/mcp/servers/{server_id}/auth/start", {"server_id": server_id}).json()
    # The address that a person opens has the state in it: that one answer is for the browser to have.
    life.answers.pop()
    life.secrets["state"] = parse_qs(urlsplit(begun["auth_url"]).query)["state"][0]
    with httpx.Client(trust_env=False) as browser:
        back = urlsplit(browser.get(begun["auth_url"]).headers["location"])
    life.secrets["code"] = parse_qs(back.query)["code"][0]
    app.ok("GET", f"{back.path}?{back.query}")
    # Once more, as browsers do when a page is loaded again.
    app.call("GET", f"{back.path}?{back.query}")
    app.ok("POST", f"/api/mcp/servers/{server_id}/auth/refresh", {"server_id": server_id, "force": True})
    app.discovers(server_id)
    form = next(form for form, _ in provider.token_requests if form["grant_type"] == "authorization_code")
    life.secrets["verifier"] = form["code_verifier"]
    life.secrets |= {f"access token {n}": token for n, token in enumerate(provider.access_tokens)}
    refresh = [*provider.spent, *provider.refresh_tokens]
    life.secrets |= {f"refresh token {n}": token for n, token in enumerate(refresh)}
    secrets = [secret for secret in provider.clients.values() if secret]
    life.secrets |= {f"registered client's secret {n}": secret for n, secret in enumerate(secrets)}
    assert len(provider.access_tokens) == len(refresh) == 2
    has_others_secrets(app, life, provider, server)
    provider.ways.token_error = "invalid_grant"
    app.call("POST", f"/api/mcp/servers/{server_id}/auth/refresh", {"server_id": server_id, "force": True})
    return server_id


def uses_a_client_secret(app: Application, life: Life, provider: AuthorizationServer) -> str:
    """A service signs in with a secret of its own."""
    secret = life.secrets["client secret"] = canary("client")
    provider.know("the-service", secret)
    profile = app.profile("oauth2_client_credentials", secret, client_id="the-service")
    server_id = app.server("With a service", profile, endpoint_url=provider.url)
    app.call("POST", f"/api/mcp/servers/{server_id}/auth/start", {"server_id": server_id})
    app.discovers(server_id)
    app.call("POST", f"/api/mcp/servers/{server_id}/auth/refresh", {"server_id": server_id, "force": True})
    assert provider.asked_for("client_credentials") >= 1
    life.secrets |= {f"service's token {n}": token for n, token in enumerate(provider.access_tokens)}
    app.ok(
        "POST", f"/api/mcp/servers/{server_id}/auth/revoke", {"server_id": server_id, "revoke_remote": True}
    )
    return server_id


def runs_a_local_program(app: Application, life: Life, folder: Path) -> str:
    """A program that finds a key in its environment, and is careless with it."""
    file = folder / "program.py"
    file.write_text(LOCAL_PROGRAM)
    command = {
        "program": sys.executable,
        "arguments": [str(file)],
        "environment_refs": {"API_TOKEN": "TOOL_TOKEN"},
    }
    server_id = app.server("Local", transport="local_bridge", command=command)
    app.discovers(server_id)
    app.allows(server_id)
    call = app.calls(server_id, "read_key_digest")
    assert call["status"] == "completed"
    assert str(len(life.secrets["environment"])) in json.dumps(call["result"])
    return server_id


def waits_for_a_person(app: Application, life: Life, server: MisbehavingServer, listener: Listener) -> str:
    """A call that waits is told outside, signed, and is then let pass."""
    server_id = app.server("To be asked about", endpoint_url=server.url)
    app.discovers(server_id)
    life.asked["argument of a call that waits"] = canary("waits")
    call = app.calls(server_id, "append_line", line=life.asked["argument of a call that waits"])
    assert call["status"] == "pending_approval"
    assert listener.told.wait(PATIENCE_SECONDS)
    ((signature, body),) = listener.notices
    parts = dict(part.split("=", 1) for part in signature.split(","))
    signed = f"{parts['t']}.".encode() + body
    assert hmac(life.secrets["webhook key"].encode(), signed, sha256).hexdigest() == parts["v1"]
    assert not texts_with([body.decode()], life.asked["argument of a call that waits"])
    path = f"/api/mcp/ask-first/{call['dispatch_id']}/approve"
    app.ok("POST", path, {"decision": "approve_once"})
    life.known = call["dispatch_id"]
    return server_id


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """Everything that has a secret in it, done once with a real installation that is stopped again."""
    folder = tmp_path_factory.mktemp("secrets")
    life = Life(folder / "data")
    life.secrets = {"environment": canary("environment"), "webhook key": canary("webhook")}
    with ExitStack() as open_for_all:
        server = open_for_all.enter_context(started(folder / "tool-server", MisbehavingServer))
        provider = open_for_all.enter_context(running_authorization_server())
        services = open_for_all.enter_context(running_authorization_server())
        listener = open_for_all.enter_context(listening())
        environment = {
            "APPRENTICE_LOG_LEVEL": "DEBUG",
            "APPRENTICE_MCP_ALLOW_PRIVATE_ADDRESSES": "true",
            "APPRENTICE_MCP_LOCAL_PROGRAMS": sys.executable,
            "APPRENTICE_MCP_LOCAL_ENVIRONMENT": "TOOL_TOKEN",
            "APPRENTICE_SECRET_KEY_SOURCE": "file",
            "APPRENTICE_ASK_FIRST_WEBHOOK_URL": listener.url,
            "APPRENTICE_ASK_FIRST_WEBHOOK_SECRET_REF": "env:NOTICE_KEY",
            "NOTICE_KEY": life.secrets["webhook key"],
            "TOOL_TOKEN": life.secrets["environment"],
        }
        with running(life, environment) as app:
            servers = [
                uses_an_api_key(app, life, server),
                signs_in(app, life, provider, server),
                uses_a_client_secret(app, life, services),
                runs_a_local_program(app, life, folder),
                waits_for_a_person(app, life, server, listener),
            ]
            app.looks_at_everything(servers)
        yield life


pytestmark = pytest.mark.timeout(400)


def test_the_search_finds_what_is_there(life: Life) -> None:
    found = files_with(life.data_dir, life.known)
    for place in ("apprentice.db", "temporal/temporal.db", "ELNOR_MEMORY/", "logs/"):
        assert any(path.startswith(place) for path in found), f"{place} is not among {found}"
    assert texts_with(life.answers, life.known)
    assert len(life.secrets) >= 12
    assert all(len(value) >= 16 for value in life.secrets.values())


def test_a_value_is_found_in_every_spelling(tmp_path: Path) -> None:
    value = canary("spelt")
    for number, spelling in enumerate(spellings(value)):
        (tmp_path / f"{number}").write_bytes(b"before " + spelling + b" after")
    assert len(files_with(tmp_path, value)) == len(spellings(value))


def test_no_secret_is_on_the_disk(life: Life) -> None:
    leaks = {name: files_with(life.data_dir, value) for name, value in life.secrets.items()}
    assert {name: places for name, places in leaks.items() if places} == {}


def test_no_secret_is_in_an_answer_or_on_the_screen(life: Life) -> None:
    leaks = {name: texts_with([*life.answers, life.printed], value) for name, value in life.secrets.items()}
    assert {name: places for name, places in leaks.items() if places} == {}


def test_what_a_tool_is_given_is_in_the_store_alone(life: Life) -> None:
    for name, value in life.asked.items():
        found = files_with(life.data_dir, value)
        assert found, f"{name}: whoever decides has to see it"
        assert set(found) <= set(STORE), name
        assert not texts_with([life.printed], value), name


def test_the_keys_are_in_a_file_of_their_own_and_open_what_the_store_has(life: Life) -> None:
    ring = json.loads((life.data_dir / "secrets/keys.json").read_text())
    for key in ring["keys"].values():
        assert files_with(life.data_dir, key) == ["secrets/keys.json"]
