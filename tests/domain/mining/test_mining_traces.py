"""Which captures count as traces, and what is kept of their steps."""

from collections.abc import Sequence
from typing import Any

import pytest

from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import ObservedActionEvent, WorkflowBoundary
from contracts.learning.session import MAX_RUNS, LearnSession, ObservationMode, SourceRun
from contracts.learning.validation import SafetyClass
from contracts.mining.candidates import MiningSettings
from contracts.mining.runs import Exclusion, left_out
from domain.learning.interpretation.steps import captured_steps
from domain.mining.grouping import chosen_runs
from domain.mining.traces import (
    MinedTrace,
    TraceStanding,
    goal_words,
    is_allowed,
    mined_traces,
    normalised_goal,
    step_signature,
)
from tests.domain.conftest import START, Teaching

ALLOWED = MiningSettings(observe_outside_agent=True)


def captured(teach: Teaching, **changes: Any) -> LearnSessionAggregate:
    values: dict[str, Any] = {
        "state": "cancelled",
        "observation_mode": "outside_agent",
        "active_trace_ids": (teach.id(70),),
    }
    session: LearnSession = teach.session(**(values | changes))
    return LearnSessionAggregate(session=session, change=5, state_since=START)


def marks(teach: Teaching, *more: WorkflowBoundary) -> list[WorkflowBoundary]:
    return [teach.mark("start", 0), *more, teach.mark("stop", 60)]


def traces_of(
    teach: Teaching,
    events: Sequence[ObservedActionEvent],
    *more: WorkflowBoundary,
    settings: MiningSettings = ALLOWED,
    accepted: int | None = None,
    **changes: Any,
) -> tuple[MinedTrace, ...] | Exclusion:
    held = len(events) if accepted is None else accepted
    return mined_traces(captured(teach, **changes), events, marks(teach, *more), held, settings)


def test_slips_and_looking_around_are_no_steps_and_names_are_left_out(teach: Teaching) -> None:
    found = traces_of(teach, teach.reports(), teach.mark("mark_goal", 1, "Report the sales"))
    assert isinstance(found, tuple)
    (trace,) = found
    assert trace.steps == (
        "terminal:write:printf:created.csv",
        "terminal:sort:sort:created.txt",
        "terminal:archive:tar:modified.tgz",
        "terminal:checksum:sha256sum:created.sha256",
    )
    assert (trace.verified, trace.succeeded, trace.goal) == (4, True, "Report the sales")
    assert trace.safety is SafetyClass.LOW


@pytest.mark.acceptance("X-34")
def test_a_skill_that_was_run_makes_a_trace_as_unsafe_as_it_says(teach: Teaching) -> None:
    run = {"adapter_kind": "wrapper_receipt", "app_family": "skills", "target_ref": "skills/debit_wallet"}
    debit = teach.event(11, action_label="Debit-wallet in skills", tool={"safety_class": "high"}, **run)
    found = traces_of(teach, [*teach.reports(), debit])
    assert isinstance(found, tuple)
    assert found[0].safety is SafetyClass.HIGH


def test_the_same_steps_on_other_files_have_the_same_signature(teach: Teaching) -> None:
    one = teach.command(1, "sort -t, -k2 north.csv > north-top.txt", "+north-top.txt")
    other = teach.command(2, "sort -t, -k3 data/south.csv > out/south.txt", "+out/south.txt")
    assert step_signature(one) == step_signature(other)
    clicked = teach.event(3, action_label="Open invoice 2041 of ann@example.org")
    again = teach.event(4, action_label="Open  invoice 7 of bob@example.net")
    assert step_signature(clicked) == step_signature(again) == "accessibility_ui:open invoice # of #"


def test_a_step_that_failed_makes_a_failed_trace(teach: Teaching) -> None:
    events = [
        teach.command(1, "printf 'a\\n' > a.txt", "+a.txt"),
        teach.command(2, "tar czf a.tgz a.txt b.txt", "+a.tgz", exit_class="failed"),
    ]
    found = traces_of(teach, events)
    assert isinstance(found, tuple)
    assert [trace.succeeded for trace in found] == [False]


def test_each_demonstration_of_a_session_is_a_trace_of_its_own(teach: Teaching) -> None:
    events = [
        teach.command(1, "sort a.csv > a.txt", "+a.txt"),
        teach.command(20, "sort b.csv > b.txt", "+b.txt"),
    ]
    found = traces_of(teach, events, teach.mark("start", 15), active_trace_ids=(teach.id(70), teach.id(71)))
    assert isinstance(found, tuple)
    assert [trace.trace_id for trace in found] == [teach.id(70), teach.id(71)]
    assert found[0].steps == found[1].steps


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"entry_mode": "improving_existing_skill"}, Exclusion.NOT_CAPTURED),
        ({"entry_mode": "import_skill"}, Exclusion.NOT_CAPTURED),
        ({"entry_mode": "autonomous_agent_practice"}, Exclusion.PRACTISED),
        ({"active_trace_ids": ()}, Exclusion.NOT_CAPTURED),
        ({"state": "capturing"}, Exclusion.NOT_CAPTURED),
        ({"observation_mode": "none"}, Exclusion.NOT_WATCHED),
        ({"state": "rejected", "proposal_id": "01a1fe66-0466-7ca7-8c02-63de5f154dd9"}, Exclusion.TURNED_DOWN),
        (
            {"state": "cancelled", "proposal_id": "01a1fe66-0466-7ca7-8c02-63de5f154dd9"},
            Exclusion.TURNED_DOWN,
        ),
    ],
)
def test_a_capture_that_does_not_count_is_left_out(
    teach: Teaching, changes: dict[str, Any], why: Exclusion
) -> None:
    assert traces_of(teach, teach.reports(), **changes) is why


