"""How sessions, proposals, validation runs and installs look in a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cli.guidance import guide
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.responses import LearnHistoryItem, ProposalDetailResponse, QuestionView
from contracts.learning.saga import InstallSaga, SagaState, SagaStepState
from contracts.learning.session import LearnSession
from contracts.learning.state_machine import AT_REST
from contracts.learning.validation import StepResult, ValidationRun, ValidationStepResult

PASSED = "[green]✓[/]"
FAILED = "[red]✗[/]"
SKIPPED = "[yellow]–[/]"
WAITING = "[dim]·[/]"

_STEP_MARK = {StepResult.PASSED: PASSED, StepResult.FAILED: FAILED, StepResult.SKIPPED: SKIPPED}
_SAGA_MARK = {
    SagaStepState.PENDING: WAITING,
    SagaStepState.DONE: PASSED,
    SagaStepState.FAILED: FAILED,
    SagaStepState.COMPENSATED: "[yellow]↩[/]",
    SagaStepState.COMPENSATION_FAILED: "[red]↩[/]",
}
_SAGA_COLOUR = {SagaState.INSTALLED: "green", SagaState.RUNNING: "cyan", SagaState.COMPENSATING: "yellow"}


def facts(rows: Iterable[tuple[str, str | None]]) -> Table:
    """Names and values in two columns; rows without a value are left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if value:
            table.add_row(f"  {name}", value)
    return table


def session_view(session: LearnSession, temporal_url: str | None = None) -> RenderableType:
    """A session: its state, what it waits for, and what to type next."""
    guidance = guide(session)
    heading = f"Session [bold]{session.learn_session_id}[/] is {_coloured_state(session)}"
    parts: list[RenderableType] = [
        Text.from_markup(heading),
        facts(
            (
                ("waits for", guidance.waits_for),
                ("since", session.updated_at.strftime("%Y-%m-%d %H:%M:%S UTC")),
                ("proposal", session.proposal_id),
                ("ability", session.ability_id),
                ("Temporal UI", temporal_url),
            )
        ),
    ]
    # Commands are printed bare, so that a narrow terminal never breaks one into two.
    parts.extend(
        Text.assemble(
            ("  next       " if first else "  or         ", "dim"), (command, "cyan"), overflow="ignore"
        )
        for first, command in zip(_first_then_rest(guidance.commands), guidance.commands, strict=True)
    )
    return Group(*parts)


def sessions_view(sessions: Sequence[LearnSession], total: int) -> RenderableType:
    """A page of sessions."""
    if not sessions:
        return Text.from_markup("No sessions yet. Begin one with [cyan]apprentice learn create[/].")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("session", "state", "how", "created", "ability"):
        table.add_column(column, no_wrap=column == "session")
    for session in sessions:
        created = session.created_at.strftime("%Y-%m-%d %H:%M")
        table.add_row(
            session.learn_session_id,
            _coloured_state(session),
            session.entry_mode.value,
            created,
            session.ability_id or "",
        )
    return Group(table, Text(f"{len(sessions)} of {total}", style="dim"))


def proposal_view(detail: ProposalDetailResponse) -> RenderableType:
    """A proposal with what a person needs to judge it."""
    proposal, meaning = detail.proposal, detail.interpretation
    parts: list[RenderableType] = [_proposal_facts(proposal)]
    if meaning is not None:
        parts.append(facts((("goal", escape(meaning.goal_summary)),)))
        parts.extend(
            _listing(title, items)
            for title, items in (
                ("use it when", meaning.use_conditions),
                ("not when", meaning.non_use_conditions),
                ("it worked when", meaning.success_conditions),
                ("on the way", tuple(f"{c.goal}: {c.success_condition}" for c in meaning.checkpoints)),
            )
            if items
        )
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


def question_view(number: int, question: QuestionView) -> RenderableType:
    """One question with its suggested answer."""
    evidence = len(question.evidence_event_ids)
    lines = [f"  [bold]{number}. {escape(question.question_text)}[/]"]
    if question.suggestion:
        lines.append(f"     suggestion: [green]{escape(question.suggestion)}[/]")
    lines.append(
        f"     [dim]{question.question_id}" + (f", rests on {evidence} event(s)" if evidence else "") + "[/]"
    )
    return Text.from_markup("\n".join(lines))


def validation_view(
    run: ValidationRun, steps: Iterable[ValidationStepResult], *, all_steps: bool = True
) -> RenderableType:
    """A validation run as a list of marks; ``all_steps=False`` shows one line a check and what failed."""
    own = [step for step in steps if step.validation_run_id == run.validation_run_id]
    table = Table.grid(padding=(0, 1))
    for check, results in _by_check(own).items():
        worst = _worst(results)
        passed = sum(result.result is StepResult.PASSED for result in results)
        table.add_row("   ", _STEP_MARK[worst], f"[bold]{check}[/]", f"[dim]{passed} of {len(results)}[/]")
        for result in results:
            if all_steps or result.result is StepResult.FAILED:
                table.add_row("", "", f"{_STEP_MARK[result.result]} {escape(result.label)}", "")
                if result.result is StepResult.FAILED and result.details:
                    table.add_row("", "", f"  [red]{escape(result.details)}[/]", "")
    return table


def saga_view(saga: InstallSaga) -> RenderableType:
    """An install's steps as a list of marks."""
    colour = _SAGA_COLOUR.get(saga.state, "red")
    table = Table.grid(padding=(0, 1))
    for step in saga.steps:
        attempts = f"[dim]{step.attempts} attempts[/]" if step.attempts > 1 else ""
        table.add_row("   ", _SAGA_MARK[step.state], step.name.value.replace("_", " "), attempts)
        if step.error:
            table.add_row("", "", f"  [red]{escape(step.error)}[/]", "")
    heading = f"Install [bold]{saga.saga_id}[/] of {saga.ability_id} is [{colour}]{saga.state.value}[/]"
    parts: list[RenderableType] = [Text.from_markup(heading), table]
    if saga.error:
        parts.append(Text.from_markup(f"  [red]{escape(saga.error)}[/]"))
    return Group(*parts)


def history_view(items: Sequence[LearnHistoryItem], total: int) -> RenderableType:
    """A page of the history, archived sessions included."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("session", "outcome", "title", "created"):
        table.add_column(column, no_wrap=column == "session")
    for item in items:
        outcome = item.outcome.value if item.outcome else item.state
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
                ("said as", escape(" · ".join(proposal.trigger_phrases))),
                ("not as", escape(" · ".join(proposal.negative_triggers))),
            )
        ),
    )


def _listing(title: str, items: Iterable[str]) -> RenderableType:
    return Text("\n".join((f"  {title}", *(f"    - {item}" for item in items))))


def _coloured_state(session: LearnSession) -> str:
    colour = "green" if session.state in AT_REST else "yellow"
    return f"[{colour}]{session.state.value}[/]"


def _first_then_rest(items: Sequence[str]) -> Iterable[bool]:
    return (index == 0 for index in range(len(items)))


def _by_check(steps: Iterable[ValidationStepResult]) -> dict[str, list[ValidationStepResult]]:
    grouped: dict[str, list[ValidationStepResult]] = {}
    for step in steps:
        grouped.setdefault(step.test_case_id.partition("/")[0], []).append(step)
    return grouped


def _worst(results: Iterable[ValidationStepResult]) -> StepResult:
    found = {result.result for result in results}
    if StepResult.FAILED in found:
        return StepResult.FAILED
    return StepResult.PASSED if StepResult.PASSED in found else StepResult.SKIPPED
