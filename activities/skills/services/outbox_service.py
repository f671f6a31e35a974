"""Messages to the operator: ``context.gateway`` sends them, the service ``outbox`` lists and repeats them (AM-20…47).

Each message is written before it is sent. It is delivered by the one configured channel; without one it stays in the
local outbox, undelivered, and says so.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from pydantic import Field
from uuid_utils import uuid7

from activities.skills.services.offered import Asker, Method
from clients.skills.operator_channels import NotDelivered, OpenClawGateway, OperatorChannel
from contracts.base import Contract, Uuid
from contracts.errors import Refusal
from contracts.skills.messages import MAX_MESSAGE_CHARS, MessageState, OperatorMessage
from skills.runtime.broker import BrokerRefused
from stores.skills.services.messages import OperatorMessages

LOCAL_OUTBOX = "outbox"
"""The channel of an installation without one: messages wait here to be looked at, and nobody is told of them."""

_NO_CHANNEL = "no way to the operator is configured; the message is kept in the local outbox"


class SendRequest(Contract):
    """A text for the operator; there is no other recipient."""

    message: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS)


class PostRequest(Contract):
    """A payload for the OpenClaw gateway."""

    payload: dict[str, Any]


class ListRequest(Contract):
    """Asks for the messages that were not delivered."""


class RepeatRequest(Contract):
    """Has a message sent again. ``although_unknown`` also one that may have arrived."""

    message_id: Uuid
    although_unknown: bool = False


@dataclass
class Outbox:
    """Writes and delivers messages by ``channel``; none leaves them in the outbox."""

    messages: OperatorMessages
    channel: OperatorChannel | None
    _later: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"], init=False)

    @property
    def channel_name(self) -> str:
        """What the call log names it."""
        return self.channel.name if self.channel is not None else LOCAL_OUTBOX

    async def send(self, asker: Asker, text: str) -> OperatorMessage:
        """Writes a text and delivers it, once for each text of an invocation."""
        now = datetime.now(UTC)
        digest = sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]
        message = OperatorMessage(
            message_id=str(uuid7()),
            owner_user_id=asker.owner,
            invocation_id=asker.key,
            key=f"{asker.key}:{digest}",
            text=text,
            state=MessageState.PENDING,
            channel=self.channel_name,
            created_at=now,
            updated_at=now,
        )
        kept = await asyncio.to_thread(self.messages.write, message)
        told = await self.deliver(kept.message_id, asker.owner)
        if told.state is MessageState.DELIVERED:
            task = asyncio.create_task(self._deliver_waiting(asker.owner))
            self._later.add(task)
            task.add_done_callback(self._later.discard)
        return told

    async def _deliver_waiting(self, owner: str) -> None:
        """Delivers what the channel refused before, now that it takes messages again; the first refusal ends it."""
        waiting = await asyncio.to_thread(self.messages.undelivered, owner, datetime.now(UTC))
        for message in waiting:
            if message.state not in (MessageState.FAILED, MessageState.PENDING):
                continue
            if _is_fresh(message, datetime.now(UTC)):
                # Whoever wrote it is about to send it.
                continue
            tried = await self.deliver(message.message_id, owner)
            if tried.state is not MessageState.DELIVERED:
                return

    async def deliver(
        self, message_id: str, owner: str, *, although_unknown: bool = False
    ) -> OperatorMessage:
        """Delivers a message that waits; one that was delivered, or is being sent, is left as it is.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        claimed = await asyncio.to_thread(
            lambda: self.messages.claim(
                message_id, owner, self.channel_name, datetime.now(UTC), although_unknown=although_unknown
            )
        )
        message = claimed.message
        if not claimed.to_send:
            return message
        error, maybe = _NO_CHANNEL, False
        try:
            if self.channel is not None:
                await self.channel.deliver(message.message_id, message.text)
                return await asyncio.to_thread(self.messages.delivered, message, datetime.now(UTC))
        except NotDelivered as failure:
            error, maybe = str(failure), failure.may_have_arrived
        except asyncio.CancelledError:
            # The run was ended while this was under way: nobody will hear the far side's answer.
            self._note(message, "it was given up while it was being sent", may_have_arrived=True)
            raise
        return await asyncio.to_thread(lambda: self._note(message, error, may_have_arrived=maybe))

    def _note(self, message: OperatorMessage, error: str, *, may_have_arrived: bool) -> OperatorMessage:
        return self.messages.not_delivered(
            message, error, datetime.now(UTC), may_have_arrived=may_have_arrived
        )


class GatewayService:
    """``context.gateway``: a text to the operator by the configured channel, a payload to the OpenClaw gateway."""

    def __init__(self, outbox: Outbox, gateway: OpenClawGateway | None) -> None:
        self._outbox = outbox
        self._gateway = gateway
        self.methods: Mapping[str, Method] = {
            "send_message": Method(SendRequest, self._send),
            "post": Method(PostRequest, self._post),
        }

    async def _send(self, asker: Asker, asked: SendRequest) -> dict[str, Any]:
        message = await self._outbox.send(asker, asked.message)
        if message.state is MessageState.DELIVERED:
            return {"message_id": message.message_id, "channel": message.channel}
        raise BrokerRefused(
            "DELIVERY_FAILED",
            f"{message.error or 'it is being sent'}",
            retryable=False,
            details={"message_id": message.message_id, "channel": message.channel},
            unsure=message.state is not MessageState.FAILED,
        )

    async def _post(self, asker: Asker, asked: PostRequest) -> Any:
        if self._gateway is None:
            raise BrokerRefused(
                "UNAVAILABLE", "the setting openclaw_gateway_url names no gateway", retryable=False
            )
        try:
            return await self._gateway.post(asked.payload, asker.key)
        except NotDelivered as error:
            raise BrokerRefused(
                "DELIVERY_FAILED", str(error), retryable=False, unsure=error.may_have_arrived
            ) from None


class OutboxService:
    """The messages of whoever asks that the operator does not surely have."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.methods: Mapping[str, Method] = {
            "undelivered": Method(ListRequest, self._undelivered, reads=True),
            "retry": Method(RepeatRequest, self._retry),
        }

    async def _undelivered(self, asker: Asker, asked: ListRequest) -> list[dict[str, Any]]:
        found = await asyncio.to_thread(self._outbox.messages.undelivered, asker.owner, datetime.now(UTC))
        return [_told(one) for one in found]

    async def _retry(self, asker: Asker, asked: RepeatRequest) -> dict[str, Any]:
        try:
            message = await self._outbox.deliver(
                asked.message_id, asker.owner, although_unknown=asked.although_unknown
            )
        except Refusal as refusal:
            raise BrokerRefused("INVALID_INPUT", refusal.message) from None
        return _told(message)


def _is_fresh(message: OperatorMessage, now: datetime) -> bool:
    return message.state is MessageState.PENDING and now - message.created_at < timedelta(minutes=1)


def _told(message: OperatorMessage) -> dict[str, Any]:
    told = message.model_dump(mode="json", exclude_none=True)
    kept = ("message_id", "text", "state", "channel", "attempts", "error", "created_at", "delivered_at")
    return {name: told[name] for name in kept if name in told}
