"""Commands to the workflow of a learning session, and the aggregate of a new session built from the settings."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache, partial
from typing import Any

import anyio.to_thread
import structlog
from temporalio.client import Client, WithStartWorkflowOperation

from config.settings import Settings
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt, LearnSessionAggregate, LearnSettings
from contracts.learning.proposal import BaseSkill
from contracts.learning.session import REPLAY_BUDGET, LearnSession, SourceRun
from contracts.learning.state_machine import AT_REST, SessionCommand, refusal
from contracts.learning.test_policy import TestPolicy
from contracts.workflow_ids import LOOK, REPROBE_SCHEDULE, capability_reprobe_id, learn_session_id
from gateways.platform.updates import (
    ANSWER_WITHIN,
    Recall,
    StartOptions,
    Update,
    signal_running,
    start_options,
    start_or_join,
    told_if_behind,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from stores.learning.sessions import SessionStore
from workflows.abilities.ability_messages import ReprobeStart
from workflows.abilities.capability_reprobe_workflow import CapabilityReprobeWorkflow
from workflows.learning.learn_session_messages import (
    GenerateProposalCommand,
    LearnCommand,
    LearnSessionStart,
    StartCommand,
)
from workflows.learning.learn_session_workflow import LearnSessionWorkflow, opening_of

log = structlog.get_logger(__name__)

REPLAY_WAITS = timedelta(seconds=15)
"""What a replay may take besides its budget: the way to a worker, and the command that runs when the time is up."""

INSTALL_ANSWERS_WITHIN = timedelta(seconds=60)
"""The timeout of an install, which answers when it has ended; then the client has to watch it instead."""

UPDATES: Mapping[SessionCommand, Update[Any, CommandReceipt]] = {
    SessionCommand.CREATE: LearnSessionWorkflow.create,
    SessionCommand.START: LearnSessionWorkflow.start,
    SessionCommand.PAUSE: LearnSessionWorkflow.pause,
    SessionCommand.RESUME: LearnSessionWorkflow.resume,
    SessionCommand.STOP: LearnSessionWorkflow.stop,
    SessionCommand.CANCEL: LearnSessionWorkflow.cancel,
    SessionCommand.MARK: LearnSessionWorkflow.mark,
    SessionCommand.TRIM: LearnSessionWorkflow.mark,
    SessionCommand.SET_TEST_POLICY: LearnSessionWorkflow.set_test_policy,
    SessionCommand.GENERATE_PROPOSAL: LearnSessionWorkflow.generate_proposal,
    SessionCommand.ANSWER_QUESTIONS: LearnSessionWorkflow.answer_questions,
    SessionCommand.REVISE: LearnSessionWorkflow.revise,
    SessionCommand.VALIDATE: LearnSessionWorkflow.validate,
    SessionCommand.INSTALL: LearnSessionWorkflow.install,
    SessionCommand.APPROVE: LearnSessionWorkflow.approve,
    SessionCommand.REJECT: LearnSessionWorkflow.reject,
}
"""The update of each command; trimming is a kind of mark."""

_INSTALLS = frozenset({SessionCommand.INSTALL, SessionCommand.APPROVE})
_DRAFTS = frozenset(
    {SessionCommand.GENERATE_PROPOSAL, SessionCommand.ANSWER_QUESTIONS, SessionCommand.REVISE}
)


class LearnGateway:
    """Sends commands to sessions; every failure is raised as a ``Refusal``.

    A command whose key was used before returns the stored receipt, and is not checked again: its subject may be
    gone since.
    """

    def __init__(
        self,
        client: Client,
        task_queue: str,
        sessions: SessionStore,
        *,
        answer_within: timedelta = ANSWER_WITHIN,
        smoke_test_after: timedelta | None = None,
        replay_budget: timedelta = REPLAY_BUDGET,
    ) -> None:
        """``answer_within`` is the timeout of a command that is not an install.

        To it is added ``replay_budget``, that of the workers, for a command that has a demonstration replayed.

        ``smoke_test_after`` is when the smoke test of what was installed begins; without it, or where it cannot be
        started, the scheduled recheck takes it on.
        """
        self._client = client
        self._task_queue = task_queue
        self._sessions = sessions
        self._answer_within = answer_within
        self._smoke_test_after = smoke_test_after
        self._replay_budget = replay_budget
        self.calls = 0

    async def create(
        self, build: Callable[[], LearnSessionAggregate], message: LearnCommand
    ) -> CommandReceipt:
        """Creates the session that ``build`` returns; ``build`` may block and refuse.

        Raises:
            Refusal: as ``send``.
        """
        # Of a session that is new nobody else knows the workflow.
        turn = update_id_of(message.commit_key)
        return await self._send(SessionCommand.CREATE, message, turn, cache(build), created=False)

    async def send(
        self,
        command: SessionCommand,
        session_id: str,
        message: LearnCommand,
        check: Callable[[], object] | None = None,
    ) -> CommandReceipt:
        """Sends one command to a session of the key's owner; ``check`` refuses what only the store can decide.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND``, from ``check`` or the session; ``TEMPORAL_UNAVAILABLE`` when no
                worker answers; ``INSTALL_IN_PROGRESS`` when an install exceeds its timeout.
        """

        def load() -> LearnSessionAggregate:
            aggregate = self._sessions.owned(session_id, message.commit_key.owner_user_id)
            if check is not None:
                check()
            _refuse_at_rest(aggregate, command)
            return aggregate

        receipt = await self._send(command, message, learn_session_id(session_id), load)
        if command in _INSTALLS:
            await self._smoke_test(receipt)
        return receipt

    async def capture_began(self, session_id: str, message: StartCommand) -> None:
        """Notifies an armed session of its first meaningful event.

        The event is durable already and the next batch notifies again, so a refusal is only logged.
        """
        try:
            await self.send(SessionCommand.START, session_id, message)
        except Refusal as refused:
            log.info("capture was not begun by an event", session_id=session_id, code=refused.code.value)

    async def _smoke_test(self, receipt: CommandReceipt) -> None:
        """Has the installed capability run once: it is degraded until then (DOC3 §1.1H)."""
        ability_id, delay = receipt.session.ability_id, self._smoke_test_after
        if ability_id is None or delay is None:
            return
        owner, saga_id = receipt.session.owner_user_id, receipt.saga_id
        start = ReprobeStart(ability_id=ability_id, reprobe_id=saga_id, requested_by=owner)
        options = start_options(
            capability_reprobe_id(ability_id),
            self._task_queue,
            kind=REPROBE_SCHEDULE,
            owner=owner,
            summary=f"smoke test of {ability_id}",
        )
        try:
            await start_or_join(self._client, CapabilityReprobeWorkflow.run, start, options, delay=delay)
        except Refusal as refused:
            log.warning("a smoke test is left to the schedule", ability_id=ability_id, error=refused.message)

    async def _send(
        self,
        command: SessionCommand,
        message: LearnCommand,
        workflow_id: str,
        load: Callable[[], LearnSessionAggregate],
        *,
        created: bool = True,
    ) -> CommandReceipt:
        return await update_or_recall(
            partial(self._attempt, command, message, load, created),
            workflow_id=workflow_id,
            conflict="The session is changing too fast; repeat the command.",
            recall=Recall(message.commit_key, self._sessions.recall, tell=self._make_known),
        )

    async def _attempt(
        self,
        command: SessionCommand,
        message: LearnCommand,
        load: Callable[[], LearnSessionAggregate],
        created: bool,
    ) -> CommandReceipt:
        aggregate = await anyio.to_thread.run_sync(load)
        start = WithStartWorkflowOperation(
            LearnSessionWorkflow.run,
            LearnSessionStart(aggregate=aggregate, created=created),
            **opening_of(aggregate, self._task_queue),
        )
        within = INSTALL_ANSWERS_WITHIN if command in _INSTALLS else self._answer_within
        if command in _DRAFTS and aggregate.settings.drafting_model is not None:
            within += timedelta(seconds=aggregate.settings.drafting_timeout_seconds)
        if isinstance(message, GenerateProposalCommand) and message.replay:
            within += self._replay_budget + REPLAY_WAITS
        self.calls += 1
        session_id = aggregate.session.learn_session_id

        def is_behind() -> bool:
            present = self._sessions.find(session_id)
            return present is not None and present.change > aggregate.change

        async def tell() -> None:
            await signal_running(self._client, learn_session_id(session_id), LOOK, within=self._answer_within)

        async with told_if_behind(is_behind, tell):
            return await update_with_start(
                self._client,
                start,
                UPDATES[command],
                message.changed(seen_change=aggregate.change),
                update_id=update_id_of(message.commit_key, aggregate.change),
                within=within,
                no_answer=_install_goes_on if command in _INSTALLS else None,
            )

    async def _make_known(self, receipt: CommandReceipt) -> None:
        """Has a session's workflow look at the store, unless a later decision shows that it knows the receipt's.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``.
        """
        session_id = receipt.session.learn_session_id
        aggregate = await anyio.to_thread.run_sync(self._sessions.find, session_id)
        if aggregate is None or aggregate.change > receipt.change:
            return
        if aggregate.session.state in AT_REST:
            workflow_id = learn_session_id(session_id)
            await signal_running(self._client, workflow_id, LOOK, within=self._answer_within)
            return
        await run_session(self._client, self._task_queue, aggregate)


async def run_session(client: Client, task_queue: str, aggregate: LearnSessionAggregate) -> None:
    """Starts the workflow of a session that the store has; one that runs stays, and looks at the store.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``.
    """
    start = LearnSessionStart(aggregate=aggregate)
    options = StartOptions(memo=None, **opening_of(aggregate, task_queue))
    await start_or_join(client, LearnSessionWorkflow.run, start, options, signal=LOOK)


def _refuse_at_rest(aggregate: LearnSessionAggregate, command: SessionCommand) -> None:
    """At rest no workflow runs and the store is the truth: a hopeless command need not open one."""
    if aggregate.session.state not in AT_REST:
        return
    found = refusal(aggregate, command)
    if found is not None:
        raise Refusal(
            found.code,
            found.message,
            current_state=found.current_state.value,
            allowed=[one.value for one in found.allowed],
        )


def _install_goes_on() -> Refusal:
    return Refusal(
        ErrorCode.INSTALL_IN_PROGRESS,
        "The install goes on; watch the session's events, or repeat with the same idempotency key.",
    )


def new_session(
    settings: Settings,
    session: LearnSession,
    *,
    ask_before_build: bool,
    allow_private_install: bool,
    base: BaseSkill | None = None,
    source_runs: tuple[SourceRun, ...] = (),
    test_policy: TestPolicy | None = None,
) -> LearnSessionAggregate:
    """An idle session that no store has yet; ``base`` is the pinned version to improve."""
    return LearnSessionAggregate(
        session=session,
        change=0,
        settings=_learn_settings(settings),
        state_since=session.created_at,
        ask_before_build=ask_before_build,
        allow_private_install=allow_private_install,
        base=base,
        source_runs=source_runs,
        test_policy=test_policy,
    )


def _learn_settings(settings: Settings) -> LearnSettings:
    return LearnSettings(
        arm_timeout_seconds=int(settings.arm_timeout.total_seconds()),
        capture_timeout_seconds=int(settings.capture_timeout.total_seconds()),
        question_deadline_seconds=int(settings.question_deadline.total_seconds()),
        drafting_model=settings.model_name,
        drafting_timeout_seconds=int(settings.model_timeout.total_seconds()),
    )
