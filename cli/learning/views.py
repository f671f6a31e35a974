"""Terminal views of sessions (with the next commands to type), proposals, validation runs and installs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from cli.platform.output import FAILED, NAME_WIDTH, PASSED, SKIPPED, WAITING, facts, listing, unproved_list
from cli.platform.own_words import TYPED
from contracts.learning.install import InstallSaga, SagaState, SagaStepState
from contracts.learning.interpretation import Checkpoint, UnseenInput
from contracts.learning.observation import ObservationAdapterKind
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.responses import (
    LearnHistoryItem,
    ProposalDetailResponse,
    QuestionView,
    UntestedCheckpoint,
)
from contracts.learning.session import LearningEntryMode, LearnSession, ObservationMode
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import AT_REST
from contracts.learning.state_machine import SessionCommand as C
from contracts.learning.validation import (
    OFFERED_CHECKS,
    StepResult,
    ValidationRun,
    ValidationRunKind,
    ValidationStepResult,
)
from contracts.learning.views.allowed_actions import LearnSessionView
from contracts.learning.views.portability import ProposalPortability
from domain.learning.comparison.demonstrations import in_some_only
from domain.learning.conditions.stated_conditions import NOT_TESTED, marked
from domain.learning.interpretation.meaningful import lets_in


@dataclass(frozen=True)
class Guidance:
    """In words what is waited for, and the next commands, best first, ready to be copied.

    ``not_yet`` says why a usual next step is not among them.
    """

    waits_for: str
    commands: tuple[str, ...] = ()
    not_yet: tuple[str, ...] = ()


_WAITS_FOR: dict[S, str] = {
    S.IDLE: "being armed",
    S.ARMED: "the first observed action (ends itself after the arm timeout, an hour by default)",
    S.CAPTURING: "your demonstration",
    S.PAUSED: "you to go on",
    S.STOPPED: "a proposal to be drafted",
    S.REVIEWING: "a proposal to be drafted",
    S.AWAITING_QUESTIONS: "your answers",
    S.DRAFTING_PROPOSAL: "validation",
    S.TESTING_PROPOSAL: "the running validation",
    S.READY_FOR_REVIEW: "your decision",
    S.INSTALLING_PRIVATE: "the running install",
    S.INSTALLED_PRIVATE: "nothing; it is installed for you alone",
    S.APPROVED: "nothing; it is installed",
    S.REJECTED: "nothing; it was turned down",
    S.CANCELLED: "nothing; it was cancelled",
    S.QUARANTINED: "a revision: it is kept away from use",
}

_COACHED: dict[S, str] = {
    S.ARMED: "the first receipt of the agent that you coach (ends itself after the arm timeout, an hour by default)",
    S.CAPTURING: "the agent's work, receipt by receipt",
}
"""Where an agent is coached, it does the work."""

_IMPROVED: dict[S, str] = {
    S.ARMED: "the better way, shown once more; to change it in words alone: start, stop, propose, revise",
    S.DRAFTING_PROPOSAL: "what else is to be better, in words, or validation",
}
_PRACTISED: dict[S, str] = {
    S.ARMED: "the agent's practice to begin (`apprentice learn practice` sets it a task)",
    S.CAPTURING: "the agent's practice",
}
_OF_MODE: dict[LearningEntryMode, dict[S, str]] = {
    LearningEntryMode.COACHING_AGENT: _COACHED,
    LearningEntryMode.IMPROVING_EXISTING_SKILL: _IMPROVED,
    LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE: _PRACTISED,
}
"""What is waited for where it differs from a demonstration's."""

_UNWATCHED = "you to stop it: nothing is watched, so say in words what is to change once it is drafted"

_RECORD = "record terminal --session {id}"
_RECORD_BROWSER = "record browser --session {id}"
_BESIDE: dict[S, tuple[str, ...]] = {
    S.IDLE: ("learn status {id}",),
    S.ARMED: (_RECORD,),
    S.CAPTURING: (_RECORD,),
    S.DRAFTING_PROPOSAL: ("learn files {id}",),
    S.TESTING_PROPOSAL: ("learn watch {id}",),
    S.READY_FOR_REVIEW: ("learn files {id}",),
    S.INSTALLING_PRIVATE: ("learn saga {id}",),
    S.INSTALLED_PRIVATE: ("abilities show {ability}",),
    S.APPROVED: ("abilities show {ability}", "abilities list"),
    S.REJECTED: ("learn create --clone-of {id}",),
    S.CANCELLED: ("learn create",),
}
"""What is typed beside the session's own commands: to look, to record, to begin another one."""

