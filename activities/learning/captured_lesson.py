"""What a session has captured of its lesson and counts: demonstrations, evidence, and the values that may vary."""

from collections.abc import Sequence
from dataclasses import dataclass

from activities.learning.lesson_replay import as_repeated, usable_evidence
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftRequest
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import SkillParameter
from contracts.learning.observation import ObservedActionEvent, WorkflowBoundary
from contracts.learning.proposal import left_out_commands, put_back_commands
from domain.learning.comparison.comparison import Comparison
from domain.learning.comparison.demonstrations import captured_parts, compared, shown_demonstrations
from domain.learning.comparison.parameters import parameters_of
from domain.learning.comparison.single_demonstration import folders_used, shown_parameters
from domain.learning.drafting.left_out import with_commands, without_commands
from domain.learning.interpretation.failed_work import failed_work, nothing_shown
from domain.learning.interpretation.interpretation import marked_goal
from domain.learning.interpretation.steps import DemonstratedStep, all_events, within_capture
from domain.learning.lesson_folders import lesson_folders
from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.learning.observations import ObservationLog


@dataclass(frozen=True)
class CapturedLesson:
    """The demonstrations that count, the values that vary in them, and the commands of the first."""

    events: Sequence[ObservedActionEvent]
    boundaries: Sequence[WorkflowBoundary]
    evidence: LessonEvidence | None
    demonstrations: Sequence[tuple[DemonstratedStep, ...]]
    failed: Sequence[ObservedActionEvent]
    """The commands whose work failed, where none of what was shown was done."""
    comparison: Comparison | None
    parameters: Sequence[SkillParameter]
    commands: Sequence[tuple[str, str]]
    """Event id and line."""


def captured_lesson(request: DraftRequest, log: ObservationLog, found: LessonEvidenceStore) -> CapturedLesson:
    """What was shown and counts, without the commands that a person left out and with those that one put back.

    Raises:
        Refusal: ``INSUFFICIENT_TRACES`` when no meaningful action was captured.
    """
    session = request.session
    events: Sequence[ObservedActionEvent] = log.all_of(session.learn_session_id)
    boundaries = log.boundaries_of(session.learn_session_id)
    evidence = usable_evidence(found.of_session(session.learn_session_id), events)
    if evidence is not None:
        lines = {e.event_id: e.terminal.command for e in events if e.terminal}
        evidence = with_commands(evidence, put_back_commands(request.edits), lines)
        evidence = without_commands(evidence, left_out_commands(request.edits), lines)
    events = as_repeated(events, evidence)
    demonstrations = shown_demonstrations(events, boundaries, evidence)
    failed = () if evidence and evidence.kept else _failed(events, boundaries)
    if not demonstrations or not session.active_trace_ids:
        raise Refusal(
            ErrorCode.INSUFFICIENT_TRACES,
            nothing_shown(failed),
            captured_events=len(events),
            failed_events=[event.event_id for event in failed],
        )
    steps, comparison = demonstrations[0], compared(demonstrations)
    return CapturedLesson(
        events=events,
        boundaries=boundaries,
        evidence=evidence,
        demonstrations=demonstrations,
        failed=failed,
        comparison=comparison,
        parameters=parameters_of(comparison) if comparison else _shown(steps, evidence, boundaries),
        commands=[(e.event_id, e.terminal.command) for e in all_events(steps) if e.terminal],
    )


def _failed(
    events: Sequence[ObservedActionEvent], boundaries: Sequence[WorkflowBoundary]
) -> tuple[ObservedActionEvent, ...]:
    parts = captured_parts(events, boundaries)
    return failed_work([event for part in parts for event in within_capture(part.events, part.marks)])


def _shown(
    steps: Sequence[DemonstratedStep],
    evidence: LessonEvidence | None,
    boundaries: Sequence[WorkflowBoundary],
) -> tuple[SkillParameter, ...]:
    """The parameters of a single demonstration; none where it was not replayed, as its inputs are unknown then."""
    if evidence is None:
        return ()
    shown = all_events(steps)
    commands = [(e.terminal.command, e.terminal.working_folder) for e in shown if e.terminal]
    folders = folders_used(evidence, lesson_folders(shown))
    return shown_parameters(marked_goal(boundaries), commands, evidence.inputs, folders)
