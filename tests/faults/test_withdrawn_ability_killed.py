"""Worker, API and Temporal are killed while an ability goes out of use: no call for it waits or runs on."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES
from contracts.mcp.dispatch_work import DispatchRecord
from stores.mcp.dispatch.reads import DispatchStore
from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.tool_user import ToolUser, tool_user
from tests.faults.traps import HOLD
from tests.faults.verdict import assert_sound, teach
from tests.fixtures.mcp_servers import MisbehavingServer

pytestmark = pytest.mark.anyio

QUARANTINE = {"reason": "It looks wrong"}


@dataclass
class Running:
    """An ability for which one call waits, and the tool of another has had its effect and does not answer."""

    user: ToolUser
    server: MisbehavingServer
    ability_id: str
    waiting: str = ""
    in_flight: str = ""

    @property
    def deployment(self) -> Deployment:
        return self.user.deployment

    @property
    def path(self) -> str:
        return f"/api/abilities/{self.ability_id}"

    async def begin(self) -> None:
        """Has both calls begin."""
        self.waiting, self.in_flight = await self._ask(), await self._ask()
        self.server.order("hold_after")
        await self.user.approve(self.in_flight)
        await eventually(lambda: bool(self.server.effects(self.in_flight)), "the tool is never called")

    async def stopped(self) -> None:
        """Returns once neither runs nor waits, by what the store says: the API may be gone."""
        await eventually(lambda: self._has_ended(self.waiting), "a call still waits")
        await eventually(lambda: self._has_ended(self.in_flight), "a call still runs")
        assert self._view(self.waiting).status == "cancelled"
        assert self._view(self.in_flight).status == "outcome_unknown"
        self.server.lift()
        assert [one["key"] for one in self.server.effects()] == [self.in_flight]
        await self.deployment.start_api()
        await assert_sound(self.deployment)

    async def _ask(self) -> str:
        body = {
            "server_id": self.user.server_id,
            "tool_name": "append_line",
            "arguments": {"line": "x"},
            "ability_id": self.ability_id,
        }
        asked: dict[str, Any] = await self.user.person.ok("POST", "/api/mcp/dispatches", body)
        dispatch_id = str(asked["dispatch_id"])
        await eventually(lambda: self.user.has_come_to(dispatch_id, "pending_approval"), "it never waits")
        return dispatch_id

    def _view(self, dispatch_id: str) -> DispatchRecord:
        kept = DispatchStore(self.deployment.database).find(dispatch_id)
        assert kept is not None
        return kept.record

    def _has_ended(self, dispatch_id: str) -> bool:
        return self._view(dispatch_id).status not in OPEN_DISPATCH_STATUSES


@pytest.fixture
async def running(
    deployment: Deployment, http: httpx.AsyncClient, misbehaving_server: MisbehavingServer
) -> Running:
    """A user whose ability is approved, and whose tool can be held."""
    user = await tool_user(deployment, http, misbehaving_server)
    await teach(user.person)
    await user.person.propose_act("approve")
    detail = await user.person.ok("GET", f"/api/learn/sessions/{user.person.session_id}/detail")
    found = Running(user, misbehaving_server, str(detail["ability_id"]))
    await found.begin()
    return found


@pytest.mark.parametrize(
    "point",
    [
        "command_ability.any.before",
        "command_ability.any.after",
        "stop_calls.any.before",
        "stop_calls.any.after",
    ],
)
async def test_a_worker_killed_at_every_point_of_a_quarantine(running: Running, point: str) -> None:
    deployment = running.deployment
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        await running.user.person.ok("POST", f"{running.path}/quarantine", QUARANTINE)
        await running.stopped()
        await eventually(lambda: deployment.traps.has_sprung(point), "nobody came by")


async def test_the_api_killed_before_it_answers_the_command(running: Running) -> None:
    deployment = running.deployment
    deployment.traps.set("answer.quarantine")
    with pytest.raises(httpx.TransportError):
        await running.user.person.ok("POST", f"{running.path}/quarantine", QUARANTINE)
    await deployment.api_has_died()
    await running.stopped()


async def test_temporal_killed_once_the_command_is_carried_out(running: Running) -> None:
    deployment, point = running.deployment, "stop_calls.any.before"
    deployment.traps.set(point, HOLD)
    await running.user.person.ok("POST", f"{running.path}/quarantine", QUARANTINE)
    await deployment.traps.victim(point)
    deployment.temporal.kill()
    deployment.traps.clear()
    await deployment.temporal.start()
    await running.stopped()


async def test_the_api_killed_when_the_fifth_failure_was_written_that_quarantines_the_capability(
    running: Running,
) -> None:
    deployment = running.deployment

    async def fails() -> None:
        body = {
            "checkpoint_id": "cp-01",
            "ability_id": running.ability_id,
            "dispatch_id": str(uuid4()),
            "status": "failed",
            "evidence": "the file is not there",
        }
        await running.user.person.ok("POST", "/api/bridge/verify-checkpoint", body)

    for _ in range(4):
        await fails()
    deployment.traps.set("answer.verify-checkpoint")
    with pytest.raises(httpx.TransportError):
        await fails()
    await deployment.api_has_died()
    await running.stopped()
