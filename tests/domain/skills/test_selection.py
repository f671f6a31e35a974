"""Skills for a step of a plan, over a registry of thirty (AI-14…AI-17, AI-28, O-8)."""

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import InstallLane
from contracts.abilities.lookup import AbilityFit, Fit
from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from contracts.skills.manifest import BrokerService, SafetyLevel
from contracts.skills.selection import CandidateKind, FindSkillsRequest, FindSkillsResponse, StepEntity
from domain.skills.selection import World, find_skills, tools_for
from tests.domain.skills.manifests import manifest

NOW = datetime(2026, 11, 23, tzinfo=UTC)
WORLD = World(services=frozenset(BrokerService))

with (Path(__file__).parent / "golden_registry.tsv").open(encoding="utf-8", newline="") as lines:
    GOLDEN = list(csv.DictReader(lines, delimiter="\t"))


def record(state: SkillState = SkillState.READY, **fields: Any) -> SkillRecord:
    skill = manifest(**fields)
    return SkillRecord(
        root=SkillRoot.BUNDLED, name=skill.name, state=state, path="/skills", manifest=skill, seen_at=NOW
    )


def recorded(row: dict[str, str]) -> SkillRecord:
    acts = row["effect"] != "read"
    needs = ({"name": f"has {row['service']}", "service": row["service"]},) if row["service"] else ()
    return record(
        name=row["name"],
        description=row["description"],
        category=row["category"],
        capabilities=("act",) if acts else ("read",),
        effect=row["effect"],
        confirmation_required=acts,
        safety_level=row["level"],
        life_areas=(row["life_areas"],) if row["life_areas"] else (),
        preconditions=needs,
    )


REGISTRY = [recorded(row) for row in GOLDEN]


def found(
    description: str, world: World = WORLD, registry: list[SkillRecord] = REGISTRY, **wanted: Any
) -> FindSkillsResponse:
    return find_skills(registry, FindSkillsRequest(description=description, **wanted), world)


def names(response: FindSkillsResponse) -> list[str]:
    return [one.skill for one in response.skills]


def left_out(response: FindSkillsResponse) -> dict[str, str]:
    return {one.skill: one.left_out_because for one in response.left_out}


@pytest.mark.acceptance("AI-15")
@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["name"])
def test_the_skill_that_does_it_is_the_first(row: dict[str, str]) -> None:
    response = found(row["asked"])
    assert names(response)[0] == row["name"]
    assert response.skills[0].fit in (Fit.YES, Fit.MAYBE)


@pytest.mark.acceptance("AI-15", "AI-29")
@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("debit the wallet of Anna by 10 USDC before Friday", "debit-wallet"),
        ("fetch the balance of wallet 0xabc on sepolia", "fetch-wallet-balance"),
        ("fetch the trends of the last day from reddit", "fetch-trends"),
        ("publish the content on TikTok at noon", "publish-content"),
        ("resize the image holiday.png to 300 pixels", "resize-image"),
        ("translate the text to Japanese", "translate-text"),
        ("schedule a check-in on Monday morning at nine", "schedule-check-in"),
        ("log the social event of last Saturday at Ben's", "log-social-event"),
        ("generate a reflection about the last two weeks", "generate-reflection"),
        ("archive the mail from March", "archive-mail"),
        ("delete the file report.txt in drafts", "delete-file"),
        ("convert the pdf invoice-17.pdf", "convert-pdf"),
        ("register the openclaw profile of agent 7", "register-openclaw-profile"),
        ("track my sleep since Tuesday", "track-sleep"),
    ],
)
def test_parameters_in_the_words_of_a_step_do_not_hide_the_skill(asked: str, name: str) -> None:
    assert names(found(asked))[0] == name


@pytest.mark.acceptance("AI-14")
@pytest.mark.parametrize("asked", ["bake a cake", "what a fine morning", "xyzzy", "?", "restart the kernel"])
def test_what_no_skill_does_finds_none(asked: str) -> None:
    """No near match is offered for what is not there."""
    assert names(found(asked)) == []


