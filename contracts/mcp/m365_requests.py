"""What each Microsoft 365 operation family is asked with (DOC3 §0.2E; nested Outlook target, §0C.28)."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from contracts.base import (
    Contract,
    Text120,
    Text160,
    Text200,
    Text240,
    UtcTime,
    VersionedContract,
)
from contracts.mcp.m365_family import M365OperationFamily, M365TeamsTarget
from contracts.mcp.provider import MCPInteractionMode

F = M365OperationFamily

Query = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Email = Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Emails = Annotated[tuple[Email, ...], Field(max_length=500)]
Body40000 = Annotated[str, StringConstraints(max_length=40_000)]
Body20000 = Annotated[str, StringConstraints(max_length=20_000)]


class M365OperationContext(VersionedContract):
    """What every operation carries. ``room_id`` is the room it was asked in."""

    server_id: Text120
    interaction_mode: MCPInteractionMode = MCPInteractionMode.INTERACTIVE_USER
    auth_profile_id: Text120 | None = None
    dispatch_id: Text200 | None = None
    project_id: Text160 | None = None
    room_id: Text160 | None = None
    timeout_ms: int = Field(default=30_000, ge=1_000, le=120_000)


class M365EntityFilter(StrEnum):
    """What a search looks among."""

    FILES = "files"
    SITES = "sites"
    MAIL = "mail"
    PEOPLE = "people"


class OutlookTarget(Contract):
    """A thread, or a message; exactly one of them."""

    thread_id: Text240 | None = None
    message_id: Text240 | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.thread_id is None) is (self.message_id is None):
            raise ValueError("name a thread_id or a message_id, and not both")
        return self


class M365SearchRequest(M365OperationContext):
    """Looks for something everywhere."""

    operation_family: Literal[F.SEARCH]
    query: Query
    entity_filters: tuple[M365EntityFilter, ...] = Field(default=(), max_length=4)
    max_results: int = Field(default=20, ge=1, le=100)


class M365SharePointListDocumentsRequest(M365OperationContext):
    """Lists the documents of a site."""

    operation_family: Literal[F.SHAREPOINT_LIST_DOCUMENTS]
    site_ref: Text240
    drive_ref: Text240 | None = None
    folder_ref: Text240 | None = None
    max_results: int = Field(default=50, ge=1, le=200)


class M365OneDriveFetchFileRequest(M365OperationContext):
    """Fetches a file."""

    operation_family: Literal[F.ONEDRIVE_FETCH_FILE]
    drive_item_ref: Text240
    include_content: bool = False


class M365ProjectLatestDocumentRequest(M365OperationContext):
    """Finds a project's newest document."""

    operation_family: Literal[F.PROJECT_GET_LATEST_DOCUMENT]
    project_id: Text160  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]
    document_role: Text120 | None = None
    title_hint: Text240 | None = None


class M365OutlookMailSearchRequest(M365OperationContext):
    """Looks for mail."""

    operation_family: Literal[F.OUTLOOK_MAIL_SEARCH]
    query: Query
    folder: Text120 | None = None
    max_results: int = Field(default=25, ge=1, le=100)


class M365OutlookGetThreadRequest(M365OperationContext):
    """Reads which messages a thread has."""

    operation_family: Literal[F.OUTLOOK_GET_THREAD]
    target: OutlookTarget


class M365OutlookDraftReplyRequest(M365OperationContext):
    """Leaves a draft of a reply; nothing is sent."""

    operation_family: Literal[F.OUTLOOK_DRAFT_REPLY]
    target: OutlookTarget
    body_markdown: Body40000
    subject_override: Text240 | None = None


class M365CalendarCheckAvailabilityRequest(M365OperationContext):
    """Asks when people are free."""

    operation_family: Literal[F.CALENDAR_CHECK_AVAILABILITY]
    attendee_emails: Emails = ()
    time_min: UtcTime
    time_max: UtcTime
    duration_minutes: int | None = Field(default=None, ge=15, le=480)


class M365CalendarCreateEventRequest(M365OperationContext):
    """Makes an event."""

    operation_family: Literal[F.CALENDAR_CREATE_EVENT]
    title: Text240
    start_time: UtcTime
    end_time: UtcTime
    attendee_emails: Emails = ()
    location: Text240 | None = None
    body_markdown: Body20000 | None = None


class M365CalendarUpdateEventRequest(M365OperationContext):
    """Changes an event; what is left out stays."""

    operation_family: Literal[F.CALENDAR_UPDATE_EVENT]
    event_id: Text240
    title: Text240 | None = None
    start_time: UtcTime | None = None
    end_time: UtcTime | None = None
    attendee_emails: Emails | None = None
    location: Text240 | None = None
    body_markdown: Body20000 | None = None


class M365WordFetchContentRequest(M365OperationContext):
    """Reads a document."""

    operation_family: Literal[F.WORD_FETCH_CONTENT]
    document_ref: Text240
    include_comments: bool = False


class M365WordFetchCommentsRequest(M365OperationContext):
    """Reads the comments of a document."""

    operation_family: Literal[F.WORD_FETCH_COMMENTS]
    document_ref: Text240
    max_results: int = Field(default=100, ge=1, le=500)


class M365TeamsPostMessageRequest(M365OperationContext):
    """Posts a message to a channel or a chat."""

    operation_family: Literal[F.TEAMS_POST_MESSAGE]
    target_kind: M365TeamsTarget
    target_ref: Text240
    message_markdown: Body20000


class M365TeamsGetChannelContextRequest(M365OperationContext):
    """Reads what a channel is about."""

    operation_family: Literal[F.TEAMS_GET_CHANNEL_CONTEXT]
    team_id: Text240
    channel_id: Text240
    include_recent_messages: bool = False


M365OperationRequest = Annotated[
    M365SearchRequest
    | M365SharePointListDocumentsRequest
    | M365OneDriveFetchFileRequest
    | M365ProjectLatestDocumentRequest
    | M365OutlookMailSearchRequest
    | M365OutlookGetThreadRequest
    | M365OutlookDraftReplyRequest
    | M365CalendarCheckAvailabilityRequest
    | M365CalendarCreateEventRequest
    | M365CalendarUpdateEventRequest
    | M365WordFetchContentRequest
    | M365WordFetchCommentsRequest
    | M365TeamsPostMessageRequest
    | M365TeamsGetChannelContextRequest,
    Field(discriminator="operation_family"),
]
"""One operation of any family."""


class OutlookMailSearchRequest(VersionedContract):
    """The older spelling of a mail search within a thread (§0C.28)."""

    target: OutlookTarget
    query: Query
    page_size: int = Field(default=25, ge=1, le=100)
    client_request_id: Text120 | None = None


class OutlookThreadFetchRequest(VersionedContract):
    """The older spelling of reading a thread; ``thread_id`` must agree with its target (tie-break §3 item 23)."""

    target: OutlookTarget
    thread_id: Text240
    client_request_id: Text120 | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.target.thread_id not in (None, self.thread_id):
            raise ValueError("thread_id is another than the target's")
        return self
