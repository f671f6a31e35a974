import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from contracts.errors import ErrorCode
from contracts.mcp.auth import MCPAuthProfile, MCPTokenSubjectKind
from contracts.mcp.dispatch import DispatchCaller, DispatchStatus
from contracts.mcp.dispatch_work import DispatchOrder, DispatchRecord
from contracts.mcp.m365 import M365Asked, M365OperationErrorResponse, M365OperationSuccessResponse
from contracts.mcp.m365_operations import (
    M365FetchFileResult,
    M365OperationRequest,
    M365TeamsPostMessageResult,
    OutlookThreadFetchRequest,
)
from contracts.mcp.m365_operations import M365OperationFamily as F
from contracts.mcp.provider import MCPAuthMode, MCPInteractionMode, MCPProvider, MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from domain.mcp.m365_operations import arguments_of, refusal_of, response_of, result_of, tool_of_family
from domain.mcp.m365_registration import scopes_for

AT = datetime(2026, 3, 1, tzinfo=UTC)
DISPATCH_ID = "01936f5e-0000-7000-8000-000000000001"
ALONE, PERSON = MCPInteractionMode.BACKGROUND_SERVICE, MCPInteractionMode.INTERACTIVE_USER
REQUESTS: TypeAdapter[M365OperationRequest] = TypeAdapter(M365OperationRequest)


def asking(family: F, **fields: Any) -> M365OperationRequest:
    needed: dict[F, dict[str, Any]] = {
        F.SEARCH: {"query": "memo"},
        F.ONEDRIVE_FETCH_FILE: {"drive_item_ref": "doc-1"},
        F.PROJECT_GET_LATEST_DOCUMENT: {"project_id": "matter-7"},
        F.OUTLOOK_GET_THREAD: {"target": {"thread_id": "thread-1"}},
        F.TEAMS_POST_MESSAGE: {"target_kind": "channel", "target_ref": "c-1", "message_markdown": "Hi"},
    }
    given = {"operation_family": family.value, "server_id": "office"} | needed.get(family, {}) | fields
    return REQUESTS.validate_python(given)


def server(mode: MCPInteractionMode = PERSON, **m365: Any) -> MCPServerRegistryEntry:
    options = {"operation_families": list(F), "requested_scopes": ["Mail.Read"]} | m365
    return MCPServerRegistryEntry.model_validate(
        {
            "server_id": "office",
            "provider": MCPProvider.M365,
            "display_name": "Office",
            "transport": MCPTransport.REMOTE_HTTP,
            "interaction_mode": mode,
            "auth_profile_id": "profile",
            "m365": options,
            "created_at": AT,
            "updated_at": AT,
        }
    )


def profile(**fields: Any) -> MCPAuthProfile:
    given: dict[str, Any] = {
        "auth_profile_id": "profile",
        "provider": MCPProvider.M365,
        "token_ref": "a-token",
        "created_at": AT,
        "updated_at": AT,
    }
    return MCPAuthProfile.model_validate(given | fields)


def record(family: F, status: DispatchStatus, needed: tuple[str, ...] = (), **fields: Any) -> DispatchRecord:
    order = DispatchOrder(
        dispatch_id=DISPATCH_ID,
        correlation_id=DISPATCH_ID,
        caller=DispatchCaller(user_id="alice", token_id=DISPATCH_ID),
        server_id="office",
        tool_name=family.value,
        arguments_digest="0" * 64,
        request_summary="as asked",
        m365=M365Asked(operation_family=family, needed_scopes=needed),
        timeout_ms=30_000,
        created_at=AT,
    )
    return DispatchRecord(order=order, status=status, arguments_digest="0" * 64, updated_at=AT, **fields)


def code_of(request: M365OperationRequest, at: MCPServerRegistryEntry, *granted: str) -> ErrorCode | None:
    found = refusal_of(request, at, profile(), granted)
    return found.code if found is not None else None