@pytest.mark.acceptance("AI-15")
@pytest.mark.acceptance("O-8")
def test_what_the_step_does_not_allow_is_left_out_with_the_reason() -> None:
    """Unmet precondition, too high level, wrong environment; and what the step asks for besides."""
    asked = "debit ten dollars from the wallet"
    reasons = {
        "level": found(asked, max_safety_level=SafetyLevel.MEDIUM),
        "house": found(asked, World(services=WORLD.services, highest_level=SafetyLevel.LOW)),
        "unmet": found(asked, World()),
        "effect": found(asked, effect_type="send"),
        "capability": found(asked, capabilities=("act", "publishes")),
        "area": found(asked, life_areas=("family",)),
        "environment": find_skills(
            [record(name="debit-wallet", description="Debit a wallet", tools=(tool("t1", "dev"),))],
            FindSkillsRequest(description="debit the wallet"),
            WORLD,
        ),
    }
    assert all("debit-wallet" not in names(response) for response in reasons.values())
    assert {key: left_out(response)["debit-wallet"] for key, response in reasons.items()} == {
        "level": "its safety level is high, and at most medium is allowed",
        "house": "its safety level is high, and at most low is allowed",
        "unmet": "these preconditions are not met: has ledger",
        "effect": "it has no effect of the type send",
        "capability": "it does not declare publishes",
        "area": "it is for the life areas money",
        "environment": "none of its tools may run in the environment production",
    }
    assert reasons["unmet"].left_out[0].missing_preconditions == ("has ledger",)


def test_what_the_step_asks_for_and_the_skill_declares_is_no_reason() -> None:
    asked = found(
        "debit ten dollars from the wallet",
        capabilities=("act", "external"),
        life_areas=("money", "family"),
        effect_type="update",
        max_safety_level="high",
    )
    assert names(asked)[0] == "debit-wallet"


def test_a_skill_for_no_life_area_is_for_all() -> None:
    assert names(found("get the profile of the agent", life_areas=("family",)))[0] == "get-agent-profile"


@pytest.mark.acceptance("AI-29")
def test_a_fact_may_be_about_an_entity_of_the_step() -> None:
    """The precondition is met by what is known of the entity that the step names."""
    needs = ({"name": "number of the person", "fact": "$person phone_number"},)
    skill = record(name="place-call", description="Place a phone call", preconditions=needs)
    world = World(facts=frozenset({"anna phone_number"}))
    for entities, called in (
        ((StepEntity(id="anna", type="person"),), ["place-call"]),
        ((StepEntity(id="bob", type="person"),), []),
        ((StepEntity(id="anna", type="place"),), []),
        ((), []),
    ):
        assert names(found("place a phone call", world, [skill], entities=entities)) == called


@pytest.mark.acceptance("AI-14", "CH-65")
def test_only_what_is_ready_is_found_and_each_skill_once() -> None:
    registry = [
        record(name="convert-pdf", description="Convert a PDF into text", version="1.9.0"),
        record(name="convert-pdf", description="Convert a PDF into text", version="1.10.0"),
        *(
            record(state, name=f"convert-pdf-{number}", description="Convert a PDF into text")
            for number, state in enumerate(SkillState)
            if state is not SkillState.READY
        ),
    ]
    response = found("convert the PDF into text", registry=registry)
    assert [(one.skill, one.version) for one in response.skills] == [("convert-pdf", "1.10.0")]


@pytest.mark.acceptance("AI-28")
def test_a_skill_that_is_added_is_found_at_once() -> None:
    added = record(name="water-plants", description="Water the plants on the balcony")
    assert names(found("water the plants")) == []
    assert names(found("water the plants", registry=[*REGISTRY, added])) == ["water-plants"]


@pytest.mark.acceptance("O-8")
def test_candidates_say_what_to_know_before_they_are_chosen() -> None:
    skill = record(
        name="delete-file",
        description="Delete a file",
        capabilities=("act",),
        effect="delete",
        confirmation_required=True,
        third_parties=("cloud",),
        side_effect_tags=("reads_minds",),
        deprecated_since="2026-11-01T00:00:00Z",
    )
    assert found("delete the file", registry=[skill]).skills[0].warnings == (
        "version 1.0.0 is deprecated since 2026-11-01",
        "it asks a person before it acts",
        "it reaches cloud",
        "its side effect reads_minds is not known to policy",
    )


