"""Where a part is missing or behind, what needs it is refused before anything begins; the rest goes on."""

import pytest
from sqlalchemy import func, select
from uuid_utils import uuid7

from stores.abilities import derived_files
from stores.platform.tables import install_sagas
from tests.e2e.ability_owner import WHY, owner_of_one
from tests.e2e.calling import DESTROY, WRITE, Calling, calling
from tests.fixtures.agents import agent, agent_token, refusal
from tests.fixtures.mined import add_mined
from tests.fixtures.served import served
from tests.fixtures.stack import Stack
from tests.fixtures.stuck_snapshot import clear_snapshot, obstruct_snapshot

__all__ = ["calling"]

pytestmark = pytest.mark.anyio

INSTALLS = ["learn_proposal_install", "learn_proposal_approve", "ability_promote_shared"]


def sagas(stack: Stack) -> int:
    with stack.database.read() as connection:
        return connection.scalar(select(func.count()).select_from(install_sagas)) or 0


async def allow(calling: Calling, tool_name: str) -> None:
    """Lets a tool's calls pass unasked."""
    target = {"target_kind": "tool", "server_id": calling.server_id, "tool_name": tool_name}
    body = {"target": target, "decision": {"mode": "enabled"}}
    await calling.person.ok("POST", "/api/mcp/policy/update", body)


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-13", "9.20-1")
async def test_nothing_is_installed_or_shared_while_the_snapshot_cannot_be_written(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived_files, "SNAPSHOT_WAIT_SECONDS", 1.0)
    owner = await owner_of_one(stack, lane="experimental_private")
    bob = stack.learner("bob")
    await bob.teach("Pack the sales figures", allow_private_install=True)
    obstruct_snapshot(stack)
    told = await bob.ok("GET", "/api/learn/deployment")
    assert (told["partial_deployment"]["state"], told["partial_deployment"]["blocking"]) == (
        "availability_pending",
        True,
    )
    assert set(INSTALLS) <= set(told["disabled"])

    before = sagas(stack)
    for action, body in (("approve", None), ("install", {"install_lane": "experimental_private"})):
        path = f"/api/learn/proposals/{bob.proposal_id}/{action}"
        status, error = await bob.refused("POST", path, body)
        assert (status, error["code"]) == (409, "PARTIAL_DEPLOYMENT")
        assert (error["state"], error["reason_code"]) == ("availability_pending", "snapshot_not_projected")
        assert "worker" in error["message"]
    assert (await owner.may_not("promote-shared"))[1]["code"] == "PARTIAL_DEPLOYMENT"
    assert sagas(stack) == before
    assert await bob.state() == "ready_for_review"

    # What is reviewed and taken back stays possible.
    await bob.ok("GET", f"/api/learn/proposals/{bob.proposal_id}/detail")
    await owner.learner.ok("POST", f"{owner.path}/quarantine", WHY)

    clear_snapshot(stack)
    approved = await bob.propose_act("approve")
    assert approved["proposal"]["proposal_state"] == "approved"
    assert not set(INSTALLS) & set((await bob.ok("GET", "/api/learn/deployment"))["disabled"])


async def test_an_install_that_was_answered_is_answered_again_while_the_snapshot_is_behind(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach()
    first = await alice.propose_act("approve", None, idempotency_key="once")
    obstruct_snapshot(stack)
    assert await alice.propose_act("approve", None, idempotency_key="once") == first
    clear_snapshot(stack)


@pytest.mark.acceptance("9.20-2")
async def test_without_the_policy_of_connectors_nothing_is_called_whoever_asks(calling: Calling) -> None:
    waiting = await calling.call(DESTROY)
    assert waiting["status"] == "pending_approval"
    await allow(calling, "append_line")
    operations = calling.stack.app.state.operations
    calling.stack.app.state.operations = operations - {"mcp_policy_update"}
    status, error = await calling.person.refused(
        "POST", f"/api/mcp/ask-first/{waiting['dispatch_id']}/approve", {"decision": "approve_once"}
    )
    assert (status, error["code"], error["component"]) == (409, "PARTIAL_DEPLOYMENT", "connector policy")
    for call in (WRITE, DESTROY):
        body = {"server_id": calling.server_id, **call}
        status, error = await calling.person.refused("POST", "/api/mcp/dispatches", body)
        assert (status, error["code"], error["component"]) == (409, "PARTIAL_DEPLOYMENT", "connector policy")
    async with (
        served(calling.stack) as address,
        agent(address, agent_token(calling.stack)) as client,
    ):
        error = await refusal(client, "call_tool", {"server_id": calling.server_id, **DESTROY})
        assert error["code"] == "PARTIAL_DEPLOYMENT"
    assert calling.server.effects() == []
    assert (await calling.person.ok("GET", "/api/mcp/dispatches"))["total"] == 1

    calling.stack.app.state.operations = operations
    assert (await calling.call(DESTROY))["status"] == "pending_approval"


@pytest.mark.acceptance("9.20-3")
async def test_without_the_mining_of_skills_nothing_is_built_from_it_and_teaching_by_hand_goes_on(
    stack: Stack,
) -> None:
    alice = stack.learner()
    listed = "/api/learn/mining/candidates"
    await alice.demonstrate()
    await alice.act("cancel")
    add_mined(stack.database, alice.user, str(uuid7()), str(uuid7()), alice.session_id)
    (before,) = (await alice.ok("GET", listed))["candidates"]
    assert "accept" in before["allowed_actions"]
    stack.app.state.operations = stack.app.state.operations - {"mining_scan"}
    (after,) = (await alice.ok("GET", listed))["candidates"]
    assert "accept" not in after["allowed_actions"]
    assert [one["action"] for one in after["refused_actions"]] == ["accept"]
    candidate = "00000000-0000-7000-8000-000000000001"
    status, error = await alice.refused("POST", f"/api/learn/mining/candidates/{candidate}/accept")
    assert (status, error["code"], error["component"]) == (409, "PARTIAL_DEPLOYMENT", "skill mining")
    told = await alice.ok("GET", "/api/learn/deployment")
    assert "mining_candidate_accept" in told["disabled"]

    await alice.teach()
    approved = await alice.propose_act("approve")
    assert approved["proposal"]["proposal_state"] == "approved"
