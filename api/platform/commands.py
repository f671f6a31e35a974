"""Idempotent commands: a request repeated under the same idempotency key gets the first answer."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio.to_thread
from pydantic import BaseModel

from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt
from contracts.learning.responses import DeletedResponse
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import AT_REST, SessionCommand
from contracts.platform.commands import CommitKey
from gateways.platform.updates import OWN_KEY_PREFIX
from stores.platform.answers import Answers
from stores.platform.canonical import canonical_json
from workflows.learning.learn_session_messages import LearnCommand

Body = TypeVar("Body", bound=BaseModel)

_DELETABLE = frozenset({S.IDLE, S.ARMED, S.CAPTURING, S.PAUSED, S.STOPPED, S.REVIEWING, S.AWAITING_QUESTIONS})


class Commands:
    """Sends session commands to their workflow, and returns the stored receipt for a repeated request."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def to_proposal(
        self,
        command: SessionCommand,
        proposal_id: str,
        asked: LearnCommand,
        check: Callable[[], None] | None = None,
    ) -> CommandReceipt:
        """Sends one command to the session of a proposal; ``check`` as in ``LearnGateway.send``.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND``, and as ``LearnGateway.send``.
        """
        owner = asked.commit_key.owner_user_id
        proposal = await anyio.to_thread.run_sync(self._services.proposals.owned, proposal_id, owner)
        if proposal.learn_session_id is None:
            raise Refusal(ErrorCode.PROPOSAL_NOT_FOUND, "The proposal belongs to no session.")
        return await self._services.gateway.send(command, proposal.learn_session_id, asked, check)

    async def delete(self, session_id: str, asked: LearnCommand) -> DeletedResponse:
        """Cancels a session that has no draft yet, then purges what was observed.

        Raises:
            Refusal: ``INVALID_LEARN_STATE_TRANSITION`` from the first draft until the session is at rest.
        """
        owner = asked.commit_key.owner_user_id
        aggregate = await anyio.to_thread.run_sync(self._services.sessions.owned, session_id, owner)
        state = aggregate.session.state
        if state in _DELETABLE:
            await self._services.gateway.send(SessionCommand.CANCEL, session_id, asked)
        elif state not in AT_REST:
            raise Refusal(
                ErrorCode.INVALID_LEARN_STATE_TRANSITION,
                f"A session that is {state.value} cannot be deleted; reject or cancel its proposal first.",
                current_state=state.value,
            )
        await anyio.to_thread.run_sync(self._purge, session_id)
        return DeletedResponse()

    async def first_answer(self, asked: LearnCommand, compose: Callable[[], Body], model: type[Body]) -> Body:
        """The response composed now, or the one that this key was answered with the first time."""
        if _is_generated(asked.commit_key):
            return await anyio.to_thread.run_sync(compose)

        def keep() -> Body:
            kept = self._services.sessions.recall(asked.commit_key)
            if kept is not None and kept[1] is not None:
                return model.model_validate_json(kept[1])
            body = self._services.sessions.keep_response(asked.commit_key, canonical_json(compose()))
            return model.model_validate_json(body)

        return await anyio.to_thread.run_sync(keep)

    def _purge(self, session_id: str) -> None:
        with self._services.database.write() as connection:
            self._services.observations.purge(connection, session_id)


def _is_generated(key: CommitKey) -> bool:
    """Whether the server generated the key for this request alone, so that nothing is stored under it."""
    return key.key.startswith(OWN_KEY_PREFIX)


async def answer_once(
    services: Services, key: CommitKey | None, act: Callable[[], Awaitable[Body]], model: type[Body]
) -> Body:
    """Executes an idempotent write that no workflow decides, or returns the answer stored under the client's key.

    ``act`` must be safe to repeat: its answer is stored only after it has returned.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED`` before anything is done, and what ``act`` refuses.
    """
    if key is None:
        return await act()
    answers = Answers(services.database)
    kept = await anyio.to_thread.run_sync(answers.recall, key)
    if kept is None:
        body = await act()
        kept = await anyio.to_thread.run_sync(answers.keep, key, body.model_dump_json())
    return model.model_validate_json(kept)
