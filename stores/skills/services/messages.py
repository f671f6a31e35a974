"""Messages of skills to the operator: written before they are sent, claimed by one sender, delivered once (X-14).

A message goes from ``pending`` or ``failed`` to ``sending`` in one transaction, so that of any number of senders one
has it. What was being sent when its process ended may have arrived: it becomes ``unknown``, and is not sent again by
itself.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.base import clipped
from contracts.skills.messages import UNDELIVERED, MessageState, OperatorMessage
from stores.platform.database import Database
from stores.skills.skill_tables import MESSAGES, skill_messages

_WAITING = frozenset({MessageState.PENDING, MessageState.FAILED})
_LONGEST_SENDING = timedelta(minutes=2)
"""What is still being sent after this has lost its sender; each way of delivery gives up long before."""


@dataclass(frozen=True)
class Claimed:
    """The message, and whether whoever asked is the one who sends it now."""

    message: OperatorMessage
    to_send: bool


class OperatorMessages:
    """The messages of all owners. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, message: OperatorMessage) -> OperatorMessage:
        """Writes a message, once under its key; the one that is kept."""
        with self._database.write() as connection:
            MESSAGES.add_if_absent(connection, message)
            kept = MESSAGES.first(connection, skill_messages.c.key == message.key)
        return kept or message

    def claim(
        self, message_id: str, owner: str, channel: str, now: datetime, *, although_unknown: bool = False
    ) -> Claimed:
        """Takes a message for sending; nobody else gets it meanwhile.

        ``although_unknown`` is a person's word that one which may have arrived is sent again.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.write() as connection:
            kept = MESSAGES.owned(connection, message_id, owner, lock=True)
            free = _WAITING | ({MessageState.UNKNOWN} if although_unknown else frozenset[MessageState]())
            if kept.state not in free:
                return Claimed(kept, to_send=False)
            taken = kept.changed(
                state=MessageState.SENDING,
                channel=channel,
                attempts=kept.attempts + 1,
                error=None,
                updated_at=now,
            )
            MESSAGES.replace(connection, taken)
            return Claimed(taken, to_send=True)

    def delivered(self, message: OperatorMessage, now: datetime) -> OperatorMessage:
        """Writes that a claimed message was taken by the far side."""
        return self._ended(message, MessageState.DELIVERED, None, now)

    def not_delivered(
        self, message: OperatorMessage, error: str, now: datetime, *, may_have_arrived: bool
    ) -> OperatorMessage:
        """Writes that a claimed message was not delivered, or may have been."""
        state = MessageState.UNKNOWN if may_have_arrived else MessageState.FAILED
        return self._ended(message, state, clipped(error, 240), now)

    def undelivered(self, owner: str, now: datetime, limit: int = 100) -> tuple[OperatorMessage, ...]:
        """The owner's messages that the operator does not surely have, oldest first."""
        with self._database.write() as connection:
            column = skill_messages.c
            found = MESSAGES.all(
                connection,
                column.owner == owner,
                column.state.in_([state.value for state in UNDELIVERED]),
                order_by=(column.created_at, column.message_id),
                limit=limit,
            )
            lost = [one for one in found if _has_lost_its_sender(one, now)]
            for one in lost:
                MESSAGES.replace(connection, _as_unknown(one, now))
        return tuple(_as_unknown(one, now) if one in lost else one for one in found)

    def _ended(
        self, message: OperatorMessage, state: MessageState, error: str | None, now: datetime
    ) -> OperatorMessage:
        with self._database.write() as connection:
            kept = MESSAGES.get(connection, message.message_id, lock=True)
            if kept.state is not MessageState.SENDING or kept.attempts != message.attempts:
                return kept
            ended = kept.changed(
                state=state,
                error=error,
                updated_at=now,
                delivered_at=now if state is MessageState.DELIVERED else None,
            )
            MESSAGES.replace(connection, ended)
            return ended


def _has_lost_its_sender(message: OperatorMessage, now: datetime) -> bool:
    return message.state is MessageState.SENDING and now - message.updated_at > _LONGEST_SENDING


def _as_unknown(message: OperatorMessage, now: datetime) -> OperatorMessage:
    return message.changed(
        state=MessageState.UNKNOWN,
        error="the process that sent it ended; it may have arrived",
        updated_at=now,
    )
