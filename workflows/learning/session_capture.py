"""Decisions about the capture: begin, pause, resume, stop, mark, and its two deadlines."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.observation import BoundaryKind, BoundarySource, StepKindHint, WorkflowBoundary
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.test_policy import TestPolicy
    from contracts.learning.validation import ValidationRunKind
    from workflows.learning.learn_session_messages import (
        LearnCommand,
        MarkCommand,
        ResumeCommand,
        StartCommand,
    )
    from workflows.learning.session_decision import SessionDecision


def arm(decision: SessionDecision) -> None:
    """The new session is recorded as idle and armed at once (decisions "Learning")."""
    decision.set_session(created_at=workflow.now())
    decision.note(Event.SESSION_STARTED, Receipt.SESSION_STARTED)
    decision.go(S.ARMED, Event.SESSION_ARMED, Receipt.OBSERVATION_ARMED)
    if decision.next.source_runs:
        _review_runs(decision)


def _review_runs(decision: SessionDecision) -> None:
    """The session starts from runs captured before: there is nothing to observe, and all to review."""
    runs = decision.next.source_runs
    decision.set_session(active_trace_ids=tuple(run.trace_id for run in runs))
    why = "learned from recent runs"
    decision.go(S.CAPTURING, Event.CAPTURE_STARTED, Receipt.CAPTURE_STARTED, why, runs=len(runs))
    decision.go(S.STOPPED, Event.CAPTURE_STOPPED, Receipt.CAPTURE_STOPPED, why)
    decision.go(S.REVIEWING, Event.SESSION_REVIEWING)


def begin(decision: SessionDecision, message: StartCommand) -> None:
    """Capture begins, by a person or by the first meaningful event."""
    source = BoundarySource.SYSTEM_INFERRED if message.by_event else BoundarySource.API_CALL
    _mark(decision, BoundaryKind.START, source)
    decision.set_session(active_trace_ids=(str(workflow.uuid7()),))
    decision.go(S.CAPTURING, Event.CAPTURE_STARTED, Receipt.CAPTURE_STARTED, message.reason)


def pause(decision: SessionDecision, reason: str | None, source: BoundarySource) -> None:
    """Capture pauses."""
    _mark(decision, BoundaryKind.PAUSE, source)
    decision.go(S.PAUSED, Event.CAPTURE_PAUSED, Receipt.CAPTURE_PAUSED, reason)


def resume(decision: SessionDecision, message: ResumeCommand) -> None:
    """Capture goes on, or another demonstration of the same task begins: a start mark and a trace of its own."""
    if not message.new_demonstration:
        _mark(decision, BoundaryKind.RESUME, BoundarySource.API_CALL)
        decision.go(S.CAPTURING, Event.CAPTURE_RESUMED, Receipt.CAPTURE_RESUMED, message.reason)
        return
    _mark(decision, BoundaryKind.START, BoundarySource.API_CALL)
    traces = (*decision.next.session.active_trace_ids, str(workflow.uuid7()))
    decision.set_session(active_trace_ids=traces)
    decision.go(
        S.CAPTURING, Event.CAPTURE_RESUMED, Receipt.CAPTURE_RESUMED, message.reason, demonstration=len(traces)
    )


def stop(decision: SessionDecision, message: LearnCommand) -> None:
    """Capture ends. A mode that observes nothing passes through capturing, so that the path stays legal."""
    if decision.next.session.state is S.ARMED:
        decision.go(S.CAPTURING, Event.CAPTURE_STARTED, Receipt.CAPTURE_STARTED, "nothing to observe")
    _mark(decision, BoundaryKind.STOP, BoundarySource.API_CALL)
    decision.go(S.STOPPED, Event.CAPTURE_STOPPED, Receipt.CAPTURE_STOPPED, message.reason)


def mark(decision: SessionDecision, message: MarkCommand) -> None:
    """A goal, a step or a trimmed end is marked."""
    boundary = _mark(
        decision, message.kind, message.source, message.label, message.at_event_id, message.step_kind
    )
    if message.kind is BoundaryKind.TRIM_START:
        decision.set_session(start_boundary_ref=boundary.boundary_id)
    elif message.kind is BoundaryKind.TRIM_END:
        decision.set_session(stop_boundary_ref=boundary.boundary_id)
    decision.note(
        Event.BOUNDARY_MARKED, kind=message.kind.value, boundary_id=boundary.boundary_id, label=message.label
    )


def set_test_policy(decision: SessionDecision, policy: TestPolicy) -> None:
    """New bounds for the rehearsal; what was rehearsed under the old ones proves nothing now."""
    kept = tuple(c for c in decision.next.passed_checks if c is not ValidationRunKind.REHEARSAL)
    decision.set(test_policy=policy, passed_checks=kept, not_applicable_checks=(), unproved=())
    decision.set_session(test_policy_ref=policy.policy_id)
    decision.note(Event.TEST_POLICY_SET, mode=policy.mode.value)


def time_out_armed(decision: SessionDecision) -> None:
    """Arm timeout: the session is cancelled (DOC3 §0C.16D)."""
    decision.set(timed_out=True)
    decision.go(S.CANCELLED, Event.SESSION_CANCELLED, Receipt.CANCELLED, "session_timeout")


def _mark(
    decision: SessionDecision,
    kind: BoundaryKind,
    source: BoundarySource,
    label: str | None = None,
    at_event_id: str | None = None,
    step_kind: StepKindHint | None = None,
) -> WorkflowBoundary:
    boundary = WorkflowBoundary(
        boundary_id=str(workflow.uuid7()),
        learn_session_id=decision.next.session.learn_session_id,
        kind=kind,
        source=source,
        label=label,
        step_kind=step_kind,
        source_event_id=at_event_id,
        created_at=workflow.now(),
    )
    decision.mark(boundary)
    return boundary
