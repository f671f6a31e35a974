"""The service ``inbox``: messages, questions and check-ins to the user of whoever asks (AI-30, AI-32, AI-36)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.client import Client
from uuid_utils import uuid7

from activities.skills.services.offered import Asker, Method
from contracts.errors import Refusal
from contracts.inbox.items import AskedQuestion, SentItem, SentKind, SentMessage, SentState
from contracts.memory.check_ins import CheckIn, CheckInState, ScheduleCheckIn
from contracts.skills.errors import AWAITING_ANSWER
from skills.runtime.broker import BrokerRefused
from stores.inbox.inbox import Inbox
from stores.memory.check_ins import CheckIns

log = structlog.get_logger(__name__)

CONSOLE_INBOX = "console_inbox"
"""Where messages to the user arrive: the one inbox that console, CLI and API show."""

FURTHEST = timedelta(days=3_650)
"""How far ahead a check-in may lie."""

StartCheckIn = Callable[[Client, CheckIn], Awaitable[None]]


class InboxService:
    """What skills tell and ask their user."""

    def __init__(self, inbox: Inbox, check_ins: CheckIns, start: StartCheckIn) -> None:
        """``start`` starts the workflow of a check-in."""
        self._inbox = inbox
        self._check_ins = check_ins
        self._start = start
        self.methods: Mapping[str, Method] = {
            "tell": Method(SentMessage, self._tell),
            "ask": Method(AskedQuestion, self._ask),
            "schedule": Method(ScheduleCheckIn, self._schedule),
        }

    async def _tell(self, asker: Asker, asked: SentMessage) -> dict[str, Any]:
        item = _item(asker, SentKind.MESSAGE, SentState.ARRIVED, asked.message)
        kept, _ = await asyncio.to_thread(self._inbox.put, item, f"message/{asker.key}")
        told = kept.model_dump(mode="json")
        return {
            "item_id": kept.item_id,
            "delivered": True,
            "channel": CONSOLE_INBOX,
            "arrived_at": told["created_at"],
        }

    async def _ask(self, asker: Asker, asked: AskedQuestion) -> dict[str, Any]:
        """The answer, or that there is none in time.

        Raises:
            BrokerRefused: ``AWAITING_ANSWER``: nobody has answered yet; the invocation waits, and its handler is run
                again when somebody has.
        """
        item = _item(asker, SentKind.QUESTION, SentState.OPEN, asked.question).changed(
            options=asked.options,
            expires_at=datetime.now(UTC) + timedelta(seconds=asked.expires_in_seconds),
        )
        kept, _ = await asyncio.to_thread(self._inbox.put, item, f"question/{asker.key}")
        if kept.state is SentState.OPEN:
            raise BrokerRefused(AWAITING_ANSWER, "The question waits in the inbox for an answer.")
        told = kept.model_dump(mode="json")
        return {
            "question_id": kept.item_id,
            "answered": kept.state is SentState.ANSWERED,
            "state": kept.state.value,
            "answer": kept.answer,
            "answered_at": told["updated_at"] if kept.state is SentState.ANSWERED else None,
        }

    async def _schedule(self, asker: Asker, asked: ScheduleCheckIn) -> dict[str, Any]:
        now = datetime.now(UTC)
        new = CheckIn(
            check_in_id=str(uuid7()),
            owner_user_id=asker.owner,
            text=asked.text,
            due_at=asked.due_at,
            state=CheckInState.SCHEDULED,
            goal_id=asked.goal_id,
            skill_id=asker.manifest.function_name,
            invocation_id=asker.order.invocation_id,
            created_at=now,
            updated_at=now,
        )
        if asker.attempt <= 1:
            _refuse_unless_ahead(asked.due_at, now)
        kept = await asyncio.to_thread(self._check_ins.schedule, new, asker.key)
        try:
            await self._start(activity.client(), kept)
        except Refusal as refusal:
            # It is on record; a worker starts its workflow when Temporal is back.
            log.warning("a check-in is started later", error=refusal.message)
        return kept.model_dump(mode="json", include={"check_in_id", "due_at", "state", "created_at"})


def _refuse_unless_ahead(due_at: datetime, now: datetime) -> None:
    if due_at <= now:
        raise BrokerRefused("INVALID_INPUT", "due_at lies in the past; a check-in lies ahead.")
    if due_at > now + FURTHEST:
        raise BrokerRefused("INVALID_INPUT", f"due_at lies more than {FURTHEST.days} days ahead.")


def _item(asker: Asker, kind: SentKind, state: SentState, text: str) -> SentItem:
    now = datetime.now(UTC)
    return SentItem(
        item_id=str(uuid7()),
        owner_user_id=asker.owner,
        kind=kind,
        state=state,
        text=text,
        skill_id=asker.manifest.function_name,
        invocation_id=asker.order.invocation_id,
        created_at=now,
        updated_at=now,
    )