def test_what_is_only_for_us_does_not_reach_the_tool() -> None:
    request = asking(F.SEARCH, room_id="room", project_id="matter-7", dispatch_id="d", timeout_ms=5_000)
    assert arguments_of(request) == {"query": "memo", "entity_filters": [], "max_results": 20}
    assert arguments_of(asking(F.PROJECT_GET_LATEST_DOCUMENT)) == {"project_id": "matter-7"}


def test_a_servers_own_name_for_a_family_is_used() -> None:
    named = server(tool_names={"search": "graph-search"})
    assert (tool_of_family(F.SEARCH, named), tool_of_family(F.ONEDRIVE_FETCH_FILE, named)) == (
        "graph-search",
        "onedrive_fetch_file",
    )


def test_what_needs_a_person_is_not_done_in_the_background() -> None:
    post = asking(F.TEAMS_POST_MESSAGE)
    assert code_of(post, server(), "ChannelMessage.Send") is None
    assert code_of(post, server(ALONE), "ChannelMessage.Send") is ErrorCode.M365_DELEGATED_ONLY_OPERATION
    alone = asking(F.TEAMS_POST_MESSAGE, interaction_mode=ALONE)
    assert code_of(alone, server(), "ChannelMessage.Send") is ErrorCode.M365_DELEGATED_ONLY_OPERATION


def test_an_operation_is_asked_for_in_the_way_its_connector_works() -> None:
    fetch, alone = asking(F.ONEDRIVE_FETCH_FILE), asking(F.ONEDRIVE_FETCH_FILE, interaction_mode=ALONE)
    assert code_of(fetch, server(ALONE), "Files.Read.All") is ErrorCode.M365_BACKGROUND_ONLY_OPERATION
    assert code_of(alone, server(), "Files.Read.All") is ErrorCode.M365_FORBIDDEN_AUTH_MODE
    assert code_of(alone, server(ALONE), "Files.Read.All") is None


def test_the_scopes_depend_on_what_is_asked() -> None:
    chat = asking(F.TEAMS_POST_MESSAGE, target_kind="chat")
    assert scopes_for(chat) == ("Chat.ReadWrite",)
    assert "Mail.Read" in scopes_for(asking(F.SEARCH, entity_filters=["mail"]))
    assert "Mail.Read" not in scopes_for(asking(F.SEARCH, entity_filters=["files"]))
    assert code_of(chat, server(), "ChannelMessage.Send") is ErrorCode.M365_SCOPE_MISSING
    application = profile(auth_mode=MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS)
    alone = asking(F.ONEDRIVE_FETCH_FILE, interaction_mode=ALONE)
    assert refusal_of(alone, server(ALONE), application, ()) is None


def test_without_a_token_nothing_is_said_of_scopes() -> None:
    assert refusal_of(asking(F.SEARCH), server(), profile(token_ref=None), ()) is None


def test_a_result_is_typed_whatever_else_the_server_says() -> None:
    asked = M365Asked(operation_family=F.ONEDRIVE_FETCH_FILE)
    said = {"document_ref": "doc-1", "file_name": "memo.docx", "content": "secret", "etag": "x"}
    expected = M365FetchFileResult(
        document_ref="doc-1", file_name="memo.docx", content_ref=f"mcp-dispatch/{DISPATCH_ID}"
    )
    assert result_of(asked, DISPATCH_ID, {}, {"structured_content": said}) == expected
    as_text = {"content": [{"type": "text", "text": json.dumps(said)}]}
    assert result_of(asked, DISPATCH_ID, {}, as_text) == expected


def test_what_a_server_does_not_repeat_is_taken_from_the_question() -> None:
    asked = M365Asked(operation_family=F.TEAMS_POST_MESSAGE)
    found = result_of(
        asked,
        DISPATCH_ID,
        arguments_of(asking(F.TEAMS_POST_MESSAGE)),
        {"structured_content": {"message_id": "p-1"}},
    )
    assert found == M365TeamsPostMessageResult(message_id="p-1", target_kind="channel", target_ref="c-1")


