"""Microsoft 365 through the funnel: every family, typed in and out, on a server that keeps real state."""

from typing import Any

import pytest

from tests.fixtures.m365_office import SCOPES, Office, office, running_m365_server

pytestmark = pytest.mark.anyio

__all__ = ["office", "running_m365_server"]

READS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "search",
        {"query": "retainer", "entity_filters": ["mail"]},
        {
            "hits": [
                {"hit_id": i, "source_kind": "mail", "title": t}
                for i, t in (("message-1", "Retainer"), ("message-2", "Re: Retainer"))
            ]
        },
    ),
    (
        "sharepoint_list_documents",
        {"site_ref": "site-legal", "max_results": 1},
        {
            "documents": [
                {
                    "document_ref": "doc-1",
                    "title": "Retainer memo",
                    "modified_at": "2026-02-01T10:00:00.000000Z",
                }
            ]
        },
    ),
    (
        "onedrive_fetch_file",
        {"drive_item_ref": "doc-1"},
        {"document_ref": "doc-1", "file_name": "memo.docx"},
    ),
    (
        "project_get_latest_document",
        {"project_id": "matter-7", "document_role": "memo"},
        {"project_id": "matter-7", "document_ref": "doc-2", "resolved_via": "project_binding"},
    ),
    (
        "outlook_mail_search",
        {"query": "re:"},
        {
            "messages": [
                {
                    "message_id": "message-2",
                    "subject": "Re: Retainer",
                    "from": "ada@example.com",
                    "received_at": "2026-02-03T10:00:00.000000Z",
                }
            ]
        },
    ),
    (
        "outlook_get_thread",
        {"target": {"message_id": "message-2"}},
        {"thread_id": "thread-1", "message_ids": ["message-1", "message-2"]},
    ),
    (
        "calendar_check_availability",
        {
            "time_min": "2026-02-10T09:00:00Z",
            "time_max": "2026-02-10T11:00:00Z",
            "attendee_emails": ["grace@example.com"],
        },
        {
            "slots": [
                {
                    "start_time": f"2026-02-10T{start}:00:00.000000Z",
                    "end_time": f"2026-02-10T{end}:00:00.000000Z",
                    "state": state,
                }
                for start, end, state in (("09", "10", "free"), ("10", "11", "busy"))
            ]
        },
    ),
    (
        "word_fetch_comments",
        {"document_ref": "doc-1"},
        {
            "document_ref": "doc-1",
            "comments": [
                {
                    "comment_id": "c-1",
                    "author": "Grace",
                    "created_at": "2026-02-02T08:00:00.000000Z",
                    "preview": "Why?",
                }
            ],
        },
    ),
    (
        "teams_get_channel_context",
        {"team_id": "team-1", "channel_id": "channel-1"},
        {
            "team_id": "team-1",
            "channel_id": "channel-1",
            "channel_name": "Matter 7",
            "recent_message_count": 0,
        },
    ),
]

WRITES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "outlook_draft_reply",
        {"target": {"thread_id": "thread-1"}, "body_markdown": "It is the third."},
        {"draft_id": "draft-1", "thread_id": "thread-1", "status": "draft_created"},
    ),
    (
        "calendar_create_event",
        {
            "title": "Retainer",
            "start_time": "2026-02-11T10:00:00Z",
            "end_time": "2026-02-11T11:00:00Z",
            "attendee_emails": ["grace@example.com"],
        },
        {"event_id": "event-2", "status": "created"},
    ),
    (
        "calendar_update_event",
        {"event_id": "event-1", "title": "Review, moved", "start_time": "2026-02-10T12:00:00Z"},
        {"event_id": "event-1", "status": "updated"},
    ),
    (
        "teams_post_message",
        {"target_kind": "channel", "target_ref": "team-1/channel-1", "message_markdown": "Done."},
        {"message_id": "post-1", "target_kind": "channel", "target_ref": "team-1/channel-1"},
    ),
]


