"""The operation families of Microsoft 365 and the scopes each needs (DOC3 §0.2E)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts.base import Text160, VersionedContract


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
