from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilitySource,
    CheckpointHealth,
    InstallLane,
)
from contracts.abilities.capability_manifest import HealthStatus
from contracts.abilities.control_surface import ControlSurface
from contracts.learning.interpretation import ProjectScope, SemanticWorkflowInterpretation
from contracts.learning.proposal import DraftedFile, SkillBundleProposal, SkillDraft
from domain.abilities.availability import (
    AbilityStanding,
    availability_entry,
    method_of,
    usability,
    working_names,
)

MakeAbility = Callable[..., AbilityAvailabilityEntry]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry_of(
    draft: SkillDraft,
    proposal: SkillBundleProposal,
    interpretation: SemanticWorkflowInterpretation,
    *,
    project_id: str | None = None,
    **standing: object,
) -> AbilityAvailabilityEntry:
    plain: dict[str, object] = {"lane": InstallLane.EXPERIMENTAL_PRIVATE, "enabled": True, "projected": True}
    return availability_entry(
        ability_id="ability-1",
        draft=draft,
        proposal=proposal,
        interpretation=interpretation,
        standing=AbilityStanding(**{**plain, **standing}),  # type: ignore[arg-type]
        family="files",
        project_id=project_id,
    )


@pytest.mark.parametrize("health", [HealthStatus.HEALTHY, HealthStatus.DEGRADED])
@pytest.mark.parametrize(
    "lane",
    [InstallLane.EXPERIMENTAL_PRIVATE, InstallLane.APPROVED_WORKSPACE, InstallLane.SHARED_PROMOTED],
)
def test_an_installed_enabled_projected_ability_with_working_capability_is_usable(
    lane: InstallLane, health: HealthStatus
) -> None:
    assert usability(enabled=True, lane=lane, capability_health=health, projected=True) == (True, None)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"lane": InstallLane.QUARANTINED, "enabled": False}, "Quarantined"),
        ({"lane": InstallLane.PENDING}, "Not installed"),
        ({"enabled": False}, "Deactivated"),
        ({"projected": False}, "Not in the agent's workspace"),
        ({"capability_health": HealthStatus.QUARANTINED}, "capability is quarantined"),
        ({"capability_health": HealthStatus.DISABLED}, "switched off"),
        ({"capability_health": HealthStatus.UNKNOWN}, "not known"),
    ],
)
def test_an_ability_that_lacks_anything_is_unusable_and_says_what(
    draft: SkillDraft,
    proposal: SkillBundleProposal,
    interpretation: SemanticWorkflowInterpretation,
    changed: dict[str, object],
    reason: str,
) -> None:
    entry = entry_of(draft, proposal, interpretation, **changed)

    assert not entry.usable_now
    assert reason in (entry.reason_unusable or "")


def test_an_entry_carries_what_the_draft_and_its_interpretation_say(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    entry = entry_of(draft, proposal, interpretation)

    assert entry.owner_user_id == "ada"
    assert entry.title == "Sort receipts"
    assert entry.skill_slug == "sort-receipts"
    assert entry.primary_capability_id == "cap.sort-receipts"
    assert entry.source is AbilitySource.LEARNED
    assert entry.support_pack_refs == ("packs/receipts",)
    assert entry.checkpoint_health is CheckpointHealth.NO_DATA
    assert entry.preferred_control_surfaces == (ControlSurface.WRAPPER_SCRIPT,)


def test_blank_phrases_do_not_reach_the_matcher(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    blank = draft.changed(trigger_phrases=("", " sort "), negative_triggers=(" ",))

    entry = entry_of(blank, proposal, interpretation)

    assert entry.trigger_phrases == ("sort",)
    assert entry.negative_triggers == ()


@pytest.mark.parametrize(
    ("scope", "project_id", "scopes"),
    [
        (ProjectScope.GLOBAL, "p1", ()),
        (ProjectScope.PROJECT_SCOPED, "p1", ("p1",)),
        (ProjectScope.UNCLEAR, "p1", ("p1",)),
        (ProjectScope.PROJECT_SCOPED, None, ()),
    ],
)
def test_only_a_global_ability_leaves_the_project_it_was_taught_in(
    draft: SkillDraft,
    proposal: SkillBundleProposal,
    interpretation: SemanticWorkflowInterpretation,
    scope: ProjectScope,
    project_id: str | None,
    scopes: tuple[str, ...],
) -> None:
    scoped = interpretation.changed(project_scope=scope)

    assert entry_of(draft, proposal, scoped, project_id=project_id).project_scopes == scopes


def test_a_promoted_ability_says_so_and_a_quarantined_one_has_quarantined_checkpoints(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    promoted = entry_of(draft, proposal, interpretation, lane=InstallLane.SHARED_PROMOTED)
    quarantined = entry_of(
        draft,
        proposal,
        interpretation,
        lane=InstallLane.QUARANTINED,
        checkpoint_health=CheckpointHealth.STRONG,
    )

    assert promoted.source is AbilitySource.PROMOTED
    assert quarantined.checkpoint_health is CheckpointHealth.QUARANTINED


def test_an_ability_is_known_by_the_files_and_programs_that_its_skill_speaks_of(draft: SkillDraft) -> None:
    text = "From in/orders.csv comes sorted.csv; sorted.csv is in order. See references/how.md."
    files = (
        DraftedFile(path="SKILL.md", content=text),
        DraftedFile(path="references/how.md", content="made from other.csv"),
    )
    assert working_names(draft.changed(files=files, dependencies=("sort",))) == (
        "with in/orders.csv",
        "with sorted.csv",
        "with sort",
    )


def test_an_ability_is_found_by_its_whole_goal_as_it_was_shown_and_the_facts_of_its_method(
    draft: SkillDraft,
) -> None:
    text = (
        "# T\n\n## Goal\n\nSort the {things}; keep `{folder}` as it is, by {day}.\n\n## Parameters\n\n"
        "- {things} (text): The things: “orders” in the demonstration.\n"
        "- {day} (date, optional): The day: “Monday” and “Friday” in the demonstrations.\n"
        f"- `{{folder}}` (path): The folder: “{'long/' * 20}” in the demonstration.\n\n"
        "## What the result depends on\n\n"
        "- sort: by field `2` (`sort -k2 in.csv`)\n- uniq: counts\n\nHow it was done once.\n\n## Safety\n\n- No more.\n"
    )
    files = (DraftedFile(path="SKILL.md", content=text),)
    assert method_of(draft.changed(files=files)) == (
        "Sort the orders; keep {folder} as it is, by Monday.",
        "sort: by field 2 ( sort -k2 in.csv )",
        "uniq: counts",
    )
    assert method_of(draft.changed(files=())) == ()
