"""Improving an installed skill: a delta with a diff, a new version, nothing of the old one lost."""

from pathlib import Path

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

BETTER: tuple[Demonstrated, ...] = (
    ("mkdir -p reports", ()),
    ("printf 'north,3\\nsouth,9\\n' > reports/sales.csv", ("reports/sales.csv",)),
    ("sort -t, -k2 -nr reports/sales.csv > reports/top.txt", ("reports/top.txt",)),
    ("tar czf reports.tgz reports", ("reports.tgz",)),
    ("sha256sum reports.tgz > reports.tgz.sha256", ("reports.tgz.sha256",)),
)


async def installed(learner: Learner) -> str:
    """Teaches and approves a first version; the ability's id."""
    await learner.teach()
    approved = await learner.propose_act("approve")
    return str(approved["proposal"]["ability_id"])


async def begin(learner: Learner, ability_id: str, **fields: object) -> None:
    await learner.create(
        entry_mode="improving_existing_skill",
        target_kind="existing_skill",
        target_skill_id=ability_id,
        **fields,
    )


async def edit(learner: Learner, ability_id: str, **edited: object) -> None:
    """An improvement by words alone, up to its draft."""
    await begin(learner, ability_id, observation_mode="none")
    await learner.act("stop")
    await learner.propose()
    await revise(learner, **edited)


async def revise(learner: Learner, **edited: object) -> None:
    await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": edited})


async def diff_of(learner: Learner) -> dict[str, object]:
    return await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/diff")


@pytest.mark.acceptance("0A.33-5")
async def test_an_improvement_goes_through_diff_and_approval_and_keeps_the_old_version(stack: Stack) -> None:
    alice = stack.learner()
    ability_id = await installed(alice)
    skill = stack.settings.workspace / "skills/summarise-the-sales-figures/SKILL.md"
    first = skill.read_text()

    await begin(alice, ability_id)
    await alice.act("start")
    await alice.observe(BETTER)
    await alice.act("stop")
    await alice.propose()
    shown = await diff_of(alice)
    assert "+   Verify: the file `reports.tgz.sha256`" in str(shown["diff"])
    assert "-description" not in str(shown["diff"])
    assert shown["base_version"] == 1
    assert skill.read_text() == first

    assert await alice.prove() == "ready_for_review"
    approved = await alice.propose_act("approve")
    versions = await alice.ok("GET", f"/api/abilities/{ability_id}/versions")
    assert approved["proposal"]["ability_id"] == ability_id
    assert [(v["version"], v["current"]) for v in versions["versions"]] == [(2, True), (1, False)]
    assert "reports.tgz.sha256" in skill.read_text()
    assert skill.read_text().split("\n")[2] == first.split("\n")[2]

    await alice.ok("POST", f"/api/abilities/{ability_id}/rollback", {})
    assert skill.read_text() == first


async def test_a_demonstration_in_which_everything_failed_is_no_improvement(stack: Stack) -> None:
    alice = stack.learner()
    await begin(alice, await installed(alice))
    await alice.act("start")
    (event,) = alice.events([("sort sales.csv > top.txt", ())])
    event["terminal"]["exit_class"] = "failed"
    path = f"/api/learn/sessions/{alice.session_id}"
    await alice.ok("POST", f"{path}/observations", {"events": [event]})
    await alice.act("stop")
    status, error = await alice.refused("POST", f"{path}/generate-proposal", {})
    assert (status, error["code"]) == (400, "INSUFFICIENT_TRACES")
    assert "“sort sales.csv > top.txt” failed" in error["message"]


async def test_words_alone_can_improve_a_skill_and_change_only_what_they_are_about(stack: Stack) -> None:
    alice = stack.learner()
    ability_id = await installed(alice)
    skill = stack.settings.workspace / "skills/summarise-the-sales-figures/SKILL.md"
    first = skill.read_text()
    await edit(alice, ability_id, non_use_conditions=["The figures are still being collected"])
    shown = str((await diff_of(alice))["diff"])

    changed = [line for line in shown.splitlines() if line.startswith(("+", "-")) and "SKILL.md" not in line]
    assert "+- The figures are still being collected." in changed
    assert not any("Verify" in line or "Goal" in line for line in changed)

    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    text = skill.read_text()
    assert "- The figures are still being collected." in text
    assert text.partition("## Goal")[2] == first.partition("## Goal")[2]


