"""get_agent_profile and update_agent_state with their service and a real store, without a workflow."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from uuid_utils import uuid7

from activities.skills.services.profiles_service import ProfilesService
from contracts.skills.agents import AgentProfile, CreateAgentRequest
from stores.platform.database import Database
from stores.skills.services.agents import Agents
from tests.fixtures.bundled_skills import refused_code, run_bundled
from tests.fixtures.databases import migrated

pytestmark = pytest.mark.anyio

GET, UPDATE = "get-agent-profile", "update-agent-state"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    found = Database(url)
    yield found
    found.close()


@pytest.fixture
def nora(database: Database) -> AgentProfile:
    return Agents(database).create(CreateAgentRequest(name="Nora"), "alice", "test", datetime.now(UTC))


@pytest.fixture
def services(database: Database) -> dict[str, ProfilesService]:
    return {"profiles": ProfilesService(Agents(database))}


@pytest.mark.acceptance("CH-40", "CH-44")
async def test_a_change_shows_in_the_profile(
    services: dict[str, ProfilesService], nora: AgentProfile
) -> None:
    changed = await run_bundled(
        UPDATE, {"agent_id": nora.agent_id, "state_updates": {"status": "busy"}}, services
    )
    assert changed.error is None, changed
    assert changed.outputs is not None
    assert (changed.outputs["success"], changed.outputs["new_version"]) == (True, 2)
    found = await run_bundled(GET, {"agent_id": nora.agent_id}, services)
    assert found.outputs == changed.outputs["updated_profile"]
    assert found.outputs is not None
    assert found.outputs["status"] == "busy"


@pytest.mark.acceptance("CH-42")
@pytest.mark.parametrize("owner", ["alice", "bob"])
@pytest.mark.produces("get-agent-profile", "AGENT_NOT_FOUND")
async def test_an_unknown_agent_and_somebody_elses_are_not_found(
    services: dict[str, ProfilesService], nora: AgentProfile, owner: str
) -> None:
    agent_id = nora.agent_id if owner == "bob" else str(uuid7())
    found = await run_bundled(GET, {"agent_id": agent_id}, services, owner=owner)
    assert found.error is not None
    assert (found.error.code, found.error.http_status) == ("AGENT_NOT_FOUND", 404)


@pytest.mark.acceptance("CH-41", "CH-42")
@pytest.mark.produces("get-agent-profile", "UNAVAILABLE")
async def test_where_agents_cannot_be_read_the_last_copy_is_given_and_marked(
    services: dict[str, ProfilesService], database: Database, nora: AgentProfile
) -> None:
    known = await run_bundled(GET, {"agent_id": nora.agent_id}, services)
    other = Agents(database).create(CreateAgentRequest(name="Otto"), "alice", "test", datetime.now(UTC))
    with database.write() as connection:
        connection.execute(text("ALTER TABLE skill_agents RENAME TO taken_away"))
    stale = await run_bundled(GET, {"agent_id": nora.agent_id}, services)
    assert stale.status.value == "partial"
    assert stale.outputs == {**(known.outputs or {}), "stale": True}
    assert stale.warnings[0].startswith("UNAVAILABLE")
    without = await run_bundled(GET, {"agent_id": other.agent_id}, services)
    assert without.error is not None
    assert (without.error.code, without.error.http_status) == ("UNAVAILABLE", 503)


@pytest.mark.acceptance("CH-45", "CH-47")
@pytest.mark.produces("update-agent-state", "CONCURRENCY_ERROR", "INVALID_STATE_TRANSITION")
@pytest.mark.acceptance("X-28")
async def test_a_refused_change_says_why_and_how_the_agent_stands(
    services: dict[str, ProfilesService], nora: AgentProfile
) -> None:
    def asked(**fields: Any) -> dict[str, Any]:
        return {"agent_id": nora.agent_id, "state_updates": {"status": "paused"}, **fields}

    late = await run_bundled(UPDATE, asked(expected_version=7), services)
    assert late.error is not None
    assert (late.error.code, late.error.http_status, late.error.retryable) == (
        "CONCURRENCY_ERROR",
        409,
        False,
    )
    assert late.outputs == {"current_version": 1}
    await run_bundled(UPDATE, asked(), services)
    wrong = await run_bundled(UPDATE, asked(state_updates={"status": "error"}), services)
    assert wrong.error is not None
    assert (wrong.error.code, wrong.error.http_status) == ("INVALID_STATE_TRANSITION", 422)


@pytest.mark.acceptance("CH-40", "CH-43")
@pytest.mark.parametrize(
    ("skill", "given"),
    [
        (GET, {"agent_id": "nora"}),
        (GET, {}),
        (UPDATE, {"state_updates": {"pending_tasks": -1}}),
        (UPDATE, {"state_updates": {"wallet_balance": -0.01}}),
        (UPDATE, {"state_updates": {"mood": "good"}}),
        (UPDATE, {"state_updates": {}}),
        (UPDATE, {"state_updates": {"status": "sleeping"}}),
        (UPDATE, {"state_updates": {"status": "error", "reason": "x" * 241}}),
        (UPDATE, {"state_updates": {"last_execution": "yesterday"}}),
    ],
)
def test_what_the_schema_does_not_have_is_refused(skill: str, given: dict[str, Any]) -> None:
    known = {"agent_id": str(uuid7())} if skill == UPDATE else {}
    assert refused_code(skill, {**known, **given}) == "INVALID_INPUT"
