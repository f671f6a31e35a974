from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.learning.interpretation import ProjectScope, SemanticWorkflowInterpretation
from contracts.learning.proposal import ProposalState, SkillBundleProposal, SkillDraft
from tests.fixtures.abilities import ability


@pytest.fixture(scope="session")
def make_ability() -> Callable[..., AbilityAvailabilityEntry]:
    """Makes a usable, global ability in the approved lane, with the given fields changed."""

    return ability


PROPOSAL_ID = "01890000-0000-7000-8000-000000000001"
SESSION_ID = "01890000-0000-7000-8000-000000000002"
INTERPRETATION_ID = "01890000-0000-7000-8000-000000000003"
TRACE_ID = "01890000-0000-7000-8000-000000000004"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def draft() -> SkillDraft:
    return SkillDraft(
        title="Sort receipts",
        slug="sort-receipts",
        description="Sorts receipts into a folder for each month.",
        trigger_phrases=("sort receipts",),
        negative_triggers=("delete",),
        files=(),
        capability_id="cap.sort-receipts",
        dependencies=("mv",),
    )


@pytest.fixture
def proposal() -> SkillBundleProposal:
    return SkillBundleProposal(
        proposal_id=PROPOSAL_ID,
        owner_user_id="ada",
        learn_session_id=SESSION_ID,
        interpretation_id=INTERPRETATION_ID,
        source_trace_ids=(TRACE_ID,),
        title="Sort receipts",
        proposed_skill_slug="sort-receipts",
        draft_skill_path="drafts/SKILL.md",
        draft_manifest_path="drafts/capabilities/cap.sort-receipts.json",
        content_hash="0" * 64,
        proposal_state=ProposalState.READY_FOR_REVIEW,
        support_pack_refs=("packs/receipts",),
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.fixture
def interpretation() -> SemanticWorkflowInterpretation:
    return SemanticWorkflowInterpretation(
        interpretation_id=INTERPRETATION_ID,
        learn_session_id=SESSION_ID,
        title="Sort receipts",
        goal_summary="Every receipt lies in the folder of its month.",
        project_scope=ProjectScope.GLOBAL,
        preferred_control_surfaces=("wrapper_script", "telepathy", "wrapper_script"),
        created_at=NOW,
    )
