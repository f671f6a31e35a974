"""What each Microsoft 365 operation family answers with (DOC3 §0.2E)."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AnyUrl, ConfigDict, Field

from contracts.base import Contract, Text160, Text240, Text500, UtcTime
from contracts.mcp.m365_family import M365OperationFamily, M365TeamsTarget

F = M365OperationFamily


class M365HitKind(StrEnum):
    """What was found."""

    FILE = "file"
    SITE = "site"
    MAIL = "mail"
    PERSON = "person"


class M365SearchHit(Contract):
    """One thing found."""

    hit_id: Text240
    source_kind: M365HitKind
    title: Text240
    url: AnyUrl | None = None
    modified_at: UtcTime | None = None


class M365SearchResult(Contract):
    """What a search found, best first."""

    operation_family: Literal[F.SEARCH] = F.SEARCH
    hits: tuple[M365SearchHit, ...] = ()


class M365Document(Contract):
    """One document of a list."""

    document_ref: Text240
    title: Text240
    modified_at: UtcTime | None = None
    url: AnyUrl | None = None


class M365DocumentListResult(Contract):
    """The documents of a site."""

    operation_family: Literal[F.SHAREPOINT_LIST_DOCUMENTS] = F.SHAREPOINT_LIST_DOCUMENTS
    documents: tuple[M365Document, ...] = ()


class M365FetchFileResult(Contract):
    """A fetched file, by reference."""

    operation_family: Literal[F.ONEDRIVE_FETCH_FILE] = F.ONEDRIVE_FETCH_FILE
    document_ref: Text240
    file_name: Text240
    download_url: AnyUrl | None = None
    content_ref: Text240 | None = None


class M365ResolvedVia(StrEnum):
    """How a project's document was found."""

    PROJECT_BINDING = "project_binding"
    CONNECTOR_SEARCH = "connector_search"
    NONE = "none"


class M365ProjectLatestDocumentResult(Contract):
    """A project's newest document, if it has one."""

    operation_family: Literal[F.PROJECT_GET_LATEST_DOCUMENT] = F.PROJECT_GET_LATEST_DOCUMENT
    project_id: Text160
    document_ref: Text240 | None = None
    resolved_via: M365ResolvedVia


class M365MailMessage(Contract):
    """One message of a list."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    message_id: Text240
    subject: Text240
    sender: Text240 | None = Field(default=None, alias="from")
    received_at: UtcTime | None = None


class M365MailSearchResult(Contract):
    """The mail that was found."""

    operation_family: Literal[F.OUTLOOK_MAIL_SEARCH] = F.OUTLOOK_MAIL_SEARCH
    messages: tuple[M365MailMessage, ...] = ()


class M365ThreadResult(Contract):
    """The messages of a thread, oldest first."""

    operation_family: Literal[F.OUTLOOK_GET_THREAD] = F.OUTLOOK_GET_THREAD
    thread_id: Text240
    message_ids: tuple[Text240, ...] = ()


class M365DraftStatus(StrEnum):
    """What became of a draft."""

    DRAFT_CREATED = "draft_created"
    DRAFT_UPDATED = "draft_updated"


class M365DraftReplyResult(Contract):
    """A draft that lies in the drafts folder; it is not sent."""

    operation_family: Literal[F.OUTLOOK_DRAFT_REPLY] = F.OUTLOOK_DRAFT_REPLY
    draft_id: Text240
    thread_id: Text240 | None = None
    status: M365DraftStatus


class M365SlotState(StrEnum):
    """Whether somebody is free."""

    FREE = "free"
    BUSY = "busy"
    TENTATIVE = "tentative"
    UNKNOWN = "unknown"


class M365Slot(Contract):
    """A stretch of time and whether it is free."""

    start_time: UtcTime
    end_time: UtcTime
    state: M365SlotState


class M365AvailabilityResult(Contract):
    """When people are free."""

    operation_family: Literal[F.CALENDAR_CHECK_AVAILABILITY] = F.CALENDAR_CHECK_AVAILABILITY
    slots: tuple[M365Slot, ...] = ()


class M365CalendarCreateEventResult(Contract):
    """An event that was made."""

    operation_family: Literal[F.CALENDAR_CREATE_EVENT] = F.CALENDAR_CREATE_EVENT
    event_id: Text240
    status: Literal["created"] = "created"


class M365CalendarUpdateEventResult(Contract):
    """An event that was changed."""

    operation_family: Literal[F.CALENDAR_UPDATE_EVENT] = F.CALENDAR_UPDATE_EVENT
    event_id: Text240
    status: Literal["updated"] = "updated"


class M365WordContentResult(Contract):
    """A document's content, by reference."""

    operation_family: Literal[F.WORD_FETCH_CONTENT] = F.WORD_FETCH_CONTENT
    document_ref: Text240
    content_ref: Text240 | None = None
    comment_count: int = Field(default=0, ge=0)


class M365WordComment(Contract):
    """One comment."""

    comment_id: Text240
    author: Text240 | None = None
    created_at: UtcTime | None = None
    preview: Text500 | None = None


class M365WordCommentsResult(Contract):
    """The comments of a document."""

    operation_family: Literal[F.WORD_FETCH_COMMENTS] = F.WORD_FETCH_COMMENTS
    document_ref: Text240
    comments: tuple[M365WordComment, ...] = ()


class M365TeamsPostMessageResult(Contract):
    """A message that was posted."""

    operation_family: Literal[F.TEAMS_POST_MESSAGE] = F.TEAMS_POST_MESSAGE
    message_id: Text240
    target_kind: M365TeamsTarget
    target_ref: Text240


class M365TeamsChannelContextResult(Contract):
    """What a channel is about."""

    operation_family: Literal[F.TEAMS_GET_CHANNEL_CONTEXT] = F.TEAMS_GET_CHANNEL_CONTEXT
    team_id: Text240
    channel_id: Text240
    channel_name: Text240 | None = None
    recent_message_count: int = Field(default=0, ge=0)


M365OperationResult = Annotated[
    M365SearchResult
    | M365DocumentListResult
    | M365FetchFileResult
    | M365ProjectLatestDocumentResult
    | M365MailSearchResult
    | M365ThreadResult
    | M365DraftReplyResult
    | M365AvailabilityResult
    | M365CalendarCreateEventResult
    | M365CalendarUpdateEventResult
    | M365WordContentResult
    | M365WordCommentsResult
    | M365TeamsPostMessageResult
    | M365TeamsChannelContextResult,
    Field(discriminator="operation_family"),
]
"""The result of one operation of any family."""