@pytest.mark.parametrize(
    "answer",
    [{}, {"structured_content": {"hits": 3}}, {"content": [{"type": "text", "text": "not JSON"}]}],
)
def test_an_answer_that_is_not_the_operations_is_no_result(answer: dict[str, Any]) -> None:
    assert result_of(M365Asked(operation_family=F.SEARCH), DISPATCH_ID, {}, answer) is None
    done = record(F.OUTLOOK_GET_THREAD, DispatchStatus.COMPLETED)
    found = response_of(done, {}, answer, profile(), (), None)
    assert isinstance(found, M365OperationErrorResponse)
    assert (found.status.value, found.error_code) == ("failed", "MCP_OUTPUT_INVALID")


@pytest.mark.parametrize(
    ("status", "code", "granted", "expected"),
    [
        (DispatchStatus.AUTH_REQUIRED, "MCP_AUTH_CHALLENGE_REQUIRED", ("Mail.Read",), "M365_AUTH_EXPIRED"),
        (DispatchStatus.AUTH_REQUIRED, "MCP_AUTH_CHALLENGE_REQUIRED", ("User.Read",), "M365_SCOPE_MISSING"),
        (DispatchStatus.BLOCKED, "MCP_POLICY_BLOCKED", ("Mail.Read",), "MCP_POLICY_BLOCKED"),
        (DispatchStatus.EXPIRED, None, ("Mail.Read",), "MCP_ASK_FIRST_EXPIRED"),
        (DispatchStatus.DENIED, None, ("Mail.Read",), "MCP_POLICY_BLOCKED"),
        (DispatchStatus.FAILED, "MCP_RATE_LIMITED", ("Mail.Read",), "MCP_RATE_LIMITED"),
        (DispatchStatus.OUTCOME_UNKNOWN, "MCP_OUTCOME_UNKNOWN", ("Mail.Read",), "MCP_OUTCOME_UNKNOWN"),
    ],
)
def test_each_end_has_its_code(
    status: DispatchStatus, code: str | None, granted: tuple[str, ...], expected: str
) -> None:
    ended = record(F.OUTLOOK_MAIL_SEARCH, status, ("Mail.Read",), error_code=code)
    found = response_of(ended, {}, None, profile(), granted, None)
    assert isinstance(found, M365OperationErrorResponse)
    assert found.error_code == expected
    failed = status in (DispatchStatus.FAILED, DispatchStatus.OUTCOME_UNKNOWN)
    assert found.status.value == ("failed" if failed else "blocked")


def test_a_scope_that_the_server_asked_for_is_missing_where_it_refused_the_sign_in() -> None:
    for status, missing in ((DispatchStatus.AUTH_REQUIRED, ("Mail.Send",)), (DispatchStatus.FAILED, ())):
        ended = record(F.OUTLOOK_MAIL_SEARCH, status, ("Mail.Read",))
        found = response_of(ended, {}, None, profile(), ("Mail.Read",), None, lacking=("Mail.Send",))
        assert isinstance(found, M365OperationErrorResponse)
        assert found.missing_scopes == missing
        assert (found.error_code == "M365_SCOPE_MISSING") is bool(missing)


def test_who_it_was_done_as_is_said() -> None:
    done = record(F.OUTLOOK_MAIL_SEARCH, DispatchStatus.COMPLETED)
    service = profile(token_subject_kind=MCPTokenSubjectKind.SERVICE)
    found = response_of(done, {}, {"structured_content": {"messages": []}}, service, (), None)
    assert isinstance(found, M365OperationSuccessResponse)
    assert found.identity_asserted_kind.value == "service_principal"
    assert response_of(record(F.SEARCH, DispatchStatus.RUNNING), {}, None, service, (), None) is None


def test_a_mail_target_is_a_thread_or_a_message() -> None:
    for wrong in ({}, {"thread_id": "t", "message_id": "m"}):
        with pytest.raises(ValidationError):
            asking(F.OUTLOOK_GET_THREAD, target=wrong)
    OutlookThreadFetchRequest.model_validate({"target": {"thread_id": "t"}, "thread_id": "t"})
    OutlookThreadFetchRequest.model_validate({"target": {"message_id": "m"}, "thread_id": "t"})
    with pytest.raises(ValidationError):
        OutlookThreadFetchRequest.model_validate({"target": {"thread_id": "t"}, "thread_id": "other"})