async def test_a_proposal_whose_base_has_moved_is_stale_until_it_is_revised(stack: Stack) -> None:
    alice = stack.learner()
    ability_id = await installed(alice)
    await edit(alice, ability_id, use_conditions=["Maria asks for the figures"])
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    await edit(alice, ability_id, non_use_conditions=["The figures are still being collected"])
    assert await alice.prove() == "ready_for_review"
    await alice.ok("POST", f"/api/abilities/{ability_id}/rollback", {})

    standing = (await diff_of(alice))["base"]
    assert standing["stale"] is True
    assert (standing["base"]["version"], standing["present_version"]) == (2, 3)
    path = f"/api/learn/proposals/{alice.proposal_id}/approve"
    status, error = await alice.refused("POST", path, {})
    assert (status, error["code"]) == (409, "PROPOSAL_STALE")
    assert error["base"]["present_version"] == 3
    assert await alice.state() == "ready_for_review"

    await revise(alice)
    assert (await diff_of(alice))["base"]["stale"] is False
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    assert await alice.state() == "approved"
    text = (stack.settings.workspace / "skills/summarise-the-sales-figures/SKILL.md").read_text()
    assert "The figures are still being collected." in text
    assert "Maria asks" not in text


async def test_a_skill_that_was_edited_by_hand_is_not_overwritten(stack: Stack) -> None:
    alice = stack.learner()
    ability_id = await installed(alice)
    skill = stack.settings.workspace / "skills/summarise-the-sales-figures/SKILL.md"
    await edit(alice, ability_id, non_use_conditions=["The figures are still being collected"])
    assert await alice.prove() == "ready_for_review"
    by_hand = skill.read_text().replace("## Safety\n\n", "## Safety\n\n- Ask Maria first.\n")
    write(skill, by_hand)

    path = f"/api/learn/proposals/{alice.proposal_id}/approve"
    status, error = await alice.refused("POST", path, {})
    assert (status, error["code"]) == (409, "HAND_EDITED")
    assert error["conflicts"] == ["skills/summarise-the-sales-figures/SKILL.md"]
    assert skill.read_text() == by_hand
    assert (await diff_of(alice))["base"]["edited_by_hand"] == error["conflicts"]

    await revise(alice)
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    text = skill.read_text()
    assert "- Ask Maria first." in text
    assert "- The figures are still being collected." in text


async def test_where_a_hand_and_the_improvement_change_the_same_part_the_hand_wins_and_it_is_shown(
    stack: Stack,
) -> None:
    alice = stack.learner()
    ability_id = await installed(alice)
    skill = stack.settings.workspace / "skills/summarise-the-sales-figures/SKILL.md"
    by_hand = skill.read_text().replace("## When not to use\n\n", "## When not to use\n\n- On Sundays.\n")
    write(skill, by_hand)
    await edit(alice, ability_id, non_use_conditions=["The figures are still being collected"])
    standing = (await diff_of(alice))["base"]
    conflicts = {c["part"]: c for c in standing["conflicts"]}

    assert "- On Sundays." in conflicts["section When not to use"]["yours"]
    assert "still being collected" in conflicts["section When not to use"]["proposed"]
    assert standing["stale"] is False
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    assert "- On Sundays." in skill.read_text()


async def test_a_new_skill_of_the_same_name_does_not_overwrite_hand_edits(stack: Stack) -> None:
    alice = stack.learner()
    await installed(alice)
    skill = stack.settings.workspace / "skills/summarise-the-sales-figures/SKILL.md"
    by_hand = skill.read_text() + "\nAsk Maria first.\n"
    write(skill, by_hand)
    await alice.teach()
    response = await alice.call("POST", f"/api/learn/proposals/{alice.proposal_id}/approve", {})
    await alice.settled("installing_private")

    assert skill.read_text() == by_hand
    assert not response.is_success or response.json()["proposal"]["proposal_state"] == "quarantined"


async def test_an_improvement_names_an_ability_that_is_ones_own(stack: Stack) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    ability_id = await installed(alice)
    body = {"entry_mode": "improving_existing_skill", "target_kind": "existing_skill"}
    answers = [
        await bob.refused("POST", "/api/learn/sessions", body),
        await bob.refused("POST", "/api/learn/sessions", {**body, "target_skill_id": "learned.nothing"}),
        await bob.refused("POST", "/api/learn/sessions", {**body, "target_skill_id": ability_id}),
    ]

    assert [(status, error["code"]) for status, error in answers] == [
        (422, "VALIDATION_FAILED"),
        (404, "ABILITY_NOT_FOUND"),
        (403, "FORBIDDEN"),
    ]


async def test_an_approved_ability_is_not_taken_away_for_a_private_trial(stack: Stack) -> None:
    alice = stack.learner()
    ability_id = await installed(alice)
    await edit(alice, ability_id, non_use_conditions=["The figures are still being collected"])
    assert await alice.prove() == "ready_for_review"
    path = f"/api/learn/proposals/{alice.proposal_id}/install"
    status, error = await alice.refused("POST", path, {"install_lane": "experimental_private"})

    assert (status, error["code"]) == (403, "INSTALL_LANE_DENIED")
    assert await alice.state() == "ready_for_review"


def write(path: Path, text: str) -> None:
    """Edits a read-only file as an editor does."""
    path.chmod(0o644)
    path.write_text(text)
