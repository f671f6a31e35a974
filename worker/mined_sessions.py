"""Opens learning sessions for mined candidates: the same commands a person's client would send, in one go.

A session starts from the candidate's traces as it would from recent runs. Every command has a key of its own,
so that a build that is tried again goes on where it was.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError

from api.gateway import LearnGateway
from config.settings import Settings
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommitKey, LearnSessionAggregate, LearnSettings
from contracts.learning.commands import SessionCommand
from contracts.learning.interpretation import ProjectScope
from contracts.learning.mining import POLICY_OF, MiningCandidate, MiningMode, MiningSettings
from contracts.learning.session import ActorMode, BuildPolicy, LearningEntryMode, LearnSession
from contracts.learning.session import LearnSessionState as S
from contracts.learning.source_run import SourceRun
from domain.learning.mining_copies import chosen_runs
from domain.learning.steps import DemonstratedStep, captured_steps
from stores.canonical import digest_of
from stores.database import Database
from stores.observations import ObservationLog
from stores.run_copies import runs_of
from stores.session_store import SessionStore
from workflows.ids import validation_run_id
from workflows.learn_session_messages import Asked, AskedProposal, AskedValidation

REASON = "made of repeated work"

HEARTBEAT_SECONDS = 10.0
TAKEN_IN_SECONDS = 0.1


class MinedSessions:
    """The sessions of candidates, driven through their workflows."""

    def __init__(self, client: Client, settings: Settings, database: Database, log: ObservationLog) -> None:
        self._client = client
        self._gateway = LearnGateway(client, settings.task_queue)
        self._settings = settings
        self._database = database
        self._sessions = SessionStore(database)
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
        newborn = await asyncio.to_thread(self._newborn, candidate, allowed)
        owner, session_id = candidate.owner_user_id, newborn.session.learn_session_id
        send = _Sender(self._gateway, self._sessions, candidate, alive)
        await send(SessionCommand.CREATE, Asked, load=lambda: newborn)
        await send(
            SessionCommand.GENERATE_PROPOSAL, AskedProposal, ask_before_build=asks_first(candidate, allowed)
        )
        drafted = await asyncio.to_thread(self._sessions.owned, session_id, owner)
        if (
            drafted.session.state is not S.DRAFTING_PROPOSAL
            or not is_tested(allowed)
            or not drafted.lint_passed
        ):
            return drafted
        await send(SessionCommand.VALIDATE, AskedValidation)
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
        send = _Sender(self._gateway, self._sessions, candidate, lambda: None)
        try:
            await send(SessionCommand.CANCEL, Asked, because=reason)
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

    def _newborn(self, candidate: MiningCandidate, allowed: MiningSettings) -> LearnSessionAggregate:
        runs = self._runs_of(candidate)
        source = self._sessions.owned(candidate.representative_session_id, candidate.owner_user_id).session
        assert candidate.learn_session_id is not None, "a build that has begun has named its session"
        now = datetime.now(UTC)
        policy = POLICY_OF[allowed.mode]
        settings = self._settings
        scoped = candidate.cluster.project_specificity is ProjectScope.PROJECT_SCOPED
        return LearnSessionAggregate(
            session=LearnSession(
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
            ),
            change=0,
            settings=LearnSettings(
                arm_timeout_seconds=int(settings.arm_timeout.total_seconds()),
                capture_timeout_seconds=int(settings.capture_timeout.total_seconds()),
                question_deadline_seconds=int(settings.question_deadline.total_seconds()),
            ),
            state_since=now,
            source_runs=runs,
            ask_before_build=asks_first(candidate, allowed),
            allow_private_install=policy is BuildPolicy.PRIVATE_AUTO_INSTALL,
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


class _Sender:
    """Sends one build's commands, each under its own key; one that was carried out before is not sent again."""

    def __init__(
        self,
        gateway: LearnGateway,
        sessions: SessionStore,
        candidate: MiningCandidate,
        alive: Callable[[], None],
    ) -> None:
        self._gateway = gateway
        self._sessions = sessions
        self._candidate = candidate
        self._alive = alive

    async def __call__(
        self,
        command: SessionCommand,
        message: type[Asked],
        *,
        load: Callable[[], LearnSessionAggregate] | None = None,
        because: str = REASON,
        **fields: object,
    ) -> None:
        self._alive()
        candidate = self._candidate
        name = f"mined-skill/{candidate.candidate_id}#{candidate.attempt}/{command.value}"
        key = CommitKey(owner_user_id=candidate.owner_user_id, key=name, request_digest=digest_of(name))
        if await asyncio.to_thread(self._sessions.recall, key) is not None:
            return
        asked = message.model_validate(
            {
                "commit_key": key,
                "correlation_id": f"mined-skill/{candidate.candidate_id}",
                "reason": because,
                **fields,
            }
        )
        try:
            await self._gateway.send(command, asked, load or self._load, created=load is None)
        except Refusal:
            # The same key may have been carried out meanwhile, and its state now refuses a second time.
            if await asyncio.to_thread(self._sessions.recall, key) is None:
                raise

    def _load(self) -> LearnSessionAggregate:
        return self._sessions.owned(self._candidate.learn_session_id or "", self._candidate.owner_user_id)
