"""Answers to the questions of skills that wait in the inbox (AI-32)."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, Path

from api.platform.commands import ApproverFrame, masked
from api.platform.dependencies import parse_uuid
from contracts.errors import ErrorCode, Refusal
from contracts.inbox.items import AnswerRequest, SentItem
from gateways.skills.invocations import run_invocation


def _item_id(inbox_item_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(inbox_item_id, ErrorCode.NOT_FOUND, "item of the inbox")


ItemId = Annotated[str, Depends(_item_id)]

router = APIRouter(prefix="/api/inbox", tags=["skills"])


@router.post("/{inbox_item_id}/answer", operation_id="inbox_answer")
async def answer(inbox_item_id: ItemId, body: AnswerRequest, frame: ApproverFrame) -> SentItem:
    """Answers a question of a skill, which goes on with it. The first answer counts."""
    services = frame.services
    now = datetime.now(UTC)

    def act() -> SentItem:
        words = masked(body.answer)
        return services.skills.questions.answer(inbox_item_id, frame.owner, words, frame.caller.user_id, now)

    done = await frame.write_once(body, act, SentItem)
    order = await anyio.to_thread.run_sync(services.skills.questions.waiting, done)
    if order is not None:
        with suppress(Refusal):
            # It is on record; the worker's recovery has the invocation go on when Temporal is back.
            await run_invocation(
                services.client, services.settings.task_queue, order, services.settings.console_url
            )
    return done
