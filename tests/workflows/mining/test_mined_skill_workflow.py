"""A build that cannot go on takes its candidate back, also where its session cannot be reached."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.testing import TimeSkipper
from temporalio.worker import Worker
from uuid_utils import uuid7

from contracts.errors import ErrorCode
from contracts.mining.candidates import (
    CandidateState,
    MiningCandidate,
    TraceSourceMode,
    WorkflowTraceCluster,
)
from contracts.mining.runs import CandidateBuild, CandidateBuildEnd, CandidateGivenUp
from contracts.workflow_ids import mined_skill_id
from workflows.mining.mined_skill_workflow import MinedSkillWorkflow
from workflows.mining.skill_mining_messages import MinedSkillStart

pytestmark = pytest.mark.anyio


class UnreachableSession:
    """A candidate whose session neither opens nor can be withdrawn."""

    def __init__(self) -> None:
        self.given_up: list[CandidateGivenUp] = []

    @activity.defn
    async def begin_build(self, build: CandidateBuild) -> MiningCandidate:
        now = datetime.now(UTC)
        session_id = str(uuid7())
        cluster = WorkflowTraceCluster(
            cluster_id=str(uuid7()),
            normalized_goal="pack photos",
            app_family="terminal",
            source_mode=TraceSourceMode.USER_GUIDED,
            created_at=now,
            updated_at=now,
        )
        return MiningCandidate(
            candidate_id=build.candidate_id,
            owner_user_id=build.owner_user_id,
            title="Pack the photos",
            cluster=cluster,
            source_session_ids=(session_id,),
            representative_session_id=session_id,
            state=CandidateState.BUILDING,
            learn_session_id=session_id,
            created_at=now,
            updated_at=now,
        )

    @activity.defn
    async def open_mined_session(self, build: CandidateBuild) -> MiningCandidate:
        raise ApplicationError("Too few.", type=ErrorCode.INSUFFICIENT_TRACES, non_retryable=True)

    @activity.defn
    async def abandon_build(self, given_up: CandidateGivenUp, build: CandidateBuild) -> CandidateBuildEnd:
        raise ApplicationError("It stays.", type=ErrorCode.INTERNAL_ERROR, non_retryable=True)

    @activity.defn
    async def give_up_build(self, given_up: CandidateGivenUp, build: CandidateBuild) -> CandidateBuildEnd:
        self.given_up.append(given_up)
        return CandidateBuildEnd(candidate_id=build.candidate_id, built=False, reason=given_up.reason)


async def test_a_candidate_whose_session_cannot_be_withdrawn_is_taken_back_all_the_same(
    skipping_env: TimeSkipper,
) -> None:
    session, queue = UnreachableSession(), f"test-{uuid4()}"
    build = CandidateBuild(
        candidate_id=str(uuid7()), owner_user_id="alice", correlation_id="c-1", now=datetime.now(UTC)
    )
    work = (session.begin_build, session.open_mined_session, session.abandon_build, session.give_up_build)
    async with Worker(skipping_env.client, task_queue=queue, workflows=[MinedSkillWorkflow], activities=work):
        end = await skipping_env.client.execute_workflow(
            MinedSkillWorkflow.run,
            MinedSkillStart(build=build),
            id=mined_skill_id(build.candidate_id),
            task_queue=queue,
        )
    assert (end.built, end.reason) == (False, "Too few.")
    (given_up,) = session.given_up
    assert (given_up.candidate_id, given_up.reason) == (build.candidate_id, "Too few.")
