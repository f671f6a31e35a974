"""``apprentice mining``: settings of skill mining, its candidates, accepting and dismissing them."""

import time
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.list_options import answer_list
from cli.platform.output import fail, listing
from clients.apprentice.learning import MiningApi
from contracts.mining.candidates import (
    MAX_CLUSTER_TRACES,
    CandidateState,
    MiningCandidateView,
    MiningGate,
    MiningMode,
    MiningSettingsResponse,
    PutMiningSettingsRequest,
)
from contracts.mining.runs import MiningRun, MiningRunState

app = typer.Typer(no_args_is_help=True, help="Skills suggested by what you do again and again.")

_LOOK_EVERY_SECONDS = 0.3

CandidateArgument = Annotated[
    str, typer.Argument(help="The candidate's id, from `apprentice mining candidates`.", metavar="CANDIDATE")
]
ReasonOption = Annotated[str | None, typer.Option(help="Why, for the record.")]


@api_command(app, "settings")
def settings(
    call: Invocation,
    mode: Annotated[MiningMode | None, typer.Option(help="What mining may do by itself.")] = None,
    inside: Annotated[
        bool | None, typer.Option("--inside/--no-inside", help="Use what was done through the agent.")
    ] = None,
    outside: Annotated[
        bool | None, typer.Option("--outside/--no-outside", help="Use what you did outside the agent.")
    ] = None,
    min_traces: Annotated[
        int | None, typer.Option(min=1, max=MAX_CLUSTER_TRACES, help="How often a task must have succeeded.")
    ] = None,
    ask_when_ambiguous: Annotated[
        bool | None,
        typer.Option(
            "--ask-when-ambiguous/--no-ask-when-ambiguous", help="Ask first where something is unclear."
        ),
    ] = None,
    tests_first: Annotated[
        bool | None,
        typer.Option(
            "--tests-first/--no-tests-first", help="Show a draft only once it has passed its tests."
        ),
    ] = None,
) -> None:
    """Show your settings; with options, change those and leave the others."""
    api = MiningApi(call.api.http)
    found = api.settings()
    given = {
        "mode": mode,
        "observe_inside_agent": inside,
        "observe_outside_agent": outside,
        "min_successful_traces": min_traces,
        "require_user_feedback_before_build_when_ambiguous": ask_when_ambiguous,
        "require_tests_before_proposal": tests_first,
    }
    wanted = {name: value for name, value in given.items() if value is not None}
    if wanted:
        found = api.replace_settings(
            PutMiningSettingsRequest.model_validate(found.settings.model_dump() | wanted)
        )
    call.answer(_settings_view(found))


@api_command(app, "run")
def run_now(call: Invocation, wait: Annotated[bool, typer.Option(help="Wait for its end.")] = True) -> None:
    """Look through your captures now."""
    api = MiningApi(call.api.http)
    run = api.scan()
    if wait:
        with call.busy("Looking through your captures…"):
            while run.state is MiningRunState.RUNNING:
                time.sleep(_LOOK_EVERY_SECONDS)
                run = api.run(run.run_id)
    call.answer(_run_view(run))
    if run.state in {MiningRunState.FAILED, MiningRunState.CANCELLED}:
        fail(f"mining run {run.run_id} {run.state.value}: {run.error or 'see the Temporal UI'}")


@api_command(app, "candidates")
def candidates(
    call: Invocation,
    state: Annotated[CandidateState | None, typer.Option(help="Only those in this state.")] = None,
    page: Annotated[int, typer.Option(min=1, help="Which page, newest first.")] = 1,
) -> None:
    """List what was found, newest first."""
    found = MiningApi(call.api.http).candidates(page, state=state)
    table = listing(
        "candidate",
        "task",
        "times",
        "variation",
        "verified",
        "state",
        "session",
        "you may",
        whole="candidate",
    )
    for view in found.candidates:
        one, cluster = view.candidate, view.candidate.cluster
        table.add_row(
            one.candidate_id,
            Text(one.title),
            str(len(cluster.successful_trace_ids)),
            f"{cluster.variation_score:.2f}",
            f"{cluster.verification_coverage_score:.2f}",
            one.state.value,
            view.session_state.value if view.session_state else "–",
            " · ".join(action.value for action in view.allowed_actions),
        )
    nothing = "Nothing found. Look now: [cyan]apprentice mining run[/]."
    answer_list(call, found, table, nothing, {"state": state})


