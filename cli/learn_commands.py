"""``apprentice learn``: teaching sessions from creation to deletion."""

from typing import Annotated

import typer
from rich.text import Text

from cli import learn_capture_commands, learn_proposal_commands, practice_commands
from cli.coaching_options import (
    ConstraintOption,
    GoalOption,
    HintOption,
    KeepOption,
    NotWhenOption,
    UseWhenOption,
    WithoutOption,
    coaching_of,
    entry_mode,
)
from cli.invocation import Invocation, NothingToDo, SessionArgument, api_command
from cli.learn_progress import follow_events
from cli.learn_views import history_view, session_view, sessions_view
from cli.recent_runs_view import recent_runs_view
from contracts.learning.create_session import CreateLearnSessionRequest
from contracts.learning.observation import ObservationAdapterKind
from contracts.learning.session import (
    BuildPolicy,
    LearnExecutionMode,
    LearningEntryMode,
    LearnSessionState,
    LearnTargetKind,
    ObservationMode,
)

app = typer.Typer(no_args_is_help=True, help="Teach an ability: sessions, questions, proposals.")

PageOption = Annotated[int, typer.Option(min=1, help="Which page, newest first.")]
PageSizeOption = Annotated[int, typer.Option(min=1, max=100, help="Entries a page.")]
SearchOption = Annotated[
    str | None, typer.Option("--search", help="Words of the skill's, application's or project's name.")
]

_OBSERVED = {
    LearningEntryMode.DEMONSTRATING_SKILL: ObservationMode.OUTSIDE_AGENT,
    LearningEntryMode.COACHING_AGENT: ObservationMode.INSIDE_AGENT,
}
"""What may be watched where nobody says it."""


@api_command(app, "create")
def create(
    call: Invocation,
    mode: Annotated[
        LearningEntryMode | None,
        typer.Option(help="How you teach. Left out: coaching_agent with a goal, else demonstrating_skill."),
    ] = None,
    observe: Annotated[
        ObservationMode | None,
        typer.Option(
            help="What may be watched. Left out: outside_agent when demonstrating, inside_agent when coaching, "
            "else none."
        ),
    ] = None,
    build_policy: Annotated[
        BuildPolicy, typer.Option(help="Whether to ask before a proposal is built.")
    ] = BuildPolicy.BUILD_THEN_REVIEW,
    execution: Annotated[
        LearnExecutionMode, typer.Option(help="How closely the ability keeps to what is shown.")
    ] = LearnExecutionMode.GUIDED,
    target: Annotated[
        LearnTargetKind, typer.Option(help="What is to come of it.")
    ] = LearnTargetKind.NEW_SKILL,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Watch this application alone, e.g. terminal (repeatable)."),
    ] = None,
    require_adapter: Annotated[
        list[ObservationAdapterKind] | None,
        typer.Option(help="Refuse unless this recorder can record now, e.g. terminal_command (repeatable)."),
    ] = None,
    skill: Annotated[str | None, typer.Option(help="The ability to improve.")] = None,
    from_run: Annotated[
        list[str] | None,
        typer.Option(help="Learn from this run of `learn recent-runs` instead of a capture (repeatable)."),
    ] = None,
    project: Annotated[str | None, typer.Option(help="The project it belongs to.")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask about what is uncertain before building.")] = False,
    allow_private_install: Annotated[
        bool, typer.Option("--allow-private-install", help="Let it install for you alone without asking.")
    ] = False,
    clone_of: Annotated[
        str | None, typer.Option(help="Take the settings of one of your own sessions.")
    ] = None,
    goal: GoalOption = None,
    hint: HintOption = None,
    use_when: UseWhenOption = None,
    not_when: NotWhenOption = None,
    constraint: ConstraintOption = None,
    keep: KeepOption = None,
    without: WithoutOption = None,
) -> None:
    """Begin a session: it is armed and waits for the first observed action."""
    coaching = coaching_of(
        goal,
        hints=hint or (),
        use_when=use_when or (),
        not_when=not_when or (),
        constraints=constraint or (),
        keep=keep or (),
        without=without or (),
    )
    mode = entry_mode(mode, coached=coaching is not None)
    request = CreateLearnSessionRequest(
        entry_mode=mode,
        observation_mode=observe or _OBSERVED.get(mode, ObservationMode.NONE),
        build_policy=build_policy,
        execution_mode=execution,
        target_kind=target,
        target_skill_id=skill,
        source_trace_ids=tuple(from_run or ()),
        project_id=project,
        target_app_whitelist=tuple(only or ()),
        required_adapters=tuple(require_adapter or ()),
        coaching=coaching,
        ask_before_build=ask,
        allow_private_install=allow_private_install,
        clone_of=clone_of,
    )
    created = call.api.learn.create_session(request)
    call.answer_session(created.session)


@api_command(app, "list")
def list_sessions(
    call: Invocation, page: PageOption = 1, page_size: PageSizeOption = 25, search: SearchOption = None
) -> None:
    """List your sessions, newest first."""
    listed = call.api.learn.sessions(page=page, page_size=page_size, search=search)
    call.answer(sessions_view(listed.sessions, listed.total))


@api_command(app, "history")
def history(
    call: Invocation, page: PageOption = 1, page_size: PageSizeOption = 25, search: SearchOption = None
) -> None:
    """List how your sessions ended, archived ones included."""
    listed = call.api.learn.history(page=page, page_size=page_size, search=search)
    call.answer(history_view(listed.items, listed.total))


@api_command(app, "recent-runs")
def recent_runs(call: Invocation, page: PageOption = 1, page_size: PageSizeOption = 25) -> None:
    """List what was captured before and can be learned from, newest first."""
    listed = call.api.learn.recent_runs(page=page, page_size=page_size)
    call.answer(recent_runs_view(listed.runs, listed.total))


@api_command(app, "status")
def status(call: Invocation, session: SessionArgument = None) -> None:
    """Show a session: its state, what it waits for, and what to type next."""
    call.answer_session(call.api.learn.session(call.session_id(session)))


@api_command(app, "watch")
def watch(
    call: Invocation,
    session: SessionArgument = None,
    until: Annotated[LearnSessionState | None, typer.Option(help="End when this state is reached.")] = None,
) -> None:
    """Print a session's events as they happen, until it is at rest; Ctrl-C ends the watching alone."""
    found = call.session(session)
    call.show(Text(f"Watching session {found.learn_session_id}.", style="dim"))
    try:
        last = follow_events(call, found.learn_session_id, until)
    except KeyboardInterrupt:
        return
    call.show(session_view(last))


@api_command(app, "delete")
def delete(
    call: Invocation,
    session: Annotated[str, typer.Argument(help="The session's id.", metavar="SESSION")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Cancel a session that has no proposal yet, and delete what was observed."""
    if not yes:
        if call.json:
            raise NothingToDo("deleting cannot be undone: say --yes")
        typer.confirm(f"Delete session {session} and what was observed in it?", abort=True)
    call.api.learn.delete_session(session)
    call.answer(Text(f"Session {session} is deleted."))


learn_capture_commands.register(app)
learn_proposal_commands.register(app)
practice_commands.register(app)
