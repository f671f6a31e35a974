"""Opens learning sessions for mined candidates: the same commands a person's client would send, in one go.

A session starts from the candidate's traces as it would from recent runs. Every command has a key of its own,
so that a build that is tried again goes on where it was.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError

from config.settings import Settings
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.interpretation import ProjectScope
from contracts.learning.session import ActorMode, BuildPolicy, LearningEntryMode, LearnSession, SourceRun
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import SessionCommand
from contracts.mining.candidates import POLICY_OF, MiningCandidate, MiningMode, MiningSettings
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import mined_skill_id, validation_run_id
from domain.learning.interpretation.steps import DemonstratedStep, captured_steps
from domain.mining.grouping import chosen_runs
from gateways.learning.sessions import LearnGateway, new_session
from stores.learning.observations import ObservationLog
from stores.learning.recent_runs import runs_of
from stores.learning.sessions import SessionStore
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from workflows.learning.learn_session_messages import GenerateProposalCommand, LearnCommand, ValidateCommand

REASON = "made of repeated work"

HEARTBEAT_SECONDS = 10.0
TAKEN_IN_SECONDS = 0.1


class MinedSessions:
    """The sessions of candidates, driven through their workflows."""

    def __init__(self, client: Client, settings: Settings, database: Database, log: ObservationLog) -> None:
        self._client = client
        self._settings = settings
        self._database = database
        self._sessions = SessionStore(database)
        self._gateway = LearnGateway(client, settings.task_queue, self._sessions)
        self._log = log

    async def open(
        self, candidate: MiningCandidate, allowed: MiningSettings, alive: Callable[[], None]
    ) -> LearnSessionAggregate:
        """Creates the session from the candidate's runs, drafts, and begins the tests; answers how far it came.

        It stops at questions where the policy, or ambiguity, asks for them first. ``alive`` is called between
        commands.

        Raises:
            Refusal: whatever the session refuses, ``INSUFFICIENT_TRACES`` when the capture is gone, and
                ``LEARN_SESSION_ALREADY_ACTIVE``.
        """
        owner, session_id = candidate.owner_user_id, candidate.learn_session_id or ""
        alive()
        build = partial(self._new_session, candidate, allowed)
        await self._gateway.create(build, _message(candidate, SessionCommand.CREATE))
        asks = asks_first(candidate, allowed)
        drafting = _message(
            candidate, SessionCommand.GENERATE_PROPOSAL, GenerateProposalCommand, ask_before_build=asks
        )
        alive()
        await self._gateway.send(SessionCommand.GENERATE_PROPOSAL, session_id, drafting)
        drafted = await asyncio.to_thread(self._sessions.owned, session_id, owner)
        if (
            drafted.session.state is not S.DRAFTING_PROPOSAL
            or not is_tested(allowed)
            or not drafted.lint_passed
        ):
            return drafted
        alive()
        testing = _message(candidate, SessionCommand.VALIDATE, ValidateCommand)
        await self._gateway.send(SessionCommand.VALIDATE, session_id, testing)
        return await asyncio.to_thread(self._sessions.owned, session_id, owner)

    async def tested(self, candidate: MiningCandidate, alive: Callable[[], None]) -> LearnSessionAggregate:
        """The session once no test of it runs any more; ``alive`` is called while waiting."""
        session_id, owner = candidate.learn_session_id or "", candidate.owner_user_id
        aggregate = await asyncio.to_thread(self._sessions.owned, session_id, owner)
        if aggregate.validation is not None:
            run = self._client.get_workflow_handle(validation_run_id(aggregate.validation.validation_run_id))
            await _ended(run, alive)
        while aggregate.validation is not None:
            # The session takes the result in the moment after its run has ended.
            alive()
            await asyncio.sleep(TAKEN_IN_SECONDS)
            aggregate = await asyncio.to_thread(self._sessions.owned, session_id, owner)
        return aggregate

    async def withdraw(self, candidate: MiningCandidate, reason: str) -> None:
        """Cancels the candidate's session, where there is one that can be: its owner's place is free again."""
        message = _message(candidate, SessionCommand.CANCEL, reason=reason)
        try:
            await self._gateway.send(SessionCommand.CANCEL, candidate.learn_session_id or "", message)
        except Refusal as refused:
            if refused.code not in (
                ErrorCode.LEARN_SESSION_NOT_FOUND,
                ErrorCode.INVALID_LEARN_STATE_TRANSITION,
            ):
                raise

    def _runs_of(self, candidate: MiningCandidate) -> tuple[SourceRun, ...]:
        """The runs to start from: the one that stands for all, then those it can be compared with."""
        sources = dict.fromkeys((candidate.representative_session_id, *candidate.source_session_ids))
        found = [run for source in sources for run in self._still_whole(source, candidate)]
        chosen = chosen_runs(found)
        if not chosen:
            raise Refusal(
                ErrorCode.INSUFFICIENT_TRACES,
                "The captures behind this candidate are gone; run mining again.",
            )
        return chosen

    def _still_whole(
        self, session_id: str, candidate: MiningCandidate
    ) -> list[tuple[SourceRun, tuple[DemonstratedStep, ...]]]:
        """The candidate's runs in one session; none when part of what was captured was purged."""
        aggregate = self._sessions.owned(session_id, candidate.owner_user_id)
        if len(self._log.all_of(session_id)) < self._log.counters(session_id).accepted:
            return []
        with self._database.read() as connection:
            runs = runs_of(connection, aggregate)
        return [
            (SourceRun(trace_id=trace, learn_session_id=session_id), captured_steps(part.events, part.marks))
            for trace, part in runs
            if trace in candidate.cluster.successful_trace_ids
        ]

    def _new_session(self, candidate: MiningCandidate, allowed: MiningSettings) -> LearnSessionAggregate:
        runs = self._runs_of(candidate)
        source = self._sessions.owned(candidate.representative_session_id, candidate.owner_user_id).session
        assert candidate.learn_session_id is not None, "a build that has begun has named its session"
        now = datetime.now(UTC)
        policy = POLICY_OF[allowed.mode]
        scoped = candidate.cluster.project_specificity is ProjectScope.PROJECT_SCOPED
        session = LearnSession(
            learn_session_id=candidate.learn_session_id,
            owner_user_id=candidate.owner_user_id,
            entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
            build_policy=policy,
            state=S.IDLE,
            actor_mode=ActorMode.AGENT_DRIVEN,
            project_id=source.project_id if scoped else None,
            target_app_family=candidate.cluster.app_family or None,
            created_at=now,
            updated_at=now,
        )
        return new_session(
            self._settings,
            session,
            ask_before_build=asks_first(candidate, allowed),
            allow_private_install=policy is BuildPolicy.PRIVATE_AUTO_INSTALL,
            source_runs=runs,
        )