def test_a_capture_that_was_never_stopped_is_no_trace(teach: Teaching) -> None:
    found = mined_traces(captured(teach), teach.reports(), [teach.mark("start", 0)], 11, ALLOWED)
    assert found is Exclusion.NOT_CAPTURED


def test_a_capture_of_which_something_was_purged_does_not_count(teach: Teaching) -> None:
    assert traces_of(teach, teach.reports(), accepted=12) is Exclusion.PURGED
    assert traces_of(teach, [], accepted=0) is Exclusion.PURGED


@pytest.mark.parametrize(
    "secret",
    [
        {"command": "curl -H 'token: [MASKED]' https://a.example > a.json"},
        {"command": "sha256:5c5c5c"},
        {"redaction_mode": "hash_only"},
        {"adapter_kind": "text_entry"},
    ],
)
def test_a_capture_that_held_a_secret_does_not_count(teach: Teaching, secret: dict[str, str]) -> None:
    command = secret.get("command")
    event = teach.command(12, command, "+a.json") if command else teach.event(12, **secret)
    assert traces_of(teach, [*teach.reports(), event]) is Exclusion.SECRET


def test_a_session_with_a_proposal_only_stands_around(teach: Teaching) -> None:
    proposal = {"proposal_id": teach.id(80)}
    for state, standing in (
        ("quarantined", TraceStanding.QUARANTINED),
        ("ready_for_review", TraceStanding.COVERED),
        ("approved", TraceStanding.COVERED),
    ):
        found = traces_of(teach, [], accepted=4, state=state, **proposal)
        assert isinstance(found, tuple)
        assert [trace.standing for trace in found] == [standing]


@pytest.mark.acceptance("9.16-5")
@pytest.mark.parametrize(
    ("mode", "settings", "allowed"),
    [
        (ObservationMode.INSIDE_AGENT, MiningSettings(), True),
        (ObservationMode.OUTSIDE_AGENT, MiningSettings(), False),
        (ObservationMode.MIXED, MiningSettings(), False),
        (ObservationMode.NONE, ALLOWED, False),
        (ObservationMode.OUTSIDE_AGENT, ALLOWED, True),
        (ObservationMode.MIXED, ALLOWED, True),
        (ObservationMode.INSIDE_AGENT, MiningSettings(observe_inside_agent=False), False),
    ],
)
def test_only_what_its_owner_switched_on_is_used(
    mode: ObservationMode, settings: MiningSettings, allowed: bool
) -> None:
    assert is_allowed(mode, settings) is allowed


def test_a_capture_that_is_switched_off_names_the_setting_that_switches_it_on(teach: Teaching) -> None:
    def why(mode: str, **settings: bool) -> object:
        chosen = MiningSettings.model_validate(settings)
        return traces_of(teach, teach.reports(), settings=chosen, observation_mode=mode)

    assert why("outside_agent") is Exclusion.OUTSIDE_IS_OFF
    assert why("mixed") is Exclusion.OUTSIDE_IS_OFF
    assert why("inside_agent", observe_inside_agent=False) is Exclusion.INSIDE_IS_OFF
    assert why("mixed", observe_inside_agent=False, observe_outside_agent=True) is Exclusion.INSIDE_IS_OFF


def test_every_reason_is_said_in_words() -> None:
    told = left_out(dict.fromkeys(Exclusion, 2))
    assert [one.reason for one in told] == list(Exclusion)
    assert "`apprentice mining settings --outside`" in next(
        one.why for one in told if one.reason is Exclusion.OUTSIDE_IS_OFF
    )


def test_a_goal_is_its_words_without_figures_files_and_little_words() -> None:
    assert goal_words("I want to summarise the sales of 2026 in report.csv") == {"summarise", "sales"}
    assert normalised_goal("Show how to pack the photos for ann@example.org") == "pack photos"


def test_runs_that_cannot_be_compared_with_the_first_stay_out(teach: Teaching) -> None:
    def run(number: int, *commands: tuple[str, str]) -> tuple[SourceRun, Any]:
        events = [teach.command(100 * number + n, line, made) for n, (line, made) in enumerate(commands)]
        source = SourceRun(trace_id=teach.id(number), learn_session_id=teach.id(500 + number))
        return source, captured_steps(events, [])

    def sorting(number: int, name: str) -> tuple[SourceRun, Any]:
        return run(
            number,
            (f"sort {name}.csv > {name}.txt", f"+{name}.txt"),
            (f"tar czf {name}.tgz {name}.txt", f"+{name}.tgz"),
        )

    other = run(2, ("wc -l z.md > z.count", "+z.count"), ("sha256sum z.md > z.sum", "+z.sum"))
    chosen = chosen_runs([(sorting(9, "z")[0], ()), sorting(1, "a"), other, sorting(3, "b")])
    assert [run.trace_id for run in chosen] == [teach.id(1), teach.id(3)]
    many = [sorting(n, f"region{n}") for n in range(1, MAX_RUNS + 3)]
    assert len(chosen_runs(many)) == MAX_RUNS
    assert chosen_runs([]) == ()
