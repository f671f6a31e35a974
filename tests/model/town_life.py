"""What people may do next: a random command of any kind, several of them at once now and then."""

from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from typing import Any
from uuid import uuid4

import anyio

from tests.fixtures.learner import Learner
from tests.model.choices import BODIES_OF_ABILITY, OF_ABILITY
from tests.model.driver import NOBODY, shown, shown_after
from tests.model.reference import AT_REST
from tests.model.town import Resident, Town

Move = Callable[[], Awaitable[None]]

OF_SESSION = ("start", "pause", "resume", "stop", "generate-proposal", "cancel")
OF_PROPOSAL = ("validate", "install", "approve", "reject", "revise")
BODIES: dict[str, tuple[Any, ...]] = {
    **BODIES_OF_ABILITY,
    "install": ({"install_lane": "experimental_private"},),
    "reject": ({"reason": "not what was meant"},),
    "revise": ({"revision_instructions": "as it is"},),
}
LEADS_ON = {
    "armed": ("start",),
    "paused": ("resume", "stop"),
    "stopped": ("generate-proposal", "generate-proposal", "cancel"),
    "drafting_proposal": ("validate",),
    "ready_for_review": ("install", "approve", "approve", "validate", "reject"),
    "installed_private": ("approve",),
    "quarantined": ("revise", "cancel"),
}
NEW_SESSION = {
    "entry_mode": "demonstrating_skill",
    "observation_mode": "outside_agent",
    "allow_private_install": True,
}
QUARANTINES_FROM = 5
"""So many failed uses take a capability out of use."""


