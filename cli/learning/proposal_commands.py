"""``apprentice learn``: proposals, answers to their questions, validation, install and approval."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from cli.learning.progress import (
    newest_saga_id,
    progress,
    show_newest_install,
    wait_for_validation,
    watch_newest_install,
)
from cli.learning.session_arguments import SessionArgument, answer_session, proposal_of, session_id_of
from cli.learning.views import portability_view, proposal_view, question_view, saga_view
from cli.platform.acceptance import AcceptOption, acceptance
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import fail, warn
from clients.apprentice.transport import ApiRefusal
from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode
from contracts.learning.install import InstallSaga, SagaState
from contracts.learning.proposal import NOT_CARRIED_OUT, BaseStanding
from contracts.learning.requests import (
    UNDERSTOOD_INSTRUCTIONS,
    AnswerQuestionsRequest,
    ApproveProposalRequest,
    GenerateProposalRequest,
    ProposalInstallRequest,
    ProposalReviseRequest,
    RejectProposalRequest,
    RequestAdapterRequest,
    StartValidationRunRequest,
    SubmittedAnswer,
)
from contracts.learning.responses import QuestionView, ValidationRunsListResponse
from contracts.learning.session import LearnSession
from contracts.learning.state_machine import SessionCommand
from contracts.learning.validation import OverallResult, StepResult, ValidationRun, ValidationRunKind
from contracts.workflow_ids import learn_session_id

LONGEST_ANSWER = 2000


def collect_answers(
    call: Invocation,
    questions: Sequence[QuestionView],
    given: Sequence[str],
    *,
    accept_suggestions: bool,
    seen_in: Mapping[str, str],
) -> tuple[SubmittedAnswer, ...]:
    """Answer ``questions``, which are open. ``given`` are ``QUESTION=text``, the question by id or number.

    ``seen_in`` says in words what each piece of evidence was. At a terminal, what the options leave open is
    asked, the suggestion being the default; anywhere else it stays open.

    Raises:
        NothingToDo: an option names no open question, or there is nothing to send.
    """
    answers = _from_options(questions, given)
    for number, question in enumerate(questions, 1):
        if question.question_id in answers:
            continue
        if accept_suggestions:
            if question.suggestion:
                answers[question.question_id] = question.suggestion
        elif not call.json and sys.stdin.isatty():
            answers[question.question_id] = _ask(call, number, question, seen_in)
    if not answers:
        raise NothingToDo(
            "no answer was given. Say --answer QUESTION=TEXT (the question by its number or id), "
            "or --accept-suggestions."
        )
    return tuple(SubmittedAnswer(question_id=key, answer_text=text) for key, text in answers.items())


def _from_options(questions: Sequence[QuestionView], given: Sequence[str]) -> dict[str, str]:
    names = {str(number): question.question_id for number, question in enumerate(questions, 1)}
    names |= {question.question_id: question.question_id for question in questions}
    answers: dict[str, str] = {}
    for text in given:
        name, found, answer = text.partition("=")
        if not found or not answer.strip():
            raise NothingToDo(f"{text!r} is no answer: write QUESTION=TEXT")
        if name not in names:
            raise NothingToDo(f"{name!r} is no open question; `apprentice learn questions` lists them")
        answers[names[name]] = answer[:LONGEST_ANSWER]
    return answers


def _ask(call: Invocation, number: int, question: QuestionView, seen_in: Mapping[str, str]) -> str:
    call.show(question_view(number, question))
    for event_id in question.evidence_event_ids[:3]:
        if event_id in seen_in:
            call.show(Text(f"     seen in: {seen_in[event_id]}", style="dim"))
    if question.suggestion:
        typed: str = typer.prompt(
            "     answer (Enter takes the suggestion)", default=question.suggestion, show_default=False
        )
    else:
        typed = typer.prompt("     answer")
    return typed[:LONGEST_ANSWER]


def base_view(standing: BaseStanding) -> RenderableType:
    """The version that is improved, why the proposal is stale, and where a hand's text was kept."""
    base = standing.base
    lines = [Text(f"Improves version {base.version} of {base.skill_slug}.", style="dim")]
    if standing.stale:
        lines += [Text(f"Stale: {reason}", style="yellow") for reason in standing.reasons]
        lines.append(Text("Rebase it with `apprentice learn revise`.", style="dim"))
    for conflict in standing.conflicts:
        lines.append(Text(f"Kept as edited by hand: {conflict.part} of {conflict.path}", style="yellow"))
        lines.append(Text(f"  proposed: {' '.join(conflict.proposed.split())}", style="dim"))
    return Group(*lines)


