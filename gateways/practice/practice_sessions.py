"""Drives the learning session of a practice: the same commands a person's client would send.

Every command has a key of its own, so that what is tried again goes on where it was.
"""

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid5

from temporalio.client import Client

from activities.practice.practice_activities import practice_policy
from config.settings import Settings
from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import (
    BoundaryKind,
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    TerminalObservation,
)
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import SessionCommand
from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind
from contracts.platform.commands import CommitKey
from contracts.practice.practice import PracticeAttempt, PracticeRun, StartPracticeRequest
from gateways.learning.sessions import LearnGateway
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.platform.canonical import digest_of
from stores.practice.practice import PracticeStore
from workflows.learning.learn_session_messages import (
    LearnCommand,
    MarkCommand,
    SetTestPolicyCommand,
    StartCommand,
)

REASON = "autonomous practice"
START_FOLDER = "practice"
"""Below the data folder: the start files of practices that reached their goal, for later rehearsals."""


class PracticeSessions:
    """The sessions of practices, driven through their workflows."""

    def __init__(
        self,
        client: Client,
        settings: Settings,
        sessions: SessionStore,
        practices: PracticeStore,
        log: ObservationLog,
    ) -> None:
        self._gateway = LearnGateway(client, settings.task_queue, sessions)
        self._folder = settings.data_dir / START_FOLDER
        self._sessions = sessions
        self._practices = practices
        self._log = log

    async def begin(self, run: PracticeRun, alive: Callable[[], None]) -> None:
        """Begins the capture, unless it goes on already, and marks the goal.

        Raises:
            Refusal: what the session refuses.
        """
        if (await self._session(run)).session.state is S.ARMED:
            await self._send(run, SessionCommand.START, StartCommand, alive)
        goal = {"kind": BoundaryKind.MARK_GOAL, "label": run.goal}
        await self._send(run, SessionCommand.MARK, MarkCommand, alive, **goal)

    async def keep(self, run: PracticeRun, attempt: PracticeAttempt, alive: Callable[[], None]) -> bool:
        """Takes the attempt's actions into the capture, and has its start files stand in for later rehearsals.

        Answers whether they are there: a session that was left meanwhile takes no more.

        Raises:
            Refusal: what ingest or the session refuses.
        """
        events = _events(run, attempt)
        if (await self._session(run)).session.state is not S.CAPTURING:
            there = await asyncio.to_thread(self._log.all_of, run.learn_session_id)
            return {event.event_id for event in events} <= {event.event_id for event in there}
        alive()
        await asyncio.to_thread(self._log.ingest, run.learn_session_id, events)
        if run.start_files:
            request = await asyncio.to_thread(self._practices.request_of, run)
            targets = await asyncio.to_thread(self._placed, run, request)
            policy = practice_policy(run).changed(safe_targets=targets)
            await self._send(run, SessionCommand.SET_TEST_POLICY, SetTestPolicyCommand, alive, policy=policy)
        return True

    async def stop(self, run: PracticeRun, reason: str, alive: Callable[[], None]) -> None:
        """Ends the capture; a session that was left meanwhile is left alone."""
        try:
            await self._send(run, SessionCommand.STOP, LearnCommand, alive, because=reason)
        except Refusal as refused:
            left = (ErrorCode.CAPTURE_ALREADY_STOPPED, ErrorCode.INVALID_LEARN_STATE_TRANSITION)
            if refused.code not in left:
                raise

    def _placed(self, run: PracticeRun, request: StartPracticeRequest) -> tuple[RehearsalSafeTarget, ...]:
        folder: Path = self._folder / run.learn_session_id
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        targets: list[RehearsalSafeTarget] = []
        for file in request.start_files:
            place = folder / file.name
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as written:
                written.write(file.content)
            targets.append(
                RehearsalSafeTarget(target_kind=SafeTargetKind.COPIED_DOCUMENT, ref=str(place.resolve()))
            )
        return tuple(targets)

    async def _session(self, run: PracticeRun) -> LearnSessionAggregate:
        return await asyncio.to_thread(self._sessions.owned, run.learn_session_id, run.owner_user_id)

    async def _send(
        self,
        run: PracticeRun,
        command: SessionCommand,
        message: type[LearnCommand],
        alive: Callable[[], None],
        /,
        *,
        because: str = REASON,
        **fields: object,
    ) -> None:
        alive()
        name = f"{run.workflow_id}/{command.value}"
        key = CommitKey(owner_user_id=run.owner_user_id, key=name, request_digest=digest_of(name))
        body = {"commit_key": key, "correlation_id": run.correlation_id, "reason": because, **fields}
        await self._gateway.send(command, run.learn_session_id, message.model_validate(body))


def _events(run: PracticeRun, attempt: PracticeAttempt) -> tuple[ObservedActionEvent, ...]:
    """What the agent did, as a recorder inside it would report it; check commands are no part of the work."""
    session, now = UUID(run.learn_session_id), datetime.now(UTC)
    done = [action for action in attempt.actions if not action.is_check]
    return tuple(
        ObservedActionEvent(
            event_id=str(uuid5(session, f"practice/{attempt.number}/{position}")),
            learn_session_id=run.learn_session_id,
            adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
            app_family="terminal",
            action_label=clipped(action.command, 240),
            control_surface=ControlSurface.NATIVE_OPENCLAW_TOOL,
            caused_state_change=bool(action.produced),
            terminal=TerminalObservation(
                command=action.command,
                exit_class=ExitClass.OK if action.succeeded else ExitClass.FAILED,
                working_folder=".",
                produced_files=action.produced,
            ),
            created_at=now + timedelta(milliseconds=position),
        )
        for position, action in enumerate(done)
    )
