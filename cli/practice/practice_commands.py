"""``apprentice learn practice``: the agent tries by itself, in a sandbox and within a budget."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from cli.platform.invocation import Invocation, NothingToDo, api_command
from contracts.learning.create_session import CreateLearnSessionRequest
from contracts.learning.model_draft import DETERMINISTIC
from contracts.learning.session import LearningEntryMode, ObservationMode
from contracts.practice.practice import (
    CONFIRM_BELOW,
    MAX_ACTIONS,
    MAX_ATTEMPTS,
    MAX_MINUTES,
    PracticeBudget,
    PracticeCondition,
    PracticeConditionKind,
    PracticeRun,
    PracticeStartFile,
    PracticeState,
    StartPracticeRequest,
)
from domain.practice.conditions import partly_read, unread_results

_LOOK_EVERY_SECONDS = 1.0


def practice(
    call: Invocation,
    goal: Annotated[str, typer.Argument(help="What is to be reached, in a sentence.")],
    allow: Annotated[
        list[str], typer.Option(help="A program, or a command with {input} and {output} (repeatable).")
    ],
    makes: Annotated[
        list[str] | None, typer.Option(metavar="PATH[=TEXT]", help="A file it makes, with a text it holds.")
    ] = None,
    check: Annotated[list[str] | None, typer.Option(help="A command that then exits with 0.")] = None,
    file: Annotated[
        list[Path] | None, typer.Option(exists=True, dir_okay=False, help="A file it begins with.")
    ] = None,
    max_actions: Annotated[int, typer.Option(min=1, max=MAX_ACTIONS)] = MAX_ACTIONS,
    max_minutes: Annotated[int, typer.Option(min=1, max=MAX_MINUTES)] = MAX_MINUTES,
    max_attempts: Annotated[int, typer.Option(min=1, max=MAX_ATTEMPTS)] = MAX_ATTEMPTS,
    confirm_below: Annotated[
        float, typer.Option(min=0, max=1, help="Ask about an idea of less confidence; 0 tries anything.")
    ] = CONFIRM_BELOW,
) -> None:
    """Let the agent practise towards a goal, and wait for how it ends."""
    request = StartPracticeRequest(
        goal=goal,
        success_conditions=(
            *(_made(text) for text in makes or ()),
            *(
                PracticeCondition(kind=PracticeConditionKind.COMMAND_EXITS, command=command)
                for command in check or ()
            ),
        ),
        allowed_commands=tuple(allow),
        start_files=tuple(_start_file(path) for path in file or ()),
        budget=PracticeBudget(max_actions=max_actions, max_minutes=max_minutes, max_attempts=max_attempts),
        confirm_below=confirm_below,
    )
    created = call.api.learn.create_session(
        CreateLearnSessionRequest(
            entry_mode=LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE,
            observation_mode=ObservationMode.INSIDE_AGENT,
        )
    )
    run = call.api.practice.start(created.session.learn_session_id, request)
    with call.busy("practising …"):
        while run.state is PracticeState.RUNNING:
            time.sleep(_LOOK_EVERY_SECONDS)
            run = call.api.practice.progress(run.learn_session_id)
    call.answer(practice_view(run))


def practice_view(run: PracticeRun) -> Group:
    """Everything that was tried, how it ended, and what to type next."""
    # Its session is at rest only once it has ended: a person has one session under way at most.
    again = f"`apprentice learn cancel {run.learn_session_id}`, then `apprentice learn practice` again"
    lines = [Text.assemble((run.state.value, "bold"), f"  {run.note or ''}")]
    for attempt in run.attempts:
        tried = " && ".join(step.command for step in attempt.idea.steps)
        lines.append(Text(f"{attempt.number}. {tried}\n   {attempt.outcome}"))
        if attempt.idea.proposed_by != DETERMINISTIC:
            lines.append(Text(f"   suggested by {attempt.idea.proposed_by}", style="dim"))
        elif attempt.idea.proposer_note:
            lines.append(Text(f"   {attempt.idea.proposer_note}", style="dim"))
    lines.append(Text(f"{run.actions_used} of {run.budget.max_actions} actions used.", style="dim"))
    if run.question:
        lines.append(Text(f"It asks: {run.question}"))
        lines.append(Text(f"Next: {again}, with the answer in --allow or in the goal."))
    elif run.state in (PracticeState.BUDGET_USED, PracticeState.FAILED):
        lines.append(Text(f"Next: {again}, with another goal, other commands or a larger budget."))
    if run.state is PracticeState.REACHED:
        if more := _more_checks(run):
            lines.append(Text(f"To have more than that checked: {again}, with {more}.", style="yellow"))
        lines.append(Text(f"Next: `apprentice learn propose {run.learn_session_id}`."))
    return Group(*lines)


def _more_checks(run: PracticeRun) -> str:
    """What would look at the results that nothing has looked at; empty where a check may have looked at all."""
    unread = unread_results(run.success_conditions)
    if unread:
        return f"`--check COMMAND` or `--makes {unread[0]}=TEXT`"
    return "`--check COMMAND`" if partly_read(run.success_conditions) else ""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    api_command(app, "practice", {"allowed_commands": "allow", "start_files": "file"})(practice)


def _made(text: str) -> PracticeCondition:
    path, holds, wanted = text.partition("=")
    if not holds:
        return PracticeCondition(kind=PracticeConditionKind.FILE_EXISTS, path=path)
    return PracticeCondition(kind=PracticeConditionKind.FILE_CONTAINS, path=path, text=wanted)


def _start_file(path: Path) -> PracticeStartFile:
    try:
        return PracticeStartFile(name=path.name, content=path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise NothingToDo(
            f"{path} is not a text file in UTF-8; practice begins with text files only"
        ) from None