NoWaitOption = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the end.")]


def propose(
    call: Invocation,
    session: SessionArgument = None,
    ask: Annotated[
        bool | None, typer.Option("--ask/--no-ask", help="Ask about what is uncertain before building.")
    ] = None,
) -> None:
    """Draft a proposal of what was captured."""
    request = GenerateProposalRequest(ask_before_build=ask)
    session_id = session_id_of(call, session, SessionCommand.GENERATE_PROPOSAL)
    doing = "replaying what was shown, then drafting; this takes up to a minute …"
    with call.busy(doing, learn_session_id(session_id)):
        drafted = call.api.learn.generate_proposal(session_id, request).session
    answer_session(call, drafted)


def questions(call: Invocation, session: SessionArgument = None) -> None:
    """List the questions about a proposal."""
    _, proposal_id = proposal_of(call, session)
    listed = call.api.learn.proposal(proposal_id).questions
    if call.json:
        call.line(json.dumps([one.model_dump(mode="json", exclude_none=True) for one in listed]))
        return
    waiting = [one for one in listed if not one.answered]
    call.show(*(question_view(number, one) for number, one in enumerate(waiting, 1)))
    if not waiting:
        call.show("No open questions.")


def answer(
    call: Invocation,
    session: SessionArgument = None,
    answers: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="QUESTION=TEXT", help="Answer one, by number or id (repeatable)."),
    ] = None,
    accept_suggestions: Annotated[
        bool, typer.Option("--accept-suggestions", help="Answer the rest as suggested.")
    ] = False,
) -> None:
    """Answer the open questions; at a terminal you are asked one after the other."""
    found, proposal_id = proposal_of(call, session, SessionCommand.ANSWER_QUESTIONS)
    waiting = [one for one in call.api.learn.proposal(proposal_id).questions if not one.answered]
    if not waiting:
        raise NothingToDo(f"session {found.learn_session_id} has no open questions")
    observed = call.api.learn.observations(found.learn_session_id).observations
    collected = collect_answers(
        call,
        waiting,
        answers or (),
        accept_suggestions=accept_suggestions,
        seen_in={event.event_id: event.action_label for event in observed},
    )
    request = AnswerQuestionsRequest(answers=collected)
    answered = call.api.learn.answer_questions(found.learn_session_id, request)
    call.show(Text(f"{len(collected)} answered, {answered.remaining_questions} left."))
    answer_session(call, answered.session)
    if not answered.remaining_questions and (
        note := call.api.learn.proposal(proposal_id).proposal.drafter_note
    ):
        warn(note)


def show(call: Invocation, session: SessionArgument = None) -> None:
    """Show the proposal: goal, conditions, checkpoints, lint, questions."""
    _, proposal_id = proposal_of(call, session)
    call.answer(proposal_view(call.api.learn.proposal(proposal_id)))


def files(
    call: Invocation,
    session: SessionArgument = None,
    path: Annotated[str | None, typer.Option(help="Print this file alone, e.g. SKILL.md.")] = None,
) -> None:
    """Print the drafted files."""
    _, proposal_id = proposal_of(call, session)
    drafted = call.api.learn.proposal_files(proposal_id).files
    if path is not None:
        wanted = [file for file in drafted if file.path == path]
        if not wanted:
            raise NothingToDo(f"there is no {path!r}; there are {', '.join(file.path for file in drafted)}")
        call.line(wanted[0].content.rstrip("\n"))
    elif call.json:
        call.answer()
    else:
        for file in drafted:
            call.show(Text(f"── {file.path}", style="bold"))
            call.line(file.content.rstrip("\n") + "\n")


def diff(call: Invocation, session: SessionArgument = None) -> None:
    """Print what would change in the installed version."""
    _, proposal_id = proposal_of(call, session)
    found = call.api.learn.proposal_diff(proposal_id)
    if call.json:
        call.answer()
    else:
        call.line(found.diff.rstrip("\n") or "Nothing differs from the installed version.")
        if found.base is not None:
            call.show(base_view(found.base))


