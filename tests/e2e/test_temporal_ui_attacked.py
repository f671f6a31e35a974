"""The embedded Temporal server as strangers find it: its ports, its UI behind the API, and what they are believed."""

import asyncio
import base64
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from api.platform.temporal_ui import temporal_ui_app
from contracts.workflow_ids import learn_session_id
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.embedded_temporal import (
    EmbeddedTemporal,
    find_binary,
    free_port,
    hidden_address,
    server_environment,
    wait_until_ready,
)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for ports in /proc"),
]

ORIGIN = "http://127.0.0.1:8233"
FOREIGN = {"host": "evil.example", "origin": "http://evil.example"}


@dataclass(frozen=True)
class Installation:
    """An installation with the embedded server and its UI."""

    stack: Stack
    server: EmbeddedTemporal
    pid: int
    browser: httpx.AsyncClient
    """At the address where people open the UI."""


@pytest.fixture
async def installation(tmp_path: Path) -> AsyncIterator[Installation]:
    """One that encrypts what it sends through Temporal."""
    server = EmbeddedTemporal(find_binary(), tmp_path / "temporal.db", free_port(), hidden_address())
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *server.command(), env=server_environment(os.environ), stdout=log, stderr=log
        )
    try:
        await wait_until_ready(server.address, 60)
        settings = stack_settings(tmp_path, payload_encryption=True)
        async with (
            running_stack(settings, await connect(server.address)) as stack,
            opened_ui(stack, server) as browser,
        ):
            yield Installation(stack, server, process.pid, browser)
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def opened_ui(stack: Stack, server: EmbeddedTemporal) -> AsyncGenerator[httpx.AsyncClient]:
    """A browser at the UI, as the API process serves it."""
    upstream = server.ui_url
    assert upstream is not None
    async with temporal_ui_app(stack.settings, stack.services.tokens.authenticate, ORIGIN, upstream) as app:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as browser:
            with anyio.fail_after(30):
                # It begins before the server that it asks.
                while not (await browser.get("/api/v1/namespaces")).is_success:
                    await anyio.sleep(0.1)
            yield browser


def listening(pid: int) -> set[tuple[str, int]]:
    """Addresses and ports at which a process takes connections; an IPv6 address as ``ipv6``."""
    sockets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    found: set[tuple[str, int]] = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] != "0A" or f"socket:[{fields[9]}]" not in sockets:
                continue
            address, _, port = fields[1].partition(":")
            numbers = ".".join(str(one) for one in reversed(bytes.fromhex(address)))
            found.add((numbers if name == "tcp" else "ipv6", int(port, 16)))
    return found


async def answer_to_a_rebound_page(address: str, port: int, path: str) -> int | None:
    """What a page gets that had its own name pointed at this machine; None where no HTTP is spoken."""
    async with httpx.AsyncClient(trust_env=False, timeout=10) as page:
        try:
            answer = await page.get(f"http://{address}:{port}{path}", headers=FOREIGN)
        except httpx.HTTPError:
            return None
    return answer.status_code


async def test_no_port_that_a_page_can_find_lets_it_read_or_steer_workflows(
    installation: Installation,
) -> None:
    ports = listening(installation.pid)
    hidden = installation.server.ui
    assert hidden in ports
    assert ("127.0.0.1", installation.server.port) in ports
    found_by_pages = ports - {hidden}
    assert {address for address, _ in found_by_pages} == {"127.0.0.1"}
    assert hidden[0] != "127.0.0.1"
    answers = {await answer_to_a_rebound_page(*one, "/api/v1/namespaces") for one in found_by_pages}
    assert answers == {None, 403, 404}, (
        "nothing from gRPC, a refusal from the HTTP API, no page of the metrics"
    )


async def test_the_ui_is_read_at_its_address_and_refuses_pages_of_others(installation: Installation) -> None:
    browser = installation.browser
    assert "<html" in (await browser.get("/", follow_redirects=True)).text
    assert (await browser.get("/api/v1/namespaces")).is_success
    for headers in (FOREIGN, {"host": "evil.example"}, {"origin": "http://evil.example"}):
        refused = await browser.get("/api/v1/namespaces", headers=headers)
        assert refused.status_code in {403, 421}


async def test_an_update_through_the_ui_is_rejected_and_its_contents_are_read_by_admins_alone(
    installation: Installation,
) -> None:
    alice = installation.stack.learner()
    await alice.create(target_app_family="A secret plan")
    workflow = (
        f"/api/v1/namespaces/default/workflows/{learn_session_id(alice.session_id).replace('/', '%2F')}"
    )
    refused = await updated_through_the_ui(installation.browser, workflow, alice)
    assert "Encoded failure" in refused, "rejected, and the reason is encrypted"
    assert await alice.state() == "armed"

    history = await installation.browser.get(f"{workflow}/history")
    assert history.is_success
    assert base64.b64encode(b"A secret plan")[:12].decode() not in history.text
    inputs = history.json()["history"]["events"][0]["workflowExecutionStartedEventAttributes"]["input"]
    codec = "/apprentice/codec/decode"
    assert (await installation.browser.post(codec, json=inputs)).status_code == 401
    await installation.browser.post(
        "/apprentice/sign-in", data={"token": installation.stack.admin_secret}, headers={"origin": ORIGIN}
    )
    [shown] = (await installation.browser.post(codec, json=inputs)).json()["payloads"]
    assert b"A secret plan" in base64.b64decode(shown["data"])


async def updated_through_the_ui(browser: httpx.AsyncClient, workflow: str, alice: Learner) -> str:
    """What the UI answers to somebody who sends a command through it, as a page of its own would."""
    await browser.get("/api/v1/settings")
    message = {"commit_key": {"owner_user_id": "alice", "key": "x", "request_digest": "0" * 64}}
    data = base64.b64encode(str(message).replace("'", '"').encode()).decode()
    payload = {"metadata": {"encoding": base64.b64encode(b"json/plain").decode()}, "data": data}
    asked: dict[str, Any] = {
        "waitPolicy": {"lifecycleStage": "UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED"},
        "request": {"meta": {"updateId": "x"}, "input": {"name": "cancel", "args": {"payloads": [payload]}}},
    }
    answer = await browser.post(
        f"{workflow}/update/cancel",
        json=asked,
        headers={"origin": ORIGIN, "x-csrf-token": browser.cookies["_csrf"]},
    )
    assert answer.is_success, answer.text
    return answer.text
