"""Three people, an admin and what they have learned, on one running application, asked over HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import anyio
import httpx
from mcp import Client

from contracts.errors import ERROR_RULES, ErrorCode
from tests.fixtures.agents import agent, agent_token
from tests.fixtures.learner import WAIT_AT_MOST_SECONDS, Learner
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.stack import Stack
from tests.fixtures.tool_calls import CALLER_SCOPES, ToolUser
from tests.model.driver import goal_number

RESIDENTS = ("ann", "ben", "cleo")
MAY_BE_REFUSED = frozenset(
    {
        ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
        ErrorCode.INVALID_LEARN_STATE_TRANSITION,
        ErrorCode.LEARN_SESSION_NOT_FOUND,
        ErrorCode.PROPOSAL_NOT_FOUND,
        ErrorCode.ABILITY_NOT_FOUND,
        ErrorCode.VALIDATION_IN_PROGRESS,
        ErrorCode.VALIDATION_REQUIRED,
        ErrorCode.INSTALL_IN_PROGRESS,
        ErrorCode.INSTALL_LANE_DENIED,
        ErrorCode.INSUFFICIENT_TRACES,
        ErrorCode.CAPTURE_ALREADY_STOPPED,
        ErrorCode.CONFLICT,
        ErrorCode.NOT_FOUND,
        ErrorCode.FORBIDDEN,
    }
)
"""What a command that comes at the wrong time, or to somebody else's, may be told."""

goals = count(200)
"""What is taught shares no word with what anybody else teaches."""


@dataclass
class Resident:
    """Somebody with sessions, abilities, a tool server and an agent."""

    learner: Learner
    server_id: str
    agent: Client
    goals: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Whom the tokens belong to."""
        return self.learner.user

    def new_goal(self) -> str:
        """Something that nobody has taught yet."""
        self.goals.append(goal_number(next(goals)))
        return self.goals[-1]

    async def get(self, path: str) -> Any:
        """What they are shown."""
        return await self.learner.ok("GET", path)

    async def sessions(self) -> list[dict[str, Any]]:
        """Their sessions, oldest first."""
        found = (await self.get("/api/learn/sessions?page_size=100"))["sessions"]
        return sorted(found, key=lambda session: session["learn_session_id"])

    def reading_call(self, ability_id: str) -> dict[str, Any]:
        """A call of a tool that only reads, on an ability's behalf."""
        call = {"server_id": self.server_id, "tool_name": "read_note", "arguments": {"name": "a"}}
        return {**call, "ability_id": ability_id}


@dataclass
class Town:
    """Everybody, and what was said so far."""

    stack: Stack
    residents: Sequence[Resident]
    admin: Learner
    log: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What ids are called in the log."""

    async def send(
        self, who: Learner, path: str, body: Any = None, *, method: str = "POST"
    ) -> httpx.Response:
        """One command. It is taken, or refused for a reason that a person can understand."""
        response = await who.call(method, path, body)
        code = "" if response.is_success else response.json()["error"]["code"]
        self.log.append(self._told(who.user, path, body, f"{response.status_code} {code}"))
        if code:
            assert code in MAY_BE_REFUSED, response.text
            assert ERROR_RULES[ErrorCode(code)].status == response.status_code
        return response

    async def settled(self, who: Resident, session_id: str) -> None:
        """Waits until no validation of the session runs."""
        with anyio.fail_after(WAIT_AT_MOST_SECONDS):
            while (await who.get(f"/api/learn/sessions/{session_id}/detail"))["state"] == "testing_proposal":
                await anyio.sleep(0.02)

    def call_it(self, found_id: str, what: str) -> None:
        """Gives an id a name to be told by."""
        self.names.setdefault(found_id, f"<{what}-{len(self.names) + 1}>")

    def _told(self, user: str, path: str, body: Any, answer: str) -> str:
        path = path.removeprefix("/api/")
        for found_id, name in self.names.items():
            path = path.replace(found_id, name)
        said = "" if body is None or "events" in body else f" {body}"
        return f"{user}: {path}{said} -> {answer}"


@asynccontextmanager
async def town_of(stack: Stack, address: str, server: GoodServer, walk: int) -> AsyncIterator[Town]:
    """New people, so that one running application serves every walk."""
    async with AsyncExitStack() as connections:
        residents: list[Resident] = []
        for name in RESIDENTS:
            person = stack.learner(f"{name}-{walk}", CALLER_SCOPES)
            caller = ToolUser(stack, person)
            await caller.register(server)
            client = agent(address, agent_token(stack, person.user))
            connected = await connections.enter_async_context(client)
            residents.append(Resident(person, caller.server_id, connected))
        yield Town(stack, residents, stack.learner(f"root-{walk}", ("admin",)))
