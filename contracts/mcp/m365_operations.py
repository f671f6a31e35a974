"""Microsoft 365 operation families: the scopes, request and result of each.

DOC3 §0.2E; nested Outlook target, §0C.28.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AnyUrl, ConfigDict, Field, StringConstraints, model_validator

from contracts.base import Contract, Text120, Text160, Text200, Text240, Text500, UtcTime, VersionedContract
from contracts.mcp.provider import MCPInteractionMode


class M365OperationFamily(StrEnum):
    """What can be asked of a Microsoft 365 connector."""

    SEARCH = "search"
    SHAREPOINT_LIST_DOCUMENTS = "sharepoint_list_documents"
    ONEDRIVE_FETCH_FILE = "onedrive_fetch_file"
    PROJECT_GET_LATEST_DOCUMENT = "project_get_latest_document"
    OUTLOOK_MAIL_SEARCH = "outlook_mail_search"
    OUTLOOK_GET_THREAD = "outlook_get_thread"
    OUTLOOK_DRAFT_REPLY = "outlook_draft_reply"
    CALENDAR_CHECK_AVAILABILITY = "calendar_check_availability"
    CALENDAR_CREATE_EVENT = "calendar_create_event"
    CALENDAR_UPDATE_EVENT = "calendar_update_event"
    WORD_FETCH_CONTENT = "word_fetch_content"
    WORD_FETCH_COMMENTS = "word_fetch_comments"
    TEAMS_POST_MESSAGE = "teams_post_message"
    TEAMS_GET_CHANNEL_CONTEXT = "teams_get_channel_context"


class M365TeamsTarget(StrEnum):
    """Where a Teams message goes."""

    CHANNEL = "channel"
    CHAT = "chat"


M365Scopes = Annotated[tuple[Text160, ...], Field(max_length=100)]
"""Delegated scopes, as Microsoft names them."""


class M365ScopeRule(VersionedContract):
    """The scopes of one family; ``target_kind`` where they depend on it (tie-break §3 item 24)."""

    operation_family: M365OperationFamily
    target_kind: M365TeamsTarget | None = None
    minimum_delegated_scopes: M365Scopes = Field(min_length=1)
    optional_delegated_scopes: M365Scopes = ()
    admin_consent_likely: bool = False
    delegated_only: bool = False


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
    """Whether a person is free."""

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
