from datetime import UTC, datetime

from contracts.abilities.capability_health import CapabilityOutcome, OutcomeKind
from contracts.abilities.capability_manifest import CapabilityMetadata
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.observation import BrowserAction, BrowserObservation
from contracts.learning.proposal import SkillBundleProposal, SkillDraft
from contracts.learning.validation import StepResult, ValidationStepResult
from domain.abilities.capability_sidecar import (
    MOST_FAILURE_MODES,
    Surroundings,
    capability_metadata,
    succeeding,
    with_failure,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = "01890000-0000-7000-8000-000000000009"


def outcome(
    at: str, kind: OutcomeKind = OutcomeKind.CHECKPOINT, summary: str | None = None
) -> CapabilityOutcome:
    return CapabilityOutcome(
        outcome_id=RUN,
        capability_id="cap.sort-receipts",
        kind=kind,
        success=False,
        failure_fingerprint=at,
        summary=summary,
        reported_by="agent",
        happened_at=NOW,
    )


def failed(case: str, details: str) -> ValidationStepResult:
    return ValidationStepResult(
        validation_run_id=RUN,
        test_case_id=case,
        label=case,
        result=StepResult.FAILED,
        details=details,
        created_at=NOW,
    )


def test_the_sidecar_says_what_the_capability_is_for_and_what_it_came_from(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    sidecar = capability_metadata(draft, interpretation, proposal, Surroundings())

    assert sidecar.capability_id == draft.capability_id
    assert sidecar.summary == interpretation.goal_summary
    assert f"proposal:{proposal.proposal_id}" in sidecar.source_refs
    assert f"trace:{proposal.source_trace_ids[0]}" in sidecar.source_refs
    assert sidecar.dependency_refs == ("program:mv", "packs/receipts")
    assert [note.surface for note in sidecar.control_surface_notes] == ["wrapper_script", "telepathy"]


def test_pages_and_elements_of_a_browser_lesson_are_referred_to_once_each(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    page = {"site": "https://shop.example", "page_path": "/orders"}
    seen = [
        BrowserObservation(action=BrowserAction.NAVIGATE, **page),
        BrowserObservation(action=BrowserAction.CLICK, role="button", accessible_name="Save order", **page),
        BrowserObservation(action=BrowserAction.CLICK, role="button", accessible_name="Save order", **page),
        BrowserObservation(action=BrowserAction.SUBMIT, accessible_name="Publish", **page),
    ]
    sidecar = capability_metadata(draft, interpretation, proposal, Surroundings(seen=seen))

    assert sidecar.page_knowledge_refs == ("page:https://shop.example/orders",)
    assert sidecar.ui_anchor_refs == (
        "anchor:https://shop.example/orders#button:Save order",
        "anchor:https://shop.example/orders#element:Publish",
    )
    forgotten = succeeding(capability_metadata(draft, interpretation, proposal, Surroundings()), sidecar)
    assert (forgotten.page_knowledge_refs, forgotten.ui_anchor_refs) == (
        sidecar.page_knowledge_refs,
        sidecar.ui_anchor_refs,
    )


def test_failed_tests_of_the_proposal_and_what_was_known_before_are_failure_modes_the_newest_first(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    before = with_failure(
        capability_metadata(draft, interpretation, proposal, Surroundings()),
        outcome("checkpoint:cp-01", summary="no such button"),
    )
    tests = [failed("dependency/mv", "mv is not installed"), failed("trigger/positive-1", "another skill")]
    made = capability_metadata(draft, interpretation, proposal, Surroundings(failed=tests))
    sidecar = succeeding(made, before)

    found = [(one.trigger, one.recovery_ref) for one in sidecar.known_failure_modes]
    revised = f"proposal:{proposal.proposal_id}/revision/1"
    assert found == [
        ("trigger/positive-1: another skill", revised),
        ("dependency/mv: mv is not installed", revised),
        ("checkpoint:cp-01: no such button", "checkpoint:cp-01"),
    ]


def test_a_failed_use_names_its_record_and_only_the_newest_failures_are_kept() -> None:
    known = CapabilityMetadata(capability_id="cap.sort-receipts", summary="")
    for number in range(MOST_FAILURE_MODES + 5):
        known = with_failure(known, outcome(f"exit:{number}", OutcomeKind.USE))
    again = with_failure(known, outcome(f"exit:{MOST_FAILURE_MODES}", OutcomeKind.USE))

    newest = f"exit:{MOST_FAILURE_MODES + 4}"
    assert len(known.known_failure_modes) == MOST_FAILURE_MODES
    assert known.known_failure_modes[0].trigger == newest
    assert known.known_failure_modes[0].recovery_ref == f"outcome:{RUN}"
    assert [one.trigger for one in again.known_failure_modes[:2]] == [f"exit:{MOST_FAILURE_MODES}", newest]


def test_the_buckets_of_its_project_are_referred_to(
    draft: SkillDraft, proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> None:
    around = Surroundings(buckets=("b-7", "b-8"))
    sidecar = capability_metadata(draft, interpretation, proposal, around)

    assert sidecar.bucket_refs == ("bucket:b-7", "bucket:b-8")