_LEADS_ON = (
    C.RESUME,
    C.MARK,
    C.STOP,
    C.START,
    C.GENERATE_PROPOSAL,
    C.ANSWER_QUESTIONS,
    C.APPROVE,
    C.INSTALL,
    C.REJECT,
    C.VALIDATE,
    C.REVISE,
    C.CANCEL,
)
"""The commands that are suggested, the one that leads on furthest first."""

_ENOUGH = 3
"""How many of the session's commands are suggested; its refusals and ``--help`` name the others."""


_BY_AGENT = frozenset({LearningEntryMode.COACHING_AGENT, LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE})


def guide(session: LearnSessionView) -> Guidance:
    """What ``session`` waits for and what to type next."""
    of_mode = _OF_MODE.get(session.entry_mode, {})
    waits_for = of_mode.get(session.state) or _WAITS_FOR[session.state]
    if session.observation_mode is ObservationMode.NONE and C.STOP in session.allowed_actions:
        waits_for = _UNWATCHED
    # Where an agent does the work, or nothing is watched, there is nothing that a person would record.
    records = session.entry_mode not in _BY_AGENT and session.observation_mode is not ObservationMode.NONE
    improves = session.entry_mode is LearningEntryMode.IMPROVING_EXISTING_SKILL
    looks = (
        "learn diff {id}" if improves and one == "learn files {id}" else one
        for one in _BESIDE.get(session.state, ())
    )
    in_terminal = lets_in(
        ObservationAdapterKind.TERMINAL_COMMAND, session.observation_mode, session.target_app_whitelist
    )
    recorder = _RECORD if in_terminal else _RECORD_BROWSER
    beside = (recorder if one == _RECORD else one for one in looks if records or one != _RECORD)
    own = [TYPED[command] for command in _LEADS_ON if command in session.allowed_actions]
    ability = session.ability_id or "ABILITY_ID"
    commands = (
        f"apprentice {command.format(id=session.learn_session_id, ability=ability)}"
        for command in (*beside, *own[:_ENOUGH])
    )
    return Guidance(waits_for, tuple(commands), _not_yet(session))


def _not_yet(session: LearnSessionView) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for refused in session.refused_actions:
        by_reason.setdefault(refused.reason, []).append(refused.action.value)
    return tuple(f"{', '.join(actions)}: {reason}" for reason, actions in by_reason.items())


_STEP_MARK = {StepResult.PASSED: PASSED, StepResult.FAILED: FAILED, StepResult.SKIPPED: SKIPPED}
_SAGA_MARK = {
    SagaStepState.PENDING: WAITING,
    SagaStepState.DONE: PASSED,
    SagaStepState.FAILED: FAILED,
    SagaStepState.COMPENSATED: "[yellow]↩[/]",
    SagaStepState.COMPENSATION_FAILED: "[red]↩[/]",
}
_SAGA_COLOUR = {SagaState.INSTALLED: "green", SagaState.RUNNING: "cyan", SagaState.COMPENSATING: "yellow"}


_LIFTED = "nothing; its ability is in use again: the quarantine was lifted"


def session_view(session: LearnSessionView, temporal_url: str | None = None) -> RenderableType:
    """A session: its state, what it waits for, and what to type next."""
    guidance = guide(session)
    heading = f"Session [bold]{session.learn_session_id}[/] is {_coloured_state(session)}"
    about = facts(
        (
            ("waits for", _LIFTED if session.quarantine_lifted else guidance.waits_for),
            ("watches", ", ".join(session.target_app_whitelist)),
            *(("not yet", reason) for reason in guidance.not_yet),
            ("since", session.updated_at.strftime("%Y-%m-%d %H:%M:%S UTC")),
            ("proposal", session.proposal_id),
            ("ability", session.ability_id),
            ("Temporal UI", temporal_url),
        )
    )
    return Group(Text.from_markup(heading), about, *_commands(guidance.commands))


def sessions_view(sessions: Sequence[LearnSessionView], total: int) -> RenderableType:
    """A page of sessions."""
    if not sessions:
        return Text.from_markup("No sessions yet. Begin one with [cyan]apprentice learn create[/].")
    table = listing("session", "state", "how", "created", "ability", whole="session")
    for session in sessions:
        created = session.created_at.strftime("%Y-%m-%d %H:%M")
        table.add_row(
            session.learn_session_id,
            _coloured_state(session) + (" (lifted)" if session.quarantine_lifted else ""),
            session.entry_mode.value,
            created,
            session.ability_id or "",
        )
    return Group(table, Text(f"{len(sessions)} of {total}", style="dim"))


