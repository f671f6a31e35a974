"""How failures look: what failed, why, and how often it was tried."""

import io
from datetime import UTC, datetime
from uuid import UUID

from rich.console import Console, RenderableType

from cli.learning.progress import event_line, payload_of
from cli.learning.views import proposal_view, saga_view, validation_view
from cli.platform.output import print_parts
from clients.apprentice.sse import ServerSentEvent
from contracts.abilities.availability import InstallLane
from contracts.learning.evidence import LeftOutCommand
from contracts.learning.install import InstallSaga, SagaState, SagaStep, SagaStepName, SagaStepState
from contracts.learning.interpretation import (
    Checkpoint,
    OptionalStep,
    ParameterType,
    ProjectScope,
    SemanticWorkflowInterpretation,
    SkillParameter,
    UnseenInput,
)
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.responses import ProposalDetailResponse, UntestedCheckpoint
from contracts.learning.validation import (
    OverallResult,
    StepResult,
    ValidationRun,
    ValidationRunKind,
    ValidationStepResult,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN, OTHER_RUN = str(UUID(int=1)), str(UUID(int=2))

PROPOSAL = SkillBundleProposal(
    proposal_id=RUN,
    owner_user_id="ann",
    source_trace_ids=(RUN,),
    title="Sort",
    proposed_skill_slug="sort",
    draft_skill_path="SKILL.md",
    draft_manifest_path="m.json",
    content_hash="0" * 64,
    proposal_state=ProposalState.DRAFT,
    created_at=NOW,
    updated_at=NOW,
)


def printed(*parts: RenderableType) -> str:
    out = io.StringIO()
    print_parts(Console(file=out, width=40), parts)
    return out.getvalue()


def step(run_id: str, case: str, result: StepResult, details: str | None = None) -> ValidationStepResult:
    return ValidationStepResult(
        validation_run_id=run_id,
        test_case_id=case,
        label=f"Case {case}",
        result=result,
        details=details,
        created_at=NOW,
    )


def test_a_failed_check_shows_the_failed_case_and_no_passed_one() -> None:
    run = ValidationRun(
        validation_run_id=RUN,
        proposal_id=RUN,
        run_kind=ValidationRunKind.TRIGGER,
        content_hash="0" * 64,
        started_at=NOW,
        overall_result=OverallResult.FAILED,
    )
    text = printed(
        validation_view(
            run,
            [
                step(RUN, "trigger/negative-1", StepResult.FAILED, "matched [anyway]"),
                step(RUN, "lint/files", StepResult.PASSED),
                step(RUN, "trigger/positive-1", StepResult.PASSED),
                step(OTHER_RUN, "lint/files", StepResult.FAILED, "of another run"),
            ],
        )
    )
    lint, trigger, case = text.splitlines()
    assert "✓ lint" in lint
    assert "✗ trigger" in trigger
    assert "1 of 2" in trigger
    assert case.strip() == "✗ Case trigger/negative-1: matched [anyway]"


def test_skipped_cases_are_shown_with_their_reason_those_of_one_reason_together() -> None:
    run = ValidationRun(
        validation_run_id=RUN,
        proposal_id=RUN,
        run_kind=ValidationRunKind.REHEARSAL,
        content_hash="0" * 64,
        started_at=NOW,
        overall_result=OverallResult.PASSED,
    )
    steps = [
        step(RUN, "rehearsal/one", StepResult.PASSED),
        step(RUN, "rehearsal/two", StepResult.SKIPPED, "no [input]"),
        step(RUN, "rehearsal/three", StepResult.SKIPPED, "no [input]"),
        step(RUN, "rehearsal/four", StepResult.SKIPPED),
    ]
    check, *skipped = printed(validation_view(run, steps)).splitlines()
    assert "1 of 4 cases" in check
    assert [line.strip() for line in skipped] == [
        "– Case rehearsal/two and 1 more: no [input]",
        "– Case rehearsal/four: not tried",
    ]


def test_ablation_and_variation_show_of_each_condition_what_was_found() -> None:
    run = ValidationRun(
        validation_run_id=RUN,
        proposal_id=RUN,
        run_kind=ValidationRunKind.ABLATION,
        content_hash="0" * 64,
        started_at=NOW,
        overall_result=OverallResult.PASSED,
    )
    steps = [
        step(RUN, "ablation/1", StepResult.PASSED, "told apart by leaving out step 1"),
        step(RUN, "ablation/2", StepResult.SKIPPED, "no step tells it apart"),
        step(RUN, "ablation/3", StepResult.SKIPPED, "no step tells it apart"),
        step(RUN, "variation/1", StepResult.PASSED, "holds for 6 of 6 variations"),
    ]
    shown = [line.strip() for line in printed(validation_view(run, steps)).splitlines()]
    assert shown[1:4] == [
        "✓ Case ablation/1: told apart by leaving out step 1",
        "– Case ablation/2: no step tells it apart",
        "– Case ablation/3: no step tells it apart",
    ]
    assert shown[5] == "✓ Case variation/1: holds for 6 of 6 variations"


def test_a_rolled_back_install_shows_what_failed_and_what_was_undone() -> None:
    steps = (
        SagaStep(name=SagaStepName.PLAN, state=SagaStepState.COMPENSATED, attempts=1),
        SagaStep(
            name=SagaStepName.MATERIALISE, state=SagaStepState.FAILED, attempts=5, error="no space left"
        ),
        SagaStep(name=SagaStepName.PROJECT_WORKSPACE),
    )
    saga = InstallSaga(
        saga_id=RUN,
        proposal_id=RUN,
        learn_session_id=RUN,
        ability_id="learned.x",
        skill_slug="x",
        install_lane=InstallLane.APPROVED_WORKSPACE,
        state=SagaState.ROLLED_BACK,
        steps=steps,
        error="materialise failed",
        workflow_id=f"install-saga/{RUN}",
        started_at=NOW,
        updated_at=NOW,
    )
    lines = [line.strip() for line in printed(saga_view(saga)).splitlines()]
    assert lines[0].endswith("is rolled_back")
    assert lines[1:] == [
        "↩ plan",
        "✗ materialise  5 attempts",
        "no space left",
        "· project workspace",
        "materialise failed",
    ]


def test_a_long_line_is_never_broken_so_that_it_can_be_copied() -> None:
    command = "apprentice learn approve 01a1fda6-e088-75a6-98e6-c029d182cef2 --note why"
    assert printed(command) == command + "\n"


def test_an_event_is_one_line_with_its_time_and_its_facts() -> None:
    data = (
        '{"schema_version":1,"event":"learn.install.started","data":{"event_kind":"learn.install.started",'
        '"session_id":"s","payload":{"saga_id":"g","note":null},"timestamp":"2026-01-01T10:11:12.000000Z"}}'
    )
    event = ServerSentEvent("learn.install.started", data, "7")
    assert payload_of(event) == {"saga_id": "g", "note": None}
    assert event_line(event).split() == ["10:11:12", "learn.install.started", "saga_id=g"]


def test_an_event_that_is_no_json_is_still_shown() -> None:
    assert event_line(ServerSentEvent("reset", "?", "7")).split() == ["reset"]


def test_a_proposal_shows_what_differs_and_what_only_some_demonstrations_had() -> None:
    meaning = SemanticWorkflowInterpretation(
        interpretation_id=RUN,
        learn_session_id=RUN,
        title="Sort",
        goal_summary="Sort the figures",
        project_scope=ProjectScope.GLOBAL,
        parameters=(
            SkillParameter(
                name="quarter", type=ParameterType.TEXT, description="Which quarter", examples=("q3", "q4")
            ),
        ),
        optional_steps=(OptionalStep(label="Verify {quarter}.sum", demonstrations=(2,), of=2),),
        unseen_inputs=(
            UnseenInput(
                program="sqlite3", command="sqlite3 a.db", change="changed a.db", said="begin;\nend;"
            ),
            UnseenInput(program="vim", command="vim b.dat", change="made b.dat"),
        ),
        created_at=NOW,
    )

    text = printed(proposal_view(ProposalDetailResponse(proposal=PROPOSAL, interpretation=meaning)))

    assert "quarter (text): Which quarter" in text
    assert "Verify {quarter}.sum, in demonstration 2 of 2" in text
    assert "sqlite3 a.db changed a.db: begin; end;" in text
    assert "vim b.dat made b.dat: what was done is not known" in text


def test_a_proposal_shows_why_nothing_tests_a_checkpoint_and_what_would_help() -> None:
    meaning = SemanticWorkflowInterpretation(
        interpretation_id=RUN,
        learn_session_id=RUN,
        title="Sort",
        goal_summary="Sort the figures",
        project_scope=ProjectScope.GLOBAL,
        checkpoints=(
            Checkpoint(checkpoint_id="cp-01", goal="Sorted", success_condition="It is sorted", order_hint=0),
            Checkpoint(checkpoint_id="cp-02", goal="Drawn", success_condition="It looks well", order_hint=1),
        ),
        created_at=NOW,
    )
    because = UntestedCheckpoint(
        checkpoint_id="cp-02", reason="Nothing can see it.", next_step="Look yourself."
    )

    text = printed(
        proposal_view(
            ProposalDetailResponse(
                proposal=PROPOSAL,
                interpretation=meaning,
                untested_checkpoints=("cp-02",),
                untested_because=(because,),
            )
        )
    )

    said = " ".join(text.split())
    assert "Sorted: It is sorted" in said
    assert said.count("not tested") == 1
    assert "Drawn: It looks well (not tested: a person looks). Nothing can see it. Look yourself." in said


def test_a_proposal_names_the_commands_that_are_no_part_of_the_lesson_and_why() -> None:
    left_out = LeftOutCommand(event_id=RUN, command="ls\n -l", reason="It changed no file.")
    text = printed(proposal_view(ProposalDetailResponse(proposal=PROPOSAL, left_out=(left_out,))))
    said = " ".join(text.split())
    assert (
        'left out, as it is no part of the lesson (apprentice learn revise "put back …" if one belongs to it)'
        in said
    )
    assert "- `ls -l`: It changed no file." in said
