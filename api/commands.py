"""Sends commands with their idempotency: the same key answers what it answered the first time."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio.to_thread
from pydantic import BaseModel

from api.own_keys import OWN_KEY_PREFIX
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt, CommitKey, LearnSessionAggregate
from contracts.learning.commands import SessionCommand
from contracts.learning.responses import DeletedResponse
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import AT_REST
from stores.answers import Answers
from stores.canonical import canonical_json
from workflows.learn_session_messages import Asked

Body = TypeVar("Body", bound=BaseModel)

_DELETABLE = frozenset({S.IDLE, S.ARMED, S.CAPTURING, S.PAUSED, S.STOPPED, S.REVIEWING, S.AWAITING_QUESTIONS})


class Commands:
    """Commands of one request."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def create(
        self, newborn: LearnSessionAggregate, asked: Asked, check: Callable[[], None] | None = None
    ) -> CommandReceipt:
        """Creates a session that ``check`` lets pass, or answers with the one that this key created before."""
        recalled = await self._recall_earlier(asked)
        if recalled is not None:
            return recalled
        if check is not None:
            await anyio.to_thread.run_sync(check)
        return await self._send(SessionCommand.CREATE, asked, lambda: newborn, created=False)

    async def to_session(
        self,
        command: SessionCommand,
        session_id: str,
        asked: Asked,
        check: Callable[[], None] | None = None,
    ) -> CommandReceipt:
        """One command to one of the caller's sessions; ``check`` refuses what only the store can tell.

        A command that was carried out before is not checked again: what it was about may be gone since.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND`` and whatever ``check`` and the session refuse.
        """
        owner = asked.commit_key.owner_user_id
        load = partial(self._services.sessions.owned, session_id, owner)
        await anyio.to_thread.run_sync(load)
        recalled = await self._recall_earlier(asked)
        if recalled is not None:
            return recalled
        if check is not None:
            await anyio.to_thread.run_sync(check)
        return await self._send(command, asked, load)

    async def to_proposal(
        self,
        command: SessionCommand,
        proposal_id: str,
        asked: Asked,
        check: Callable[[], None] | None = None,
    ) -> CommandReceipt:
        """One command to the session that a proposal belongs to, checked as by ``to_session``.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND`` and whatever the session refuses.
        """
        owner = asked.commit_key.owner_user_id
        proposal = await anyio.to_thread.run_sync(self._services.proposals.owned, proposal_id, owner)
        if proposal.learn_session_id is None:
            raise Refusal(ErrorCode.PROPOSAL_NOT_FOUND, "The proposal belongs to no session.")
        return await self.to_session(command, proposal.learn_session_id, asked, check)

    async def delete(self, session_id: str, asked: Asked) -> DeletedResponse:
        """Cancels a session that has no draft yet, then purges what was observed.

        Raises:
            Refusal: ``INVALID_LEARN_STATE_TRANSITION`` from the first draft until the session is at rest.
        """
        owner = asked.commit_key.owner_user_id
        aggregate = await anyio.to_thread.run_sync(self._services.sessions.owned, session_id, owner)
        state = aggregate.session.state
        if state in _DELETABLE:
            await self.to_session(SessionCommand.CANCEL, session_id, asked)
        elif state not in AT_REST:
            raise Refusal(
                ErrorCode.INVALID_LEARN_STATE_TRANSITION,
                f"A session that is {state.value} cannot be deleted; reject or cancel its proposal first.",
                current_state=state.value,
            )
        await anyio.to_thread.run_sync(self._purge, session_id)
        return DeletedResponse()

    async def first_answer(self, asked: Asked, compose: Callable[[], Body], model: type[Body]) -> Body:
        """The response composed now, or the one that this key was answered with the first time."""
        if asked.commit_key.key.startswith(OWN_KEY_PREFIX):
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

    async def _recall_earlier(self, asked: Asked) -> CommandReceipt | None:
        """What an earlier request was answered under the key; a key of our own is this request's alone."""
        return None if asked.commit_key.key.startswith(OWN_KEY_PREFIX) else await self._recall(asked)

    async def _recall(self, asked: Asked) -> CommandReceipt | None:
        found = await anyio.to_thread.run_sync(self._services.sessions.recall, asked.commit_key)
        return found[0] if found is not None else None

    async def _send(
        self,
        command: SessionCommand,
        asked: Asked,
        load: Callable[[], LearnSessionAggregate],
        *,
        created: bool = True,
    ) -> CommandReceipt:
        try:
            return await self._services.gateway.send(command, asked, load, created=created)
        except Refusal:
            # It may have been carried out meanwhile, under the same key or by a worker whose word was lost, and
            # its state now refuses a second time.
            recalled = await self._recall(asked)
            if recalled is None:
                raise
            return recalled


async def answer_once(
    services: Services, key: CommitKey | None, act: Callable[[], Awaitable[Body]], model: type[Body]
) -> Body:
    """Carries out a write that no workflow decides, or answers what this key was answered the first time.

    ``act`` must be harmless to repeat: its answer is kept only after it is done.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED`` before anything is done, and whatever ``act`` refuses.
    """
    if key is None:
        return await act()
    answers = Answers(services.database)
    kept = await anyio.to_thread.run_sync(answers.recall, key)
    if kept is None:
        body = await act()
        kept = await anyio.to_thread.run_sync(answers.keep, key, body.model_dump_json())
    return model.model_validate_json(kept)