PUT_BACK = 'apprentice learn revise "put back …" if one belongs to it'
"""What to do about a command that was left out and should not have been."""


def proposal_view(detail: ProposalDetailResponse) -> RenderableType:
    """A proposal with what a person needs to judge it."""
    proposal, meaning = detail.proposal, detail.interpretation
    parts: list[RenderableType] = [_proposal_facts(proposal)]
    if meaning is not None:
        parts.append(facts((("goal", meaning.goal_summary),)))
        parts.extend(
            _listing(title, items)
            for title, items in (
                ("use it when", meaning.use_conditions),
                ("not when", meaning.non_use_conditions),
                ("it worked when", marked(meaning.success_conditions, detail.untested)),
                ("tested besides", detail.also_tested),
                (
                    "on the way",
                    tuple(_checkpoint(c, detail.untested_because) for c in meaning.checkpoints),
                ),
                (
                    "shown in part only",
                    tuple(f"{o.label}, {in_some_only(o)}" for o in meaning.optional_steps),
                ),
                ("done by hand", tuple(map(_unseen, meaning.unseen_inputs))),
                (
                    "asks for",
                    tuple(f"{p.name} ({p.type.value}): {p.description}" for p in meaning.parameters),
                ),
            )
            if items
        )
    if detail.hollow_conditions:
        said = (f"{one.question_text} {one.next_step}" for one in detail.hollow_conditions)
        parts.append(_listing("proves nothing", said))
    if detail.left_out:
        shown = (f"`{' '.join(one.command.split())}`: {one.reason}" for one in detail.left_out)
        parts.append(_listing(f"left out, as it is no part of the lesson ({PUT_BACK})", shown))
    if detail.unproved:
        parts.append(unproved_list(detail.unproved))
    if detail.portability is not None:
        parts.append(portability_view(detail.portability))
    lint = detail.checkpoint_lint_report
    if lint is not None and lint.findings:
        parts.append(Text.from_markup("  [yellow]lint[/]"))
        parts.extend(
            Text(f"    {one.rule} {one.location}: {one.message} {one.suggestion}") for one in lint.findings
        )
    open_questions = [question for question in detail.questions if not question.answered]
    if open_questions:
        parts.append(Text.from_markup(f"  [yellow]{len(open_questions)} open question(s)[/]"))
        parts.extend(question_view(number, one) for number, one in enumerate(open_questions, 1))
    return Group(*parts)


def portability_view(portability: ProposalPortability) -> RenderableType:
    """The portability grade, what it follows from, and the adapters that were asked for."""
    asked = tuple(f"{one.wanted} ({one.created_at:%Y-%m-%d %H:%M})" for one in portability.adapter_requests)
    return Group(
        facts((("portability", portability.portability_grade.value.replace("_", " ")),)),
        *(Text(f"    {one.message}") for one in portability.findings),
        *([_listing("adapters asked for", asked)] if asked else []),
    )


def question_view(number: int, question: QuestionView, *, with_id: bool = True) -> Text:
    """One question with its suggested answer and what it rests on."""
    lines = [f"  [bold]{number}. {escape(question.question_text)}[/]"]
    if question.suggestion:
        lines.append(f"     suggestion: [green]{escape(question.suggestion)}[/]")
    evidence = len(question.evidence_event_ids)
    notes = ([question.question_id] if with_id else []) + (
        [f"rests on {evidence} actions"] if evidence else []
    )
    if notes:
        lines.append(f"     [dim]{', '.join(notes)}[/]")
    return Text.from_markup("\n".join(lines))


def validation_view(run: ValidationRun, steps: Iterable[ValidationStepResult]) -> RenderableType:
    """A validation run: a line a check, in the order of the ladder, and what failed or was not tried in it.

    Of ablation and variation every condition is shown, with what was found of it.
    """
    own = [step for step in steps if step.validation_run_id == run.validation_run_id]
    lines: list[str] = []
    for check, results in _by_check(own).items():
        passed = sum(result.result is StepResult.PASSED for result in results)
        count = f"[dim]{passed} of {len(results)} cases[/]"
        lines.append(f"    {_STEP_MARK[_worst(results)]} {check.replace('_', ' '):18} {count}")
        if check in _REPORTS:
            lines += map(_reported, results)
            continue
        for result in results:
            if result.result is StepResult.FAILED:
                details = f": {escape(result.details)}" if result.details else ""
                lines.append(f"        {FAILED} {escape(result.label)}[red]{details}[/]")
        lines += _not_tried(results)
    return Text.from_markup("\n".join(lines))


