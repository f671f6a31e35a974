"""The one way from the API to Temporal: a command is one update-with-start of the session's workflow."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog
from temporalio.client import Client, WithStartWorkflowOperation

from api.opening_update import ANSWER_WITHIN, REOPENINGS, update_or_open
from api.update_errors import WorkflowWasClosing, no_worker_answers
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt, LearnSessionAggregate
from contracts.learning.commands import SessionCommand, refusal
from contracts.learning.state_machine import AT_REST
from workflows.learn_session_messages import Asked, LearnSessionStart
from workflows.learn_session_workflow import LearnSessionWorkflow
from workflows.session_opening import opening_of

log = structlog.get_logger(__name__)

INSTALL_ANSWERS_WITHIN = timedelta(seconds=60)
"""An install is answered when it has ended; after this the client is told to watch it instead."""

_INSTALLS = frozenset({SessionCommand.INSTALL, SessionCommand.APPROVE})
_DRAFTS = frozenset(
    {SessionCommand.GENERATE_PROPOSAL, SessionCommand.ANSWER_QUESTIONS, SessionCommand.REVISE}
)


class LearnGateway:
    """Sends commands. Every refusal comes back as a ``Refusal``, whoever made it."""

    def __init__(self, client: Client, task_queue: str, *, answer_within: timedelta = ANSWER_WITHIN) -> None:
        """``answer_within`` is how long a command that is not an install waits for a worker."""
        self._client = client
        self._task_queue = task_queue
        self._answer_within = answer_within
        self.calls = 0

    async def send(
        self,
        command: SessionCommand,
        asked: Asked,
        load: Callable[[], LearnSessionAggregate],
        *,
        created: bool = True,
    ) -> CommandReceipt:
        """One command to the session that ``load`` reads from the store.

        Raises:
            Refusal: what the session refuses; ``TEMPORAL_UNAVAILABLE`` when nobody answers;
                ``INSTALL_IN_PROGRESS`` when an install takes longer than this call waits.
        """
        for last in (False,) * (REOPENINGS - 1) + (True,):
            aggregate = await asyncio.to_thread(load)
            _refuse_at_rest(aggregate, command)
            try:
                return await self._update(command, asked, aggregate, created)
            except WorkflowWasClosing:
                if last:
                    break
        raise Refusal(ErrorCode.CONFLICT, "The session is changing too fast; repeat the command.")

    async def _update(
        self, command: SessionCommand, asked: Asked, aggregate: LearnSessionAggregate, created: bool
    ) -> CommandReceipt:
        start = WithStartWorkflowOperation(
            LearnSessionWorkflow.run,
            LearnSessionStart(aggregate=aggregate, created=created),
            **opening_of(aggregate, self._task_queue),
        )
        patience = INSTALL_ANSWERS_WITHIN if command in _INSTALLS else self._answer_within
        if command in _DRAFTS and aggregate.settings.drafting_model is not None:
            patience += timedelta(seconds=aggregate.settings.drafting_timeout_seconds)
        self.calls += 1
        return await update_or_open(
            self._client,
            start,
            _update_of(command),
            asked,
            CommandReceipt,
            update_id=f"{asked.commit_key.owner_user_id}/{asked.commit_key.key}",
            within=patience,
            nobody=_nobody_answers(command),
        )

    async def capture_began(
        self, session_id: str, asked: Asked, load: Callable[[], LearnSessionAggregate]
    ) -> None:
        """Tells an armed session that its first meaningful event is in.

        The event is durable already, and the next batch tells it again: trouble here loses nothing.
        """
        try:
            await self.send(SessionCommand.START, asked, load)
        except Refusal as refused:
            log.info("capture was not begun by an event", session_id=session_id, code=refused.code.value)


def _update_of(command: SessionCommand) -> str:
    """The workflow's updates are named as the commands are; trimming is a kind of mark."""
    return SessionCommand.MARK.value if command is SessionCommand.TRIM else command.value


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


def _nobody_answers(command: SessionCommand) -> Refusal:
    if command in _INSTALLS:
        return Refusal(
            ErrorCode.INSTALL_IN_PROGRESS,
            "The install goes on; watch the session's events, or repeat with the same idempotency key.",
        )
    return no_worker_answers()