@api_command(app, "accept")
def accept(call: Invocation, candidate: CandidateArgument, reason: ReasonOption = None) -> None:
    """Have a skill drafted from a candidate: a learning session is opened for it."""
    call.answer(_decided(MiningApi(call.api.http).accept(candidate, reason)))


@api_command(app, "dismiss")
def dismiss(call: Invocation, candidate: CandidateArgument, reason: ReasonOption = None) -> None:
    """Put a candidate aside for good."""
    call.answer(_decided(MiningApi(call.api.http).dismiss(candidate, reason)))


def _settings_view(found: MiningSettingsResponse) -> RenderableType:
    chosen = found.settings
    rows = {
        "mode": chosen.mode.value,
        "inside the agent": _yes(chosen.observe_inside_agent),
        "outside the agent": _yes(chosen.observe_outside_agent),
        "successful traces": f"at least {chosen.min_successful_traces}",
        "variation": f"at most {found.max_variation:.2f}",
        "verified steps": f"at least {found.min_verification_coverage:.2f}",
        "asks when ambiguous": _yes(chosen.require_user_feedback_before_build_when_ambiguous),
        "tests before review": _yes(chosen.require_tests_before_proposal),
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        table.add_row(Text(name, style="dim"), value)
    banner = [Text(found.observation_banner, style="yellow")] if found.observation_banner else []
    return Group(table, *banner)


def _run_view(run: MiningRun) -> RenderableType:
    done = run.progress
    parts: list[RenderableType] = [
        Text(f"Mining run {run.run_id}: {run.state.value}"),
        Text(
            f"{done.traces} traces of {done.clusters} tasks, {done.excluded} captures left out; "
            f"{done.candidates} candidates, {done.built} built, {done.deferred} put off"
        ),
    ]
    if done.people_off:
        parts.append(Text("Mining is switched off; `apprentice mining settings --mode build_then_review`."))
    parts += [Text(f"  {one.count} left out: {one.why}") for one in done.left_out]
    parts += [Text(f"  {count} not suggested: {_GATES[gate]}") for gate, count in done.closed_gates.items()]
    parts += [Text(f"  {failure.item} was skipped: {failure.reason}") for failure in done.failures]
    return Group(*parts)


_GATES: dict[MiningGate, str] = {
    MiningGate.ENOUGH_TRACES: "not done often enough yet; `apprentice mining settings --min-traces N` says how often",
    MiningGate.LOW_VARIATION: "done too differently each time; the installation's `mining_max_variation` bounds that",
    MiningGate.VERIFIED: "too few of its steps leave a result that can be seen (`mining_min_coverage`)",
    MiningGate.SAFE: "it deletes or sends something",
    MiningGate.NO_FRICTION: "a checkpoint of it was last reported as skipped or failed",
    MiningGate.NOT_COVERED: "a proposal or an ability covers it already",
    MiningGate.REUSABLE: "it is too particular",
}


def _decided(view: MiningCandidateView) -> RenderableType:
    one = view.candidate
    if one.state is not CandidateState.BUILT or one.learn_session_id is None:
        return Text(f"{one.title}: {one.state.value}")
    # Its session may ask first, before anything is drafted: whether there is a skill yet is that session's to say.
    return Group(
        Text(f"{one.title}: a session was opened for it"),
        Text(
            f"What it waits for, questions or a review: `apprentice learn status {one.learn_session_id}`.",
            style="dim",
        ),
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"
