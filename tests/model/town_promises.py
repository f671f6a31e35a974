"""What must hold whatever people have done, as anybody can see it: through the API, an agent and the files."""

from typing import Any

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilitySnapshot,
    InstallLane,
)
from stores.platform.projection.projector import Projector
from tests.fixtures.agents import answer
from tests.model.reference import AT_REST, LADDER
from tests.model.town import Resident, Town


class Owned:
    """An ability as its owner sees it."""

    def __init__(self, owner: Resident, entry: AbilityAvailabilityEntry, health: str) -> None:
        self.owner = owner
        self.entry = entry
        self.health = health

    @property
    def in_service(self) -> bool:
        """Whether nobody has taken the ability itself out of use."""
        entry = self.entry
        quarantined = entry.install_lane is InstallLane.QUARANTINED
        return entry.enabled and not quarantined and entry.archived_at is None

    @property
    def routable(self) -> bool:
        """Whether it may be used: in service, and its capability not quarantined for its failures."""
        return self.in_service and self.health != "quarantined"

    @property
    def words(self) -> str:
        """What somebody says who wants it done."""
        return self.entry.trigger_phrases[0]

    def seen_by(self, who: Resident) -> bool:
        """Whether somebody may use it when it can be used."""
        private = self.entry.install_lane is InstallLane.EXPERIMENTAL_PRIVATE
        return not private or who is self.owner


async def assert_promises_are_kept(town: Town) -> list[Owned]:
    """One session at work each, all content proven, nothing quarantined in use, one truth; the abilities."""
    settings = town.stack.settings
    # What the worker does by itself a moment later: here it is waited for.
    Projector(town.stack.database, settings.memory_root, settings.workspace).catch_up()
    owned: list[Owned] = []
    for who in town.residents:
        await assert_one_session_at_work(who)
        mine = await abilities_of(who)
        await assert_all_is_proven(town, mine)
        owned += mine
    for who in town.residents:
        await assert_only_what_is_routable_is_found(who, owned)
    for ability in owned:
        await assert_agents_are_offered_what_is_routable(ability)
        await assert_calls_are_made_for_what_is_routable(ability)
    assert_snapshot_is(town, owned)
    return owned


async def assert_one_session_at_work(who: Resident) -> None:
    """At most one; a session whose installed ability was quarantined waits aside until it is taken up again."""
    sessions = await who.sessions()
    at_work = [
        session["state"]
        for session in sessions
        if session["state"] not in AT_REST
        and not (session["state"] == "quarantined" and session.get("ability_id"))
    ]
    assert len(at_work) <= 1, (who.name, at_work)


async def abilities_of(who: Resident) -> list[Owned]:
    """What somebody owns, in the order of the ids."""
    listed = (await who.get("/api/abilities/availability"))["abilities"]
    health = {
        one["capability_id"]: one["health_status"]
        for one in (await who.get("/api/capabilities/health"))["capabilities"]
    }
    routed = {
        one["capability_id"]: one["routing_eligible"]
        for one in (await who.get("/api/capabilities/bridge"))["entries"]
    }
    found: list[Owned] = []
    for one in listed:
        whole = await who.get(f"/api/abilities/{one['ability_id']}/availability")
        entry = AbilityAvailabilityEntry.model_validate(whole)
        if entry.owner_user_id != who.name:
            continue
        assert all(whole[name] == one[name] for name in one.keys() & whole.keys()), (whole, one)
        capability = entry.primary_capability_id
        ability = Owned(who, entry, health[capability])
        assert entry.usable_now is ability.routable, (entry, ability.health)
        assert routed[capability] is ability.routable, (entry, ability.health)
        found.append(ability)
    return found


async def assert_all_is_proven(town: Town, mine: list[Owned]) -> None:
    """Every version's very content has passed the whole ladder; just what is in service lies in the workspace."""
    for ability in mine:
        ability_id, who = ability.entry.ability_id, ability.owner
        detail = await who.get(f"/api/abilities/{ability_id}")
        for version in (await who.get(f"/api/abilities/{ability_id}/versions"))["versions"]:
            path = f"/api/learn/proposals/{version['proposal_id']}"
            runs = (await who.get(f"{path}/validation-runs?page_size=100"))["runs"]
            passed = {
                ref.removeprefix("check:")
                for run in runs
                if run["content_hash"] == version["content_hash"] and run["overall_result"] == "passed"
                for ref in run["result_refs"]
            }
            assert passed >= set(LADDER), (ability_id, version, runs)
            proposal = (await who.get(f"{path}/detail"))["proposal"]
            if version["current"] and proposal["content_hash"] == version["content_hash"]:
                files = (await who.get(f"{path}/files"))["files"]
                proven = {file["path"]: file["content"] for file in files}
                assert detail["skill_markdown"] == proven["SKILL.md"]
        skill = town.stack.settings.workspace / "skills" / str(ability.entry.skill_slug) / "SKILL.md"
        text = skill.read_text() if skill.exists() else None
        assert text == (detail["skill_markdown"] if ability.in_service else None), ability.entry


async def assert_only_what_is_routable_is_found(who: Resident, owned: list[Owned]) -> None:
    """No lookup leads anybody to what is out of use, or to what is somebody else's own."""
    for ability in owned:
        looked_up = await who.learner.ok("POST", "/api/abilities/lookup", {"user_query": ability.words})
        usable = {match["ability_id"]: match["usable_now"] for match in looked_up["matches"]}
        expected = ability.routable if ability.in_service and ability.seen_by(who) else None
        assert usable.get(ability.entry.ability_id) is expected, (who.name, ability.entry, ability.health)


async def assert_agents_are_offered_what_is_routable(ability: Owned) -> None:
    """Its owner's agent finds it, and reads how it is done, while it may be used and not otherwise."""
    agent, ability_id = ability.owner.agent, ability.entry.ability_id
    found = await answer(agent, "find_ability", {"query": ability.words})
    offered = {one["ability_id"] for one in found["abilities"]}
    assert (ability_id in offered) is ability.routable, (ability.entry, ability.health)
    read: Any = await agent.call_tool("read_skill", {"ability_id": ability_id})
    assert read.is_error is not ability.routable, (ability.entry, ability.health)


async def assert_calls_are_made_for_what_is_routable(ability: Owned) -> None:
    """A tool is called on an ability's behalf while it may be used, and not otherwise."""
    who = ability.owner
    call = await who.learner.ok("POST", "/api/mcp/dispatches", who.reading_call(ability.entry.ability_id))
    expected = ("completed", None) if ability.routable else ("blocked", "MCP_POLICY_BLOCKED")
    assert (call["status"], call.get("error_code")) == expected, (ability.entry, ability.health, call)


def assert_snapshot_is(town: Town, owned: list[Owned]) -> None:
    """The file that agents' runtimes read says of each ability what its owner is told."""
    file = town.stack.settings.memory_root / "system/abilities/availability_current.json"
    names = {who.name for who in town.residents}
    written = AbilityAvailabilitySnapshot.model_validate_json(file.read_bytes()).abilities
    assert {one.ability_id: one for one in written if one.owner_user_id in names} == {
        one.entry.ability_id: one.entry for one in owned
    }
