"""What waits for a user in the inbox, or was sent there: messages, check-ins, questions (AI-30, AI-32, AI-36)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text80, Text120, Text200, UtcTime, Uuid, VersionedContract
from contracts.platform.commands import Command

InboxText = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class SentKind(StrEnum):
    """What an item is."""

    MESSAGE = "message"
    CHECK_IN = "check_in"
    QUESTION = "question"
    ESCALATION = "escalation"
    APPROVED_CONTENT = "approved_content"


class SentState(StrEnum):
    """How an item stands. A question is open until it is answered, late or withdrawn; all else has arrived."""

    ARRIVED = "arrived"
    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class SentItem(VersionedContract):
    """One item, its text as it was sent."""

    item_id: Uuid
    owner_user_id: Text120
    kind: SentKind
    state: SentState
    text: InboxText
    options: tuple[Text200, ...] = Field(default=(), max_length=20, description="Answers to choose from.")
    skill_id: Text80
    invocation_id: Uuid = Field(
        description="Of approved content: the approval itself, as nothing was run yet."
    )
    about: Uuid | None = Field(default=None, description="The check-in it tells of.")
    answer: InboxText | None = None
    answered_by: Text120 | None = None
    expires_at: UtcTime | None = Field(default=None, description="When a question, or an approval, ends.")
    created_at: UtcTime
    updated_at: UtcTime


class AnswerRequest(Command):
    """Answers a question of the inbox; one of its options, where it has some."""

    answer: InboxText


class AskedQuestion(Contract):
    """A question that a skill asks its user."""

    question: InboxText
    options: tuple[Text200, ...] = Field(default=(), max_length=20)
    expires_in_seconds: int = Field(default=604_800, ge=60, le=2_592_000)


class SentMessage(Contract):
    """A message of a skill to its user."""

    message: InboxText
