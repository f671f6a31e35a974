"""Each part of ``apprentice up`` is killed during a lesson; the lesson is completed with the CLI's client."""

import os
import signal
import sys
from pathlib import Path

import httpx
import pytest

from clients.apprentice.api import ApprenticeApi
from clients.apprentice.transport import RetryPolicy
from contracts.learning import requests as asks
from contracts.learning.create_session import CreateLearnSessionRequest
from contracts.learning.observation import IngestObservationsRequest, ObservationMode
from contracts.learning.session import LearningEntryMode, LearnSessionState
from tests.cli.platform.test_up import RunningUp, running_up
from tests.faults.patience import AT_MOST_SECONDS
from tests.fixtures.learner import Learner

PATIENT = RetryPolicy(attempts=AT_MOST_SECONDS)


def kill(up: RunningUp, part: str) -> None:
    """Ends a part with no chance to tidy up, and waits until the supervisor has started it again."""
    os.kill(getattr(up.state().pids, part), signal.SIGKILL)
    up.read_until(lambda line: f"{part} runs again" in line)


@pytest.mark.timeout(400)
@pytest.mark.skipif(sys.platform != "linux", reason="kills processes that are not its children")
def test_a_lesson_is_completed_although_every_part_was_killed_once(tmp_path: Path) -> None:
    with running_up(tmp_path) as up:
        state = up.state()
        with ApprenticeApi(state.api_url, state.admin_token, retry=PATIENT) as api:
            created = api.learn.create_session(
                CreateLearnSessionRequest(
                    entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
                    observation_mode=ObservationMode.OUTSIDE_AGENT,
                )
            )
            session = created.session.learn_session_id
            api.learn.start(session)
            kill(up, "worker")
            api.learn.mark_goal(session, asks.MarkGoalRequest(goal_description="Summarise the sales figures"))
            kill(up, "api")
            shown = Learner(httpx.AsyncClient(), "", "", session).events()
            batch = IngestObservationsRequest.model_validate({"events": shown})
            assert api.learn.ingest(session, batch).accepted == len(shown)
            kill(up, "temporal")
            api.learn.stop(session)
            proposal = api.learn.generate_proposal(session, asks.GenerateProposalRequest()).proposal_id
            api.learn.validate(proposal, asks.StartValidationRunRequest())
            kill(up, "worker")
            assert any(is_proven(api, session) for _ in api.learn.events(session))
            approved = api.learn.approve(proposal, asks.ApproveProposalRequest())
            assert approved.proposal.proposal_state == "approved"
            (ability,) = api.abilities.availability().abilities
            assert [one.version for one in api.abilities.ability_versions(ability.ability_id).versions] == [1]


def is_proven(api: ApprenticeApi, session: str) -> bool:
    return api.learn.session(session).state is LearnSessionState.READY_FOR_REVIEW
