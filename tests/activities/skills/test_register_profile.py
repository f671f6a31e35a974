"""register_openclaw_profile against a directory on 127.0.0.1."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from activities.skills.services.directory_service import DirectoryService
from clients.skills.directory import OpenClawDirectory
from contracts.skills.agents import CreateAgentRequest
from stores.platform.database import Database
from stores.platform.secrets.store import open_secret_store
from stores.skills.services.agent_keys import AgentKeys
from stores.skills.services.agents import Agents
from tests.fixtures.bundled_skills import bundled, refused_code, run_bundled
from tests.fixtures.databases import migrated
from tests.fixtures.model_server import Asked, ModelServer, Reply, serving

pytestmark = pytest.mark.anyio

SKILL = "register-openclaw-profile"


def _answer(asked: Asked) -> Reply:
    """A directory: one entry an agent."""
    agent_id = asked.json["agent_profile"]["agent_id"]
    entry = {
        "registered": True,
        "directory_id": f"dir-{agent_id}",
        "profile_url": f"https://dir.example/{agent_id}",
    }
    return Reply(body=json.dumps(entry).encode())


class Desk:
    """An agent, and where it registers."""

    def __init__(self, folder: Path, url: str | None) -> None:
        database_url = f"sqlite:///{folder / 'store.db'}"
        migrated(database_url)
        self.database = Database(database_url)
        self.agents = Agents(self.database)
        self.nora = self.agents.create(CreateAgentRequest(name="Nora"), "alice", "test", datetime.now(UTC))
        keys = AgentKeys(self.database, open_secret_store(self.database, folder, "file", "test"))
        directory = OpenClawDirectory(url, lambda: None) if url is not None else None
        self.services = {"directory": DirectoryService(keys, directory)}

    async def register(self, attempt: int = 1, *, owner: str = "alice", **fields: Any) -> Any:
        profile = {"agent_id": self.nora.agent_id, "name": "Nora", "status": "active", **fields}
        return await run_bundled(
            SKILL, {"agent_profile": profile}, self.services, owner=owner, attempt=attempt
        )


@pytest.fixture
def directory() -> Iterator[ModelServer]:
    with serving() as server:
        server.replies(_answer)
        yield server


@pytest.fixture
def desk(tmp_path: Path, directory: ModelServer) -> Iterator[Desk]:
    found = Desk(tmp_path, directory.url)
    yield found
    found.database.close()


def _verify(body: dict[str, Any]) -> None:
    """As a directory does it: the signature over the profile, by the key that stands in it."""
    header, _, signature = body["signature"].split(".")
    payload = base64.urlsafe_b64encode(rfc8785.dumps(body["agent_profile"])).rstrip(b"=").decode()
    key = Ed25519PublicKey.from_public_bytes(_decoded(body["agent_profile"]["public_key"]))
    key.verify(_decoded(signature), f"{header}.{payload}".encode())


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.mark.acceptance("CH-57", "CH-59")
@pytest.mark.acceptance("O-5")
async def test_a_profile_is_registered_with_a_signature_that_a_changed_byte_breaks(
    desk: Desk, directory: ModelServer
) -> None:
    done = await desk.register()
    assert done.error is None, done
    assert (done.outputs["registered"], done.outputs["directory_id"]) == (True, f"dir-{desk.nora.agent_id}")
    assert set(done.outputs) == {"registered", "profile_url", "directory_id", "registered_at"}
    body = directory.asked[0].json
    _verify(body)
    body["agent_profile"]["name"] = "Norb"
    with pytest.raises(InvalidSignature):
        _verify(body)


@pytest.mark.acceptance("CH-58")
async def test_the_same_agent_again_updates_its_one_entry(desk: Desk, directory: ModelServer) -> None:
    first = await desk.register()
    second = await desk.register(status="busy")
    assert first.outputs["directory_id"] == second.outputs["directory_id"]
    paths = {asked.path for asked in directory.asked}
    assert paths == {f"/v1/directory/agents/{desk.nora.agent_id}"}
    assert len({asked.json["agent_profile"]["public_key"] for asked in directory.asked}) == 1


@pytest.mark.thorough
@pytest.mark.acceptance("CH-59")
@pytest.mark.acceptance("O-5")
async def test_the_public_key_is_the_agents_and_the_private_one_is_nowhere_else(
    desk: Desk, directory: ModelServer, tmp_path: Path
) -> None:
    await desk.register()
    shown = desk.agents.profile(desk.nora.agent_id, "alice")
    assert shown is not None
    assert shown.public_key == directory.asked[0].json["agent_profile"]["public_key"]
    assert "PRIVATE KEY" not in directory.everything()
    assert b"PRIVATE KEY" not in b"".join(path.read_bytes() for path in tmp_path.glob("store.db*"))


@pytest.mark.thorough
@pytest.mark.acceptance("CH-60", "CH-63")
@pytest.mark.parametrize(
    ("reply", "code", "status"),
    [(Reply(status=500), "REGISTRATION_FAILED", 502), (None, "NETWORK_ERROR", 503)],
)
@pytest.mark.produces("register-openclaw-profile", "REGISTRATION_FAILED", "NETWORK_ERROR")
async def test_a_directory_that_fails_is_tried_four_times_then_the_agent_goes_on(
    desk: Desk, directory: ModelServer, reply: Reply | None, code: str, status: int
) -> None:
    directory.replies(reply or Reply(cut=True, body=b"{"))
    for attempt in (1, 2, 3):
        failed = await desk.register(attempt)
        assert (failed.error.code, failed.error.http_status, failed.error.retryable) == (code, status, True)
    last = await desk.register(4)
    assert (last.status.value, last.outputs) == ("partial", {"registered": False})
    assert last.warnings[0].startswith(code)
    assert bundled(SKILL).max_attempts == 4


@pytest.mark.acceptance("CH-60")
async def test_without_a_gateway_nothing_is_registered_and_that_is_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path, None)
    done = await desk.register()
    assert (done.status.value, done.outputs["registered"]) == ("partial", False)
    assert "openclaw_gateway_url" in done.warnings[0]
    desk.database.close()


@pytest.mark.thorough
@pytest.mark.acceptance("CH-57", "CH-60")
@pytest.mark.produces("register-openclaw-profile", "INVALID_PROFILE")
async def test_only_ones_own_agents_are_registered(desk: Desk, directory: ModelServer) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"agent_id": str(uuid4())},
        {"owner_user_id": "bob"},
        {"public_key": "AAAA"},
    )
    for fields in wrong:
        failed = await desk.register(**fields)
        assert (failed.error.code, failed.error.http_status) == ("INVALID_PROFILE", 422)
    assert (await desk.register(owner="bob")).error.code == "INVALID_PROFILE"
    assert directory.asked == []


@pytest.mark.thorough
@pytest.mark.acceptance("CH-60")
async def test_a_profile_that_the_directory_refuses_is_not_sent_again(
    desk: Desk, directory: ModelServer
) -> None:
    directory.replies(Reply(status=422))
    failed = await desk.register()
    assert (failed.error.code, failed.error.retryable) == ("INVALID_PROFILE", False)


@pytest.mark.thorough
@pytest.mark.acceptance("CH-57")
@pytest.mark.parametrize("field", ["agent_id", "name", "status"])
def test_a_profile_without_a_required_field_is_refused(field: str) -> None:
    profile = {"agent_id": str(uuid4()), "name": "Nora", "status": "active"}
    assert refused_code(SKILL, {"agent_profile": profile}) is None
    del profile[field]
    assert refused_code(SKILL, {"agent_profile": profile}) == "INVALID_PROFILE"


@pytest.mark.thorough
@pytest.mark.acceptance("CH-05")
def test_its_time_is_ten_seconds() -> None:
    assert bundled(SKILL).timeout_ms == 10_000