def validate(
    call: Invocation,
    session: SessionArgument = None,
    check: Annotated[
        list[ValidationRunKind] | None, typer.Option(help="Run this check alone (repeatable).")
    ] = None,
    label: Annotated[str | None, typer.Option(help="A name for the run.")] = None,
    no_wait: NoWaitOption = False,
) -> None:
    """Prove the proposal: lint, triggers, dry run, dependencies, and a real rehearsal.

    `--check ablation` and `--check variation` report on its conditions: which step tells each one apart, and for how
    many variations of the input it holds.
    """
    found, proposal_id = proposal_of(call, session, SessionCommand.VALIDATE)
    request = StartValidationRunRequest(run_label=label, selected_tests=tuple(check or ()))
    run = call.api.learn.validate(proposal_id, request).validation_run
    if no_wait:
        call.answer(Text(f"Validation run {run.validation_run_id} has begun."))
        return
    with progress(call.out, shown=not call.json) as picture:
        run, listed = wait_for_validation(call.api.learn, proposal_id, run.validation_run_id, picture)
    after = call.api.learn.session(found.learn_session_id)
    call.show(Text.from_markup(f"Validation [bold]{run.overall_result.value}[/]."))
    if call.json:
        call.answer_with(listed)
    else:
        answer_session(call, after)
    if run.overall_result not in (OverallResult.PASSED, OverallResult.PARTIAL):
        fail(_verdict(run, listed))


def _verdict(run: ValidationRun, listed: ValidationRunsListResponse) -> str:
    """What failed, with what helps: each failed step ends with it."""
    of_run = [step for step in listed.steps if step.validation_run_id == run.validation_run_id]
    failed = [step for step in of_run if step.result is StepResult.FAILED]
    if not failed:
        return f"the validation {run.overall_result.value}; `apprentice learn watch` shows where it stands."
    lines = [f"  {step.label}: {step.details or 'it failed'}" for step in failed[:_SHOWN_FAILURES]]
    if len(failed) > len(lines):
        lines.append(f"  and {len(failed) - len(lines)} more, listed above.")
    return "\n".join([f"the validation {run.overall_result.value}:", *lines])


_SHOWN_FAILURES = 5
"""The most failed steps that the last message repeats."""


def install(
    call: Invocation,
    session: SessionArgument = None,
    lane: Annotated[InstallLane, typer.Option(help="For you alone, or for the workspace.")] = (
        InstallLane.EXPERIMENTAL_PRIVATE
    ),
    accept_unproved: AcceptOption = False,
) -> None:
    """Install the proposal for you alone."""
    found, proposal_id = proposal_of(call, session, SessionCommand.INSTALL)
    accepted = _acceptance(call, proposal_id, accept_unproved)
    request = ProposalInstallRequest.model_validate({"install_lane": lane, **accepted})
    _install(call, found, lambda: call.api.learn.install(proposal_id, request))


def approve(
    call: Invocation,
    session: SessionArgument = None,
    note: Annotated[str | None, typer.Option(help="Why, for the record.")] = None,
    shared: Annotated[bool, typer.Option("--shared", help="For everybody, not the workspace alone.")] = False,
    accept_unproved: AcceptOption = False,
) -> None:
    """Accept the proposal and install it for the workspace."""
    found, proposal_id = proposal_of(call, session, SessionCommand.APPROVE)
    scope = InstallLane.SHARED_PROMOTED if shared else InstallLane.APPROVED_WORKSPACE
    accepted = _acceptance(call, proposal_id, accept_unproved)
    request = ApproveProposalRequest.model_validate(
        {"approval_scope": scope, "approval_note": note, **accepted}
    )
    _install(call, found, lambda: call.api.learn.approve(proposal_id, request))


def reject(
    call: Invocation,
    reason: Annotated[str, typer.Option(help="Why, for the record.")],
    session: SessionArgument = None,
) -> None:
    """Turn the proposal down, for good."""
    found, proposal_id = proposal_of(call, session, SessionCommand.REJECT)
    call.api.learn.reject(proposal_id, RejectProposalRequest(reason=reason))
    answer_session(call, call.api.learn.session(found.learn_session_id))