class TownLife:
    """A town that goes its way by chance. What is drawn is drawn before anything is sent."""

    def __init__(self, town: Town, rng: Random) -> None:
        self.town = town
        self.rng = rng

    async def begin(self) -> None:
        """Everybody teaches something, all at once; one keeps it private, one teaches it twice."""

        async def teach(who: Resident, times: int, end: str) -> None:
            goal = who.new_goal()
            for more in range(times):
                await self._lesson(who, goal, shown("good", goal) + shown_after(goal) * more, end)

        async with anyio.create_task_group() as together:
            for who, times, end in zip(
                self.town.residents, (2, 1, 1), ("approve", "approve", "install"), strict=True
            ):
                together.start_soon(teach, who, times, end)

    async def step(self) -> None:
        """One command, or up to four at once; of one person or of several."""
        alone = self.rng.choice([None, None, *self.town.residents])
        moves = [await self._move(alone) for _ in range(self.rng.choice([1, 1, 2, 3, 4]))]
        self.town.log.append(f"-- {len(moves)} at once")
        async with anyio.create_task_group() as together:
            for move in moves:
                together.start_soon(move)

    async def end(self) -> None:
        """Gives up what would run on."""
        for who in self.town.residents:
            for session in await who.sessions():
                if session["state"] not in AT_REST:
                    await self.town.send(
                        who.learner, f"/api/learn/sessions/{session['learn_session_id']}/cancel"
                    )

    async def _move(self, alone: Resident | None) -> Move:
        who = alone or self.rng.choice(self.town.residents)
        kinds = {
            self._leads_on: 8,
            self._any_of_session: 3,
            self._lesson_of: 2,
            self._of_ability: 7,
            self._failures: 3,
            self._call: 2,
        }
        (kind,) = self.rng.choices([*kinds], [*kinds.values()])
        return await kind(who)

    # ---- sessions ----

    async def _leads_on(self, who: Resident) -> Move:
        """What brings the newest session that is under way further; where none is, a new one."""
        under_way = [one for one in await who.sessions() if one["state"] not in AT_REST]
        if not under_way:
            return self._create(who)
        session = under_way[-1]
        if session["state"] == "capturing":
            return self._show_and_stop(who, session)
        if session["state"] == "testing_proposal":
            return partial(self.town.settled, who, session["learn_session_id"])
        return self._command(
            who.learner, session, self.rng.choice(LEADS_ON.get(session["state"], ("cancel",)))
        )

    async def _any_of_session(self, who: Resident) -> Move:
        """Any command to any session, also to somebody else's; or one session more."""
        whose = self.rng.choice([who, who, who, *self.town.residents])
        sessions = await whose.sessions()
        if not sessions or self.rng.random() < 0.25:
            return self._create(who)
        session = self.rng.choice([sessions[-1], self.rng.choice(sessions)])
        return self._command(who.learner, session, self.rng.choice([*OF_SESSION, *OF_PROPOSAL]))

    async def _lesson_of(self, who: Resident) -> Move:
        """A whole lesson: another version of something, or something new."""
        goal = self.rng.choice(who.goals) if self.rng.random() < 0.7 else who.new_goal()
        kind = self.rng.choice(["good", "good", "good", "failing", "unsafe"])
        demonstrated = shown(kind, goal) + shown_after(goal) * self.rng.randrange(3)
        return partial(self._lesson, who, goal, demonstrated, self.rng.choice(["install", "approve"]))

    def _create(self, who: Resident) -> Move:
        async def create() -> None:
            response = await self.town.send(who.learner, "/api/learn/sessions", NEW_SESSION)
            if response.is_success:
                self.town.call_it(response.json()["session"]["learn_session_id"], f"{who.name}-session")

        return create

    def _show_and_stop(self, who: Resident, session: dict[str, Any]) -> Move:
        goal = self.rng.choice(who.goals)
        demonstrated = shown("good", goal) + shown_after(goal) * self.rng.randrange(3)
        return partial(self._show, who, session["learn_session_id"], goal, demonstrated)

    def _command(self, who: Learner, session: dict[str, Any], action: str) -> Move:
        body = self.rng.choice(BODIES.get(action, (None,)))
        path = f"/api/learn/sessions/{session['learn_session_id']}/{action}"
        if action in OF_PROPOSAL:
            path = f"/api/learn/proposals/{session['proposal_id'] or NOBODY}/{action}"

        async def command() -> None:
            await self.town.send(who, path, body)

        return command

    async def _show(self, who: Resident, session_id: str, goal: str, demonstrated: Any) -> bool:
        """The demonstration of a session that has begun, to its end; whether all of it was taken."""
        path = f"/api/learn/sessions/{session_id}"
        events = Learner(who.learner.http, "", who.name, session_id).events(demonstrated)
        requests = (
            ("mark-goal", {"goal_description": goal}),
            ("observations", {"events": events}),
            ("stop", None),
        )
        for action, body in requests:
            if not (await self.town.send(who.learner, f"{path}/{action}", body)).is_success:
                return False
        return True

    async def _lesson(self, who: Resident, goal: str, demonstrated: Any, end: str) -> None:
        """From a new session to an installed ability; given up where something is refused."""
        created = await self.town.send(who.learner, "/api/learn/sessions", NEW_SESSION)
        if not created.is_success:
            return
        session_id = created.json()["session"]["learn_session_id"]
        self.town.call_it(session_id, f"{who.name}-session")
        path = f"/api/learn/sessions/{session_id}"
        if not (await self.town.send(who.learner, f"{path}/start")).is_success:
            return
        if not await self._show(who, session_id, goal, demonstrated):
            return
        drafted = await self.town.send(who.learner, f"{path}/generate-proposal", {})
        if not drafted.is_success:
            return
        proposal_id = drafted.json()["proposal_id"]
        self.town.call_it(proposal_id, f"{who.name}-proposal")
        path = f"/api/learn/proposals/{proposal_id}"
        if (await self.town.send(who.learner, f"{path}/validate", {})).is_success:
            await self.town.settled(who, session_id)
            await self.town.send(who.learner, f"{path}/{end}", BODIES.get(end, (None,))[0])

    # ---- abilities ----

    async def _of_ability(self, who: Resident) -> Move:
        """A command on an ability that somebody sees: often one that it takes, mostly by its owner or the admin."""
        ability = await self._ability_seen_by(who)
        actions = self.rng.choice([OF_ABILITY, ability["allowed_actions"], ability["allowed_actions"]])
        action = self.rng.choice(actions or OF_ABILITY).replace("_", "-")
        body = self.rng.choice(BODIES.get(action, (None,)))
        caller = self.rng.choice([who.learner, who.learner, self.town.admin])

        async def command() -> None:
            await self.town.send(caller, f"/api/abilities/{ability['ability_id']}/{action}", body)

        return command

    async def _failures(self, who: Resident) -> Move:
        """Uses of an ability that fail at a checkpoint, each in a run of its own, and maybe all at once."""
        ability_id = (await self._ability_seen_by(who))["ability_id"]
        times = self.rng.choice([1, 3, QUARANTINES_FROM])
        runs = [str(uuid4()) for _ in range(times)]

        async def fail(run: str) -> None:
            body = {
                "checkpoint_id": "cp-01",
                "ability_id": ability_id,
                "dispatch_id": run,
                "status": "failed",
                "evidence": "it is not there",
            }
            await self.town.send(who.learner, "/api/bridge/verify-checkpoint", body)

        async def report() -> None:
            async with anyio.create_task_group() as together:
                for run in runs:
                    together.start_soon(fail, run)

        return report

    async def _call(self, who: Resident) -> Move:
        """A tool called on behalf of an ability, whatever becomes of the ability meanwhile."""
        ability_id = (await self._ability_seen_by(who))["ability_id"]

        async def call() -> None:
            await self.town.send(who.learner, "/api/mcp/dispatches", who.reading_call(ability_id))

        return call

    async def _ability_seen_by(self, who: Resident) -> dict[str, Any]:
        """One of the town's that they see, mostly one that they may do something with."""
        listed = (await who.get("/api/abilities/availability"))["abilities"]
        of_town = [
            one for one in listed if any(one["title"] in person.goals for person in self.town.residents)
        ]
        mine = [one for one in of_town if one["allowed_actions"]]
        return self.rng.choice(mine if mine and self.rng.random() < 0.8 else of_town)