def said(value: Any) -> Any:
    """Without what was left open."""
    if isinstance(value, dict):
        return {name: said(one) for name, one in value.items() if one is not None}
    return [said(one) for one in value] if isinstance(value, list) else value


async def test_every_reading_family_passes_and_answers_in_its_own_type(office: Office) -> None:
    await office.register()
    for family, asked, expected in READS:
        found = await office.ask(family, **asked)
        assert (found["status"], found["ask_first"]) == ("completed", None), found
        answer = found["m365"]
        assert said(answer["result"]) == {"operation_family": family, **expected}
        assert (answer["status"], answer["operation_id"]) == ("ok", found["dispatch_id"])
        assert answer["receipt_id"] == found["receipt_id"]
        assert (answer["identity_asserted_kind"], answer["identity_asserted_ref"]) == ("oauth_user", "alice")
        assert (set(answer["granted_scopes"]), answer["missing_scopes"]) == (set(SCOPES), [])
    assert office.server.effects() == []


async def test_content_stays_where_the_answer_is_kept_and_is_referred_to(office: Office) -> None:
    await office.register()
    found = await office.ask("word_fetch_content", document_ref="doc-1", include_comments=True)
    result = found["m365"]["result"]
    assert result["content_ref"] == f"mcp-dispatch/{found['dispatch_id']}"
    assert result["comment_count"] == 1
    kept = await office.alice.ok("GET", f"/api/mcp/dispatches/{found['dispatch_id']}")
    assert kept["result"]["structured_content"]["content"] == "The retainer is due on the first."


async def test_every_writing_family_asks_first_and_happens_exactly_once(office: Office) -> None:
    await office.register()
    for family, asked, expected in WRITES:
        before = office.server.state()
        waits = await office.ask(family, key=family, **asked)
        assert (waits["status"], waits["m365"]) == ("pending_approval", None)
        assert office.server.state() == before
        found = await office.approve(waits["dispatch_id"])
        assert found["status"] == "completed", found
        assert said(found["m365"]["result"]) == {"operation_family": family, **expected}
        again = await office.ask(family, key=family, **asked)
        assert again["dispatch_id"] == waits["dispatch_id"]
        assert [one["tool"] for one in office.server.effects()].count(family) == 1
    state = office.server.state()
    assert [one["body"] for one in state["drafts"].values()] == ["It is the third."]
    assert state["events"]["event-2"]["attendees"] == ["grace@example.com"]
    assert state["events"]["event-1"]["title"] == "Review, moved"
    assert [one["text"] for one in state["channels"]["team-1/channel-1"]["messages"]] == ["Hello", "Done."]


async def test_a_read_of_confidential_data_asks_first(office: Office) -> None:
    await office.register(data_classes=["confidential"])
    found = await office.ask("outlook_mail_search", query="retainer")
    assert found["status"] == "pending_approval", found


async def test_a_denied_post_leaves_no_trace(office: Office) -> None:
    await office.register()
    family, asked, _ = WRITES[-1]
    waits = await office.ask(family, **asked)
    path = f"/api/mcp/ask-first/{waits['dispatch_id']}/deny"
    await office.alice.ok("POST", path, {"decision": "deny"})
    found = await office.alice.ok("GET", f"/api/mcp/dispatches/{waits['dispatch_id']}")
    assert (found["m365"]["status"], office.server.effects()) == ("blocked", [])


async def test_what_the_token_was_not_granted_is_refused_before_anything_is_sent(office: Office) -> None:
    await office.register()
    chat = {"target_kind": "chat", "target_ref": "chat-1", "message_markdown": "Hello"}
    status, error = await office.alice.refused(
        "POST", "/api/mcp/dispatches", office.asking("teams_post_message", **chat)
    )
    assert (status, error["code"]) == (422, "M365_SCOPE_MISSING")
    assert error["missing_scopes"] == ["Chat.ReadWrite"]
    recent = {"team_id": "team-1", "channel_id": "channel-1", "include_recent_messages": True}
    status, error = await office.alice.refused(
        "POST", "/api/mcp/dispatches", office.asking("teams_get_channel_context", **recent)
    )
    assert error["missing_scopes"] == ["ChannelMessage.Read.All"]