@pytest.mark.acceptance("AI-16")
def test_a_ranker_may_only_order_what_matched() -> None:
    """Strangers are dropped, what it forgets stays."""
    asked = FindSkillsRequest(description="generate content for this trend")
    plain = find_skills(REGISTRY, asked, WORLD)
    same = [one.model_copy() for one in plain.skills]
    assert same
    stranger = find_skills(
        REGISTRY, asked, WORLD, lambda _, __: ["format-disk", plain.skills[-1].skill, "format-disk"]
    )
    assert stranger.skills[0] == plain.skills[-1]
    assert sorted(names(stranger)) == sorted(names(plain))
    assert find_skills(REGISTRY, asked, WORLD, lambda _, __: []) == plain


SIMILAR = [record(name=f"convert-pdf-{n}", description="Convert a PDF into text") for n in range(60)]


@pytest.mark.acceptance("AI-15")
@given(st.permutations(SIMILAR), st.integers(1, 50))
def test_the_order_does_not_depend_on_that_of_the_registry(registry: list[SkillRecord], limit: int) -> None:
    """Stable; O-8: at most the limit."""
    ordered = names(found("convert the PDF into text", registry=registry, limit=limit))
    assert ordered == sorted(one.name for one in SIMILAR)[:limit]


@given(st.permutations([one.name for one in SIMILAR[:5]]))
def test_a_ranker_changes_nothing_but_the_order(order: list[str]) -> None:
    asked = FindSkillsRequest(description="convert the PDF into text")
    ranked = find_skills(SIMILAR[:5], asked, WORLD, lambda _, __: order)
    assert names(ranked) == order


def tool(tool_id: str, *environments: str) -> dict[str, Any]:
    return {"tool_id": tool_id, "backend": "python", "entrypoint": "handler.py", "allowed_env": environments}


@pytest.mark.acceptance("AI-17")
def test_of_several_tools_the_environment_chooses() -> None:
    skill = manifest(
        tools=(tool("fake", "dev", "test"), tool("real", "production"), tool("both", "dev", "production"))
    )
    assert [one.tool_id for one in tools_for(skill, "production")] == ["real", "both"]
    assert [one.tool_id for one in tools_for(skill, "test")] == ["fake"]


def ability(fit: Fit, closeness: float, **fields: Any) -> AbilityFit:
    facts = {"ability_id": "monthly-balance", "title": "Monthly balance", "usable_now": True}
    lane = InstallLane.APPROVED_WORKSPACE
    return AbilityFit.model_validate(
        {**facts, "fit": fit, "closeness": closeness, "install_lane": lane, **fields}
    )


def test_learned_abilities_stand_among_the_skills_by_how_closely_they_fit() -> None:
    """One lookup for both: an ability is named as one, and what it does not declare cannot be asked of it."""
    asked = FindSkillsRequest(description="fetch the balance of the wallet")
    close = find_skills(REGISTRY, asked, WORLD, abilities=[ability(Fit.YES, 1.0)])
    assert {one.skill: one.kind for one in close.skills}["monthly-balance"] is CandidateKind.ABILITY
    assert names(close)[0] == "fetch-wallet-balance"
    far = find_skills(REGISTRY, asked, WORLD, abilities=[ability(Fit.MAYBE, 0.01)])
    assert names(far)[-1] == "monthly-balance"
    unusable = ability(Fit.YES, 0.9, usable_now=False, reason_unusable="it is deactivated")
    assert left_out(find_skills(REGISTRY, asked, WORLD, abilities=[unusable])) == {
        "monthly-balance": "it is deactivated"
    }
    reads = asked.changed(effect_type="read")
    assert "monthly-balance" in left_out(
        find_skills(REGISTRY, reads, WORLD, abilities=[ability(Fit.YES, 0.9)])
    )
