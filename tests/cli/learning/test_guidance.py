"""Every state says what it waits for, and what it suggests is what the service says it takes now."""

import re
import shlex
from datetime import UTC, datetime
from uuid import UUID

import pytest
from typer.main import get_command

from cli.abilities import ability_commands
from cli.learning import learn_commands, record_commands
from cli.learning.learn_commands import entry_mode
from cli.learning.views import guide, session_view
from cli.platform.output import TerminalConsole
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState, ObservationMode
from contracts.learning.state_machine import AT_REST, SessionCommand
from contracts.learning.views.allowed_actions import LearnSessionView
from domain.learning.session.allowed_actions import SessionFacts, session_actions

GROUPS = {"learn": learn_commands.app, "abilities": ability_commands.app, "record": record_commands.app}

SESSION_COMMANDS = {
    "start": SessionCommand.START,
    "resume": SessionCommand.RESUME,
    "stop": SessionCommand.STOP,
    "mark-goal": SessionCommand.MARK,
    "propose": SessionCommand.GENERATE_PROPOSAL,
    "answer": SessionCommand.ANSWER_QUESTIONS,
    "validate": SessionCommand.VALIDATE,
    "install": SessionCommand.INSTALL,
    "approve": SessionCommand.APPROVE,
    "reject": SessionCommand.REJECT,
    "revise": SessionCommand.REVISE,
    "cancel": SessionCommand.CANCEL,
}


def session_in(
    state: LearnSessionState,
    mode: LearningEntryMode = LearningEntryMode.DEMONSTRATING_SKILL,
    observed: ObservationMode = ObservationMode.OUTSIDE_AGENT,
    *,
    captured: bool = True,
) -> LearnSessionView:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    session = LearnSession(
        learn_session_id=str(UUID(int=1)),
        owner_user_id="ada",
        entry_mode=mode,
        observation_mode=observed,
        state=state,
        ability_id="learned.sales",
        created_at=now,
        updated_at=now,
    )
    aggregate = LearnSessionAggregate(session=session, change=1, state_since=now, lint_passed=True)
    actions = session_actions(SessionFacts(aggregate=aggregate, captured=captured))
    return LearnSessionView.model_validate(dict(session) | dict(actions))


def suggested(session: LearnSessionView) -> list[str]:
    """The names of the suggested commands, in order."""
    return [" ".join(shlex.split(command)[1:3]) for command in guide(session).commands]


@pytest.mark.parametrize("mode", list(LearningEntryMode))
@pytest.mark.parametrize("state", list(LearnSessionState))
def test_every_suggested_command_can_be_typed_as_it_stands(
    state: LearnSessionState, mode: LearningEntryMode
) -> None:
    for command in guide(session_in(state, mode)).commands:
        program, group, name, *arguments = shlex.split(command)
        assert program == "apprentice"
        known = get_command(GROUPS[group]).commands[name]  # type: ignore[attr-defined]
        assert known.make_context(name, arguments, resilient_parsing=False).params


@pytest.mark.parametrize("mode", list(LearningEntryMode))
@pytest.mark.parametrize("state", list(LearnSessionState))
def test_no_command_is_suggested_that_the_service_does_not_offer(
    state: LearnSessionState, mode: LearningEntryMode
) -> None:
    session = session_in(state, mode)
    for command in guide(session).commands:
        _, group, name, *_ = shlex.split(command)
        if group == "learn" and name in SESSION_COMMANDS:
            assert SESSION_COMMANDS[name] in session.allowed_actions, command


@pytest.mark.parametrize("state", list(LearnSessionState))
def test_where_something_is_waited_for_a_command_leads_on(state: LearnSessionState) -> None:
    assert guide(session_in(state)).commands


@pytest.mark.parametrize("state", list(LearnSessionState))
def test_at_rest_nothing_is_waited_for_and_elsewhere_something_is(state: LearnSessionState) -> None:
    waits_for = guide(session_in(state)).waits_for
    assert waits_for
    assert bool(re.match("nothing", waits_for)) == (state in AT_REST)


def test_what_was_practised_is_to_be_installed_privately_before_it_is_approved() -> None:
    practice = LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE
    ready = session_in(LearnSessionState.READY_FOR_REVIEW, practice, ObservationMode.INSIDE_AGENT)
    assert suggested(ready)[:2] == ["learn files", "learn install"]
    assert "learn approve" not in suggested(ready)
    (told,) = guide(ready).not_yet
    assert told.startswith("approve: What the agent practised alone is installed privately first")
    tried = session_in(LearnSessionState.INSTALLED_PRIVATE, practice, ObservationMode.INSIDE_AGENT)
    assert suggested(tried) == ["abilities show", "learn approve"]


def test_a_session_that_observes_nothing_is_stopped_and_not_recorded() -> None:
    improving = LearningEntryMode.IMPROVING_EXISTING_SKILL
    armed = session_in(LearnSessionState.ARMED, improving, ObservationMode.NONE)
    assert suggested(armed)[0] == "learn stop"
    assert "record terminal" not in suggested(armed)


def test_an_improvement_is_shown_again_or_said_in_words_and_looked_at_as_a_difference() -> None:
    improving = LearningEntryMode.IMPROVING_EXISTING_SKILL
    armed = session_in(LearnSessionState.ARMED, improving)
    assert "shown once more" in guide(armed).waits_for
    assert suggested(armed)[:2] == ["record terminal", "learn start"]
    drafted = session_in(LearnSessionState.DRAFTING_PROPOSAL, improving)
    assert "in words" in guide(drafted).waits_for
    assert suggested(drafted)[0] == "learn diff"
    unwatched = session_in(LearnSessionState.ARMED, improving, ObservationMode.NONE)
    assert "nothing is watched" in guide(unwatched).waits_for
    practice = session_in(LearnSessionState.ARMED, LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE)
    assert "apprentice learn practice" in guide(practice).waits_for


def test_a_session_about_other_applications_is_recorded_in_the_browser() -> None:
    armed = session_in(LearnSessionState.ARMED)
    assert suggested(armed)[0] == "record terminal"
    assert suggested(armed.changed(target_app_whitelist=("browser",)))[0] == "record browser"
    assert suggested(armed.changed(target_app_whitelist=("browser", "terminal")))[0] == "record terminal"


def test_a_skill_alone_means_improving_it() -> None:
    improving = LearningEntryMode.IMPROVING_EXISTING_SKILL
    assert entry_mode(None, coached=False, improves=True) is improving
    assert entry_mode(None, coached=True, improves=True) is LearningEntryMode.COACHING_AGENT
    given = LearningEntryMode.DEMONSTRATING_SKILL
    assert entry_mode(given, coached=False, improves=True) is given


def test_where_nothing_was_captured_no_proposal_is_suggested_and_the_view_says_why() -> None:
    stopped = session_in(LearnSessionState.STOPPED, captured=False)
    assert suggested(stopped) == ["learn cancel"]
    console = TerminalConsole(width=200, record=True)
    console.print(session_view(stopped))
    assert "generate-proposal: Nothing was captured" in console.export_text()