async def test_an_operation_and_a_tool_are_not_asked_for_at_once(office: Office) -> None:
    await office.register()
    asking = office.asking("outlook_mail_search", query="x")
    for wrong in ({"tool_name": "search"}, {"arguments": {"query": "y"}}, {"server_id": "another"}):
        status, error = await office.alice.refused("POST", "/api/mcp/dispatches", asking | wrong)
        assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    both = office.asking("outlook_get_thread", target={"thread_id": "t", "message_id": "m"})
    status, error = await office.alice.refused("POST", "/api/mcp/dispatches", both)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    narrow = office.options(operation_families=["search"])
    await office.alice.ok("PATCH", f"/api/mcp/servers/{office.server_id}", {"m365": narrow})
    status, error = await office.alice.refused("POST", "/api/mcp/dispatches", asking)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert "does not offer outlook_mail_search" in error["message"]


async def test_a_family_may_have_another_name_at_the_server(office: Office) -> None:
    await office.register(m365=office.options(tool_names={"word_fetch_content": "onedrive_fetch_file"}))
    found = await office.ask("word_fetch_content", document_ref="doc-1")
    assert found["tool_name"] == "onedrive_fetch_file"


@pytest.mark.thorough
@pytest.mark.acceptance("R11.2-39")
async def test_no_connector_signs_in_with_an_api_key(office: Office) -> None:
    body = {"provider": "m365", "auth_mode": "api_key", "client_id": "app-1"}
    status, error = await office.alice.refused("POST", "/api/mcp/auth-profiles", body)
    assert (status, error["code"]) == (422, "M365_FORBIDDEN_AUTH_MODE")
    office.profile_id = await office.profile(auth_mode="oauth2_client_credentials")
    status, error = await office.alice.refused("POST", "/api/mcp/servers/register", office.registration())
    assert (status, error["code"]) == (422, "M365_FORBIDDEN_AUTH_MODE")
    listed = await office.alice.ok("GET", "/api/mcp/servers")
    assert [one for one in listed["servers"] if not one["deferred_design_only"]] == []


@pytest.mark.acceptance("m365_auto_refresh_once")
async def test_a_refused_token_is_renewed_once_and_the_call_is_made(office: Office) -> None:
    await office.register()
    office.sign_in("access-1", refresh="refresh-1")
    office.server.demand("access-2", renewals={"refresh-1": "access-2"})
    found = await office.ask("outlook_mail_search", query="retainer")
    assert found["status"] == "completed", found
    assert len(found["m365"]["result"]["messages"]) == 2
    assert office.server.renewals() == 1


@pytest.mark.acceptance("m365_auto_refresh_once")
async def test_where_the_renewal_fails_the_challenge_is_shown(office: Office) -> None:
    await office.register()
    office.sign_in("access-1", refresh="refresh-lost")
    office.server.demand("access-2")
    found = await office.ask("outlook_mail_search", query="retainer")
    assert found["status"] == "auth_required", found
    assert (found["m365"]["status"], found["m365"]["error_code"]) == ("blocked", "M365_AUTH_EXPIRED")
    assert office.server.renewals() == 1
    status = await office.alice.ok("GET", f"/api/mcp/servers/{office.server_id}/auth/status")
    assert status["auth_state"] == "challenge_required"
    health = await office.alice.ok("GET", f"/api/mcp/servers/{office.server_id}/health")
    assert health["auth_state"] == "challenge_required"
    listed = await office.alice.ok("GET", "/api/mcp/servers")
    (item,) = [one for one in listed["servers"] if one["registry"]["server_id"] == office.server_id]
    assert "auth_required" in item["badge_states"]
