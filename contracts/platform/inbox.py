"""The one inbox: everything that waits for a person, or was sent to one (routes.md; AM-16, AI-30, AI-36)."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.base import Contract, Text160, Text200, Text240, UtcTime
from contracts.platform.lists import ListCounts

MOST_TEXT = 8_000
"""The longest text of an item, in characters."""


class InboxKind(StrEnum):
    """What an item is: a tool call or a skill's run that waits, a question, a draft, content that
    somebody approved for publishing, or something to read."""

    APPROVAL = "approval"
    CONFIRMATION = "confirmation"
    QUESTION = "question"
    REVIEW = "review"
    MESSAGE = "message"
    CHECK_IN = "check_in"
    ESCALATION = "escalation"
    APPROVED_CONTENT = "approved_content"


class InboxItem(Contract):
    """One thing for a person; its text is what was asked or sent, unchanged."""

    item_id: Text160 = Field(
        description="Of the call, the invocation, the question, the proposal, the message."
    )
    kind: InboxKind
    title: Text200
    text: str = Field(default="", max_length=MOST_TEXT)
    arguments: dict[str, Any] | None = Field(
        default=None, description="Of a skill that waits: what it would get."
    )
    about: Text160 | None = Field(
        default=None, description="The tool, the skill, or the proposal it is about."
    )
    unproved: int = Field(default=0, ge=0, description="Of a draft: how many of its steps nothing proves.")
    expires_at: UtcTime | None = Field(default=None, description="When it waits no longer.")
    created_at: UtcTime
    next_action: Text240 | None = None


class InboxResponse(ListCounts):
    """What waits or was sent, newest first; each once."""

    items: tuple[InboxItem, ...]