_REPORTS = frozenset({ValidationRunKind.ABLATION.value, ValidationRunKind.VARIATION.value})
"""Checks that are asked for because of what they say of each condition, not of the failed ones alone."""


def _reported(result: ValidationStepResult) -> str:
    details = f"[dim]: {escape(result.details)}[/]" if result.details else ""
    return f"        {_STEP_MARK[result.result]} {escape(result.label)}{details}"


def _not_tried(results: Iterable[ValidationStepResult]) -> Iterator[str]:
    """The skipped cases, those with the same reason on one line."""
    labels: dict[str, list[str]] = {}
    for one in results:
        if one.result is StepResult.SKIPPED:
            labels.setdefault(one.details or "not tried", []).append(one.label)
    for reason, (first, *others) in labels.items():
        more = f" and {len(others)} more" if others else ""
        yield f"        {SKIPPED} {escape(first)}{more}[dim]: {escape(reason)}[/]"


def saga_view(saga: InstallSaga) -> RenderableType:
    """An install's steps as a list of marks."""
    colour = _SAGA_COLOUR.get(saga.state, "red")
    lines = [f"Install [bold]{saga.saga_id}[/] of {saga.ability_id} is [{colour}]{saga.state.value}[/]"]
    for step in saga.steps:
        again = f"  [dim]{step.attempts} attempts[/]" if step.attempts > 1 else ""
        lines.append(f"    {_SAGA_MARK[step.state]} {step.name.value.replace('_', ' ')}{again}")
        if step.error:
            lines.append(f"        [red]{escape(step.error)}[/]")
    if saga.error:
        lines.append(f"  [red]{escape(saga.error)}[/]")
    return Text.from_markup("\n".join(lines))


def history_view(items: Sequence[LearnHistoryItem], total: int) -> RenderableType:
    """A page of the history, archived sessions included."""
    table = listing("session", "outcome", "title", "created", whole="session")
    for item in items:
        outcome = item.outcome.value if item.outcome else item.state
        outcome += " (lifted)" if item.quarantine_lifted else ""
        created = item.created_at.strftime("%Y-%m-%d %H:%M")
        table.add_row(item.learn_session_id, outcome, escape(item.title or ""), created)
    return Group(table, Text(f"{len(items)} of {total}", style="dim"))


def _proposal_facts(proposal: SkillBundleProposal) -> RenderableType:
    return Group(
        Text.from_markup(f"Proposal [bold]{escape(proposal.title)}[/] ({proposal.proposal_state.value})"),
        facts(
            (
                ("skill", proposal.proposed_skill_slug),
                ("revision", str(proposal.revision)),
                ("content hash", proposal.content_hash),
                ("said as", " · ".join(proposal.trigger_phrases)),
                ("not as", " · ".join(proposal.negative_triggers)),
                ("written by", proposal.drafted_by),
                ("about that", proposal.drafter_note),
            )
        ),
    )


def _checkpoint(checkpoint: Checkpoint, untested: Iterable[UntestedCheckpoint]) -> str:
    said = f"{checkpoint.goal}: {checkpoint.success_condition}"
    why = next((one for one in untested if one.checkpoint_id == checkpoint.checkpoint_id), None)
    return f"{said} ({NOT_TESTED}). {why.reason} {why.next_step}" if why else said


def _unseen(one: UnseenInput) -> str:
    known = " ".join(one.said.split()) if one.said is not None else "what was done is not known"
    return f"{one.command} {one.change}: {known}"


def _listing(title: str, items: Iterable[str]) -> RenderableType:
    return Text("\n".join((f"  {title}", *(f"    - {item}" for item in items))))


def _coloured_state(session: LearnSession) -> str:
    colour = "green" if session.state in AT_REST else "yellow"
    return f"[{colour}]{session.state.value}[/]"


def _commands(commands: Sequence[str]) -> Iterable[Text]:
    for index, command in enumerate(commands):
        name = "or" if index else "next"
        yield Text.assemble((f"  {name.ljust(NAME_WIDTH)}", "dim"), (command, "cyan"))


def _by_check(steps: Iterable[ValidationStepResult]) -> dict[str, list[ValidationStepResult]]:
    grouped: dict[str, list[ValidationStepResult]] = {check.value: [] for check in OFFERED_CHECKS}
    for step in steps:
        grouped.setdefault(step.test_case_id.partition("/")[0], []).append(step)
    return {check: results for check, results in grouped.items() if results}


def _worst(results: Iterable[ValidationStepResult]) -> StepResult:
    found = {result.result for result in results}
    if StepResult.FAILED in found:
        return StepResult.FAILED
    return StepResult.PASSED if StepResult.PASSED in found else StepResult.SKIPPED
