"""``apprentice learn``: create, list, watch and delete teaching sessions; options that coach an agent."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from cli.learning import capture_commands, proposal_commands
from cli.learning.progress import follow_events
from cli.learning.session_arguments import (
    SessionArgument,
    answer_session,
    read_session,
    session_id_of,
)
from cli.learning.views import history_view, session_view, sessions_view
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import listing
from contracts.learning.create_session import CreateLearnSessionRequest
from contracts.learning.observation import ObservationAdapterKind
from contracts.learning.responses import RecentRun
from contracts.learning.session import (
    BuildPolicy,
    Coaching,
    CoachingConstraint,
    CoachingHint,
    HintKind,
    LearnExecutionMode,
    LearningEntryMode,
    LearnSessionState,
    LearnTargetKind,
    ObservationMode,
)
from domain.learning.adapters import APPLICATIONS, is_unknown_word

_PANEL = "Coaching an agent"

GoalOption = Annotated[
    str | None,
    typer.Option(
        "--goal", help="What the agent is to reach. The rest of coaching needs it.", rich_help_panel=_PANEL
    ),
]
HintOption = Annotated[
    list[str] | None,
    typer.Option("--hint", help="An outcome on the way, no action (repeatable).", rich_help_panel=_PANEL),
]
UseWhenOption = Annotated[
    list[str] | None,
    typer.Option("--use-when", help="When it is to be used (repeatable).", rich_help_panel=_PANEL),
]
NotWhenOption = Annotated[
    list[str] | None,
    typer.Option("--not-when", help="When it is not to be used (repeatable).", rich_help_panel=_PANEL),
]
ConstraintOption = Annotated[
    list[str] | None,
    typer.Option("--constraint", help="What must not happen, in words (repeatable).", rich_help_panel=_PANEL),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="FILE",
        help="A file that stays as it is; the agent's work is checked for it (repeatable).",
        rich_help_panel=_PANEL,
    ),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="PROGRAM",
        help="A program or tool that is not used; checked likewise (repeatable).",
        rich_help_panel=_PANEL,
    ),
]


def entry_mode(
    given: LearningEntryMode | None, *, coached: bool, improves: bool = False
) -> LearningEntryMode:
    """How the person teaches: as said, by coaching where anything of it was given, by improving the skill that was
    named, else by demonstrating.

    Raises:
        NothingToDo: coaching was given together with another way to teach.
    """
    if given is None:
        if improves and not coached:
            return LearningEntryMode.IMPROVING_EXISTING_SKILL
        return LearningEntryMode.COACHING_AGENT if coached else LearningEntryMode.DEMONSTRATING_SKILL
    if coached and given is not LearningEntryMode.COACHING_AGENT:
        raise NothingToDo(
            f"A goal, hints and constraints are for coaching an agent, not for {given.value}; "
            f"leave them out or say --mode {LearningEntryMode.COACHING_AGENT.value}."
        )
    return given


def coaching_of(
    goal: str | None,
    *,
    hints: Sequence[str],
    use_when: Sequence[str],
    not_when: Sequence[str],
    constraints: Sequence[str],
    keep: Sequence[str],
    without: Sequence[str],
) -> Coaching | None:
    """The coach's frame; None when nothing of it was given.

    Raises:
        NothingToDo: hints or constraints were given without a goal.
    """
    given = (
        *(CoachingHint(kind=HintKind.CHECKPOINT, text=text) for text in hints),
        *(CoachingHint(kind=HintKind.USE_WHEN, text=text) for text in use_when),
        *(CoachingHint(kind=HintKind.NOT_WHEN, text=text) for text in not_when),
    )
    ruled_out = (
        *(CoachingConstraint(text=text) for text in constraints),
        *(CoachingConstraint(text=f"{path} stays as it is", kept_paths=(path,)) for path in keep),
        *(CoachingConstraint(text=f"Do not use {name}", forbidden_programs=(name,)) for name in without),
    )
    if goal is None:
        if given or ruled_out:
            raise NothingToDo("Hints and constraints need a goal; say what is to be reached with --goal.")
        return None
    return Coaching(goal=goal, hints=given, constraints=ruled_out)


def recent_runs_view(runs: Sequence[RecentRun], total: int) -> RenderableType:
    """A page of runs; equal numbers in the first column show the same task."""
    table = listing("task", "run", "title", "actions", "succeeded", "captured", whole="run")
    for run, task in zip(runs, _tasks(runs), strict=True):
        table.add_row(
            str(task),
            run.trace_id,
            escape(run.title),
            str(run.actions),
            f"{run.success_share:.0%}",
            run.captured_until.strftime("%Y-%m-%d %H:%M"),
        )
    return Group(table, Text(f"{len(runs)} of {total}", style="dim"))


def _tasks(runs: Sequence[RecentRun]) -> list[int]:
    """A number for each run; one that is compatible with an earlier run has that run's."""
    numbers: dict[str, int] = {}
    for run in runs:
        earlier = [numbers[trace] for trace in run.compatible_with if trace in numbers]
        numbers[run.trace_id] = min(earlier) if earlier else max(numbers.values(), default=0) + 1
    return list(numbers.values())


