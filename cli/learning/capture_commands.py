"""``apprentice learn``: the capture, from its start to the bounds of its rehearsal."""

from typing import Annotated
from uuid import uuid4

import typer
from rich.text import Text

from cli.learning.session_arguments import SessionArgument, answer_session, session_id_of
from cli.platform.invocation import Invocation, NothingToDo, api_command
from contracts.learning.observation import StepKindHint
from contracts.learning.requests import MarkGoalRequest, MarkStepRequest, TrimKind, TrimRequest
from contracts.learning.state_machine import SessionCommand
from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind, TestPolicy, TestPolicyMode

ReasonOption = Annotated[str | None, typer.Option(help="Why, for the record.")]


def start(call: Invocation, session: SessionArgument = None) -> None:
    """Begin the capture now instead of at the first observed action."""
    answer_session(call, call.api.learn.start(session_id_of(call, session, SessionCommand.START)).session)


def pause(call: Invocation, session: SessionArgument = None, reason: ReasonOption = None) -> None:
    """Pause the capture: nothing is observed until it is resumed."""
    answer_session(call, call.api.learn.pause(session_id_of(call, session, SessionCommand.PAUSE), reason))


def resume(
    call: Invocation,
    session: SessionArgument = None,
    reason: ReasonOption = None,
    new_demonstration: Annotated[
        bool, typer.Option(help="Show the same task again with other inputs: what differs is asked for.")
    ] = False,
) -> None:
    """Go on with a paused capture."""
    found = session_id_of(call, session, SessionCommand.RESUME)
    answer_session(call, call.api.learn.resume(found, reason, new_demonstration=new_demonstration))


def stop(call: Invocation, session: SessionArgument = None) -> None:
    """End the capture."""
    stopped = call.api.learn.stop(session_id_of(call, session, SessionCommand.STOP))
    call.show(Text.from_markup(f"Captured [bold]{stopped.captured_event_count}[/] action(s)."))
    answer_session(call, stopped.session)


def cancel(call: Invocation, session: SessionArgument = None, reason: ReasonOption = None) -> None:
    """End the session without an ability."""
    answer_session(call, call.api.learn.cancel(session_id_of(call, session, SessionCommand.CANCEL), reason))


def mark_goal(
    call: Invocation,
    goal: Annotated[str, typer.Argument(help="What the demonstration is for, in a sentence.")],
    session: SessionArgument = None,
    at: Annotated[str | None, typer.Option(help="The observed event it belongs to.")] = None,
) -> None:
    """Say what the demonstration is for."""
    request = MarkGoalRequest(goal_description=goal, at_event_id=at)
    answer_session(call, call.api.learn.mark_goal(session_id_of(call, session, SessionCommand.MARK), request))


def mark_step(
    call: Invocation,
    label: Annotated[str, typer.Argument(help="What happens in the step that begins now.")],
    session: SessionArgument = None,
    kind: Annotated[StepKindHint | None, typer.Option(help="What kind of step it is.")] = None,
    at: Annotated[str | None, typer.Option(help="The observed event it begins with.")] = None,
) -> None:
    """Name the step that begins now."""
    request = MarkStepRequest(step_label=label, step_kind_hint=kind, at_event_id=at)
    answer_session(call, call.api.learn.mark_step(session_id_of(call, session, SessionCommand.MARK), request))


def trim(
    call: Invocation,
    end: Annotated[str, typer.Argument(help="Which end to cut: start or end.", metavar="start|end")],
    event: Annotated[str, typer.Argument(help="The first (or last) observed event to keep.")],
    session: SessionArgument = None,
) -> None:
    """Cut what was captured before (or after) an event."""
    kinds = {"start": TrimKind.TRIM_START, "end": TrimKind.TRIM_END}
    if end not in kinds:
        raise NothingToDo(f"trim cuts at the start or the end, not at {end!r}")
    request = TrimRequest(trim_kind=kinds[end], to_event_id=event)
    answer_session(call, call.api.learn.trim(session_id_of(call, session, SessionCommand.TRIM), request))


def set_test_policy(
    call: Invocation,
    session: SessionArgument = None,
    mode: Annotated[
        TestPolicyMode, typer.Option(help="How close to the real thing the rehearsal may come.")
    ] = TestPolicyMode.COPY_ARTIFACT,
    safe_target: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND=REF", help="What it may write to, e.g. temp_folder=scratch (repeatable)."),
    ] = None,
    allow_domain: Annotated[
        list[str] | None, typer.Option(help="A domain it may reach (repeatable).")
    ] = None,
    max_actions: Annotated[int, typer.Option(min=1, max=200, help="The most commands it may run.")] = 40,
    allow_destructive: Annotated[bool, typer.Option("--allow-destructive")] = False,
    allow_external_send: Annotated[bool, typer.Option("--allow-external-send")] = False,
    cleanup: Annotated[bool, typer.Option("--cleanup", help="What it made must be gone afterwards.")] = False,
) -> None:
    """Set the bounds of the rehearsal."""
    policy = TestPolicy(
        policy_id=str(uuid4()),
        mode=mode,
        safe_targets=tuple(_safe_target(text) for text in safe_target or ()),
        forbid_destructive_writes=not allow_destructive,
        forbid_external_send=not allow_external_send,
        allowed_domains=tuple(allow_domain or ()),
        max_actions=max_actions,
        cleanup_required=cleanup,
    )
    answer_session(
        call,
        call.api.learn.set_test_policy(session_id_of(call, session, SessionCommand.SET_TEST_POLICY), policy),
    )


def register(app: typer.Typer) -> None:
    """Add these commands to ``app``."""
    api_command(app, "start")(start)
    api_command(app, "pause")(pause)
    api_command(app, "resume")(resume)
    api_command(app, "stop")(stop)
    api_command(app, "cancel")(cancel)
    api_command(app, "mark-goal", {"goal_description": "goal", "at_event_id": "at"})(mark_goal)
    api_command(app, "mark-step", {"step_label": "label", "at_event_id": "at"})(mark_step)
    api_command(app, "trim", {"to_event_id": "event"})(trim)
    api_command(app, "test-policy")(set_test_policy)


def _safe_target(text: str) -> RehearsalSafeTarget:
    kind, found, ref = text.partition("=")
    if not found or kind not in set(SafeTargetKind):
        kinds = ", ".join(one.value for one in SafeTargetKind)
        raise NothingToDo(f"{text!r} is no safe target: write KIND=REF with KIND one of {kinds}")
    return RehearsalSafeTarget(target_kind=SafeTargetKind(kind), ref=ref)