def revise(
    call: Invocation,
    instructions: Annotated[str, typer.Argument(help="What to change, in words.")],
    session: SessionArgument = None,
    edits: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Set a field, VALUE as text or JSON (repeatable)."),
    ] = None,
) -> None:
    """Send the proposal back to drafting with instructions and edited fields.

    Without a model, instructions are carried out by rules: "remove step 3", "swap steps 2 and 3", "make 800 fixed",
    "rename the title to …", "add to Done when: …". What is not understood is said, with all that can be said.
    """
    found, proposal_id = proposal_of(call, session, SessionCommand.REVISE)
    fields = dict(_edit(text) for text in edits or ())
    before = call.api.learn.proposal(proposal_id).proposal
    request = ProposalReviseRequest(revision_instructions=instructions, edited_fields=fields)
    revised = call.api.learn.revise(proposal_id, request).proposal
    answer_session(call, call.api.learn.session(found.learn_session_id))
    if revised.drafter_note.startswith(NOT_CARRIED_OUT):
        warn(revised.drafter_note)
        warn("What can be said: " + "; ".join(UNDERSTOOD_INSTRUCTIONS) + ". Fields: --set FIELD=VALUE.")
        if revised.content_hash == before.content_hash:
            fail("nothing was changed")


def request_adapter(
    call: Invocation,
    wanted: Annotated[str, typer.Argument(help="What the adapter is to connect or offer.")],
    session: SessionArgument = None,
) -> None:
    """Ask for a connection or a tool that the proposal needs and that is not here."""
    _, proposal_id = proposal_of(call, session)
    asked = call.api.learn.request_adapter(proposal_id, RequestAdapterRequest(wanted=wanted))
    call.answer(portability_view(asked))


def saga(
    call: Invocation,
    session: SessionArgument = None,
    saga_id: Annotated[str | None, typer.Option("--saga", help="The install's id.")] = None,
) -> None:
    """Show the steps of a session's newest install."""
    if saga_id is None:
        found = session_id_of(call, session)
        saga_id = newest_saga_id(call.api.learn, found)
        if saga_id is None:
            raise NothingToDo(f"session {found} has not been installed")
    call.answer(saga_view(call.api.learn.saga(saga_id)))


def register(app: typer.Typer) -> None:
    """Add these commands to ``app``."""
    api_command(app, "propose")(propose)
    api_command(app, "questions")(questions)
    api_command(app, "answer")(answer)
    api_command(app, "show")(show)
    api_command(app, "files")(files)
    api_command(app, "diff")(diff)
    api_command(app, "validate")(validate)
    api_command(app, "install")(install)
    api_command(app, "approve")(approve)
    api_command(app, "reject")(reject)
    api_command(app, "revise")(revise)
    api_command(app, "request-adapter")(request_adapter)
    api_command(app, "saga")(saga)


def _acceptance(call: Invocation, proposal_id: str, accepted: bool) -> dict[str, Any]:
    """What a request says about the steps of the proposal that are not proved."""
    detail = call.api.learn.proposal(proposal_id)
    return acceptance(call, detail.unproved, detail.unproved_digest, accepted)


def _install(call: Invocation, session: LearnSession, send: Callable[[], object]) -> None:
    """Send an install or an approval, which answers when it has ended, and show its steps."""
    session_id = session.learn_session_id
    ended: InstallSaga | None = None
    try:
        with call.busy("installing"):
            send()
    except ApiRefusal as refusal:
        if refusal.code == ErrorCode.INSTALL_IN_PROGRESS.value:
            ended = watch_newest_install(call, session_id)
        elif refusal.code == ErrorCode.BRIDGE_REBUILD_FAILED.value:
            show_newest_install(call, session_id)
            raise
        else:
            raise
    if call.json:
        call.answer()
        return
    if ended is None:
        show_newest_install(call, session_id)
    answer_session(call, call.api.learn.session(session_id))
    if ended is not None and ended.state is not SagaState.INSTALLED:
        fail(f"the install ended {ended.state.value}: {ended.error or 'see its steps above'}")


def _edit(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not found:
        raise NothingToDo(f"{text!r} sets nothing: write FIELD=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