app = typer.Typer(no_args_is_help=True, help="Teach an ability: sessions, questions, proposals.")

PageOption = Annotated[int, typer.Option(min=1, help="Which page, newest first.")]
PageSizeOption = Annotated[int, typer.Option(min=1, max=100, help="Entries a page.")]
SearchOption = Annotated[
    str | None, typer.Option("--search", help="Words of the skill's, application's or project's name.")
]

_OBSERVED = {
    LearningEntryMode.DEMONSTRATING_SKILL: ObservationMode.OUTSIDE_AGENT,
    LearningEntryMode.COACHING_AGENT: ObservationMode.INSIDE_AGENT,
    LearningEntryMode.IMPROVING_EXISTING_SKILL: ObservationMode.OUTSIDE_AGENT,
}
"""Default observation scope."""

_FILLED_BY = {
    "source_trace_ids": "from_run",
    "target_app_whitelist": "only",
    "required_adapters": "require_adapter",
    "target_skill_id": "skill",
    "project_id": "project",
    "entry_mode": "mode",
    "observation_mode": "observe",
    "execution_mode": "execution",
    "target_kind": "target",
    "coaching.goal": "goal",
    "coaching.hints": "hint",
    "coaching.constraints": "constraint",
}
"""The parameters of ``create`` by the fields of the request that are named otherwise."""


@api_command(app, "create", _FILLED_BY)
def create(
    call: Invocation,
    mode: Annotated[
        LearningEntryMode | None,
        typer.Option(
            help="How you teach. Left out: coaching_agent with a goal, improving_existing_skill with --skill, "
            "else demonstrating_skill."
        ),
    ] = None,
    observe: Annotated[
        ObservationMode | None,
        typer.Option(
            help="What may be watched. Left out: outside_agent when demonstrating or improving, inside_agent when "
            "coaching, else none."
        ),
    ] = None,
    build_policy: Annotated[
        BuildPolicy, typer.Option(help="Whether to ask before a proposal is built.")
    ] = BuildPolicy.BUILD_THEN_REVIEW,
    execution: Annotated[
        LearnExecutionMode, typer.Option(help="How closely the ability keeps to what is shown.")
    ] = LearnExecutionMode.GUIDED,
    target: Annotated[
        LearnTargetKind | None,
        typer.Option(help="What is to come of it. Left out: existing_skill when improving, else new_skill."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Watch this application alone, e.g. terminal (repeatable)."),
    ] = None,
    require_adapter: Annotated[
        list[ObservationAdapterKind] | None,
        typer.Option(help="Refuse unless this recorder can record now, e.g. terminal_command (repeatable)."),
    ] = None,
    skill: Annotated[
        str | None, typer.Option(help="The ability to improve; alone it says all that is needed.")
    ] = None,
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
    _refuse_unknown(only or ())
    coaching = coaching_of(
        goal,
        hints=hint or (),
        use_when=use_when or (),
        not_when=not_when or (),
        constraints=constraint or (),
        keep=keep or (),
        without=without or (),
    )
    mode = entry_mode(mode, coached=coaching is not None, improves=skill is not None)
    improving = mode is LearningEntryMode.IMPROVING_EXISTING_SKILL
    watched = ObservationMode.NONE if from_run and improving else _OBSERVED.get(mode, ObservationMode.NONE)
    target = target or (LearnTargetKind.EXISTING_SKILL if improving else LearnTargetKind.NEW_SKILL)
    request = CreateLearnSessionRequest(
        entry_mode=mode,
        observation_mode=observe or watched,
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
    answer_session(call, created.session)


def _refuse_unknown(applications: Sequence[str]) -> None:
    """Ends the command where a session would watch what no recorder here reports, and so nothing.

    Raises:
        NothingToDo: one of the names is a word that is no application here.
    """
    unknown = next(filter(is_unknown_word, applications), None)
    if unknown is not None:
        raise NothingToDo(
            f"--only: no recorder reports “{unknown}”. There are {' and '.join(sorted(APPLICATIONS))}; `apprentice "
            "record adapters` lists what they record. Name a site by its address (shop.example), a program of a "
            "recorder of your own by its bundle id (org.example.editor)."
        )


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
    answer_session(call, call.api.learn.session(session_id_of(call, session)))


@api_command(app, "watch")
def watch(
    call: Invocation,
    session: SessionArgument = None,
    until: Annotated[LearnSessionState | None, typer.Option(help="End when this state is reached.")] = None,
) -> None:
    """Print a session's events as they happen, until it is at rest; Ctrl-C ends the watching alone."""
    found = read_session(call, session)
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
        call.api.learn.session(session)
        typer.confirm(f"Delete session {session} and what was observed in it?", abort=True)
    call.api.learn.delete_session(session)
    call.answer(Text(f"Session {session} is deleted."))


capture_commands.register(app)
proposal_commands.register(app)