async def _ended(run: WorkflowHandle[Any, Any], alive: Callable[[], None]) -> None:
    """Waits for the end of a workflow, however it ends."""
    result = asyncio.ensure_future(run.result())
    try:
        while not result.done():
            alive()
            await asyncio.wait({result}, timeout=HEARTBEAT_SECONDS)
    finally:
        result.cancel()
    with suppress(WorkflowFailureError, RPCError, asyncio.CancelledError):
        result.result()


def asks_first(candidate: MiningCandidate, allowed: MiningSettings) -> bool:
    """Whether questions come before the draft (DOC3 §0.4G)."""
    ambiguous = bool(candidate.ambiguity_flags)
    return allowed.mode is MiningMode.ASK_BEFORE_BUILD or (
        ambiguous and allowed.require_user_feedback_before_build_when_ambiguous
    )


def is_tested(allowed: MiningSettings) -> bool:
    """Whether the draft goes to its tests at once; what installs by itself always does."""
    return allowed.require_tests_before_proposal or allowed.mode is MiningMode.AUTO_INSTALL_PRIVATE


def _message(
    candidate: MiningCandidate,
    command: SessionCommand,
    kind: type[LearnCommand] = LearnCommand,
    *,
    reason: str = REASON,
    **fields: object,
) -> LearnCommand:
    """The message of one command of a build, whose key is the same at each attempt of the activity."""
    build = mined_skill_id(candidate.candidate_id)
    name = f"{build}#{candidate.attempt}/{command.value}"
    key = CommitKey(owner_user_id=candidate.owner_user_id, key=name, request_digest=digest_of(name))
    return kind.model_validate({"commit_key": key, "correlation_id": build, "reason": reason, **fields})
