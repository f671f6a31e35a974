"""What the receipt of a use says of a call."""

from datetime import UTC, datetime, timedelta

import pytest
from uuid_utils import uuid7

from contracts.abilities.capability_health import (
    ActionClass,
    ApprovalMode,
    ApprovalState,
    IdentityKind,
    UseResult,
)
from contracts.learning.observation import ToolEffect
from contracts.mcp.auth import MCPAuthProfile, MCPTokenSubjectKind
from contracts.mcp.dispatch import AskFirstStatus, DispatchCaller, DispatchStatus, MCPAskFirstDispatchRecord
from contracts.mcp.dispatch_work import DispatchOrder, DispatchRecord
from contracts.mcp.policy import MCPGlobalTarget
from contracts.mcp.provider import MCPAuthMode, MCPProvider
from domain.mcp.use_receipts import action_class, identity_kind, use_receipt

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
HASH = "5c" * 32


@pytest.mark.parametrize(
    ("mode", "subject", "kind"),
    [
        (MCPAuthMode.OAUTH2_DELEGATED, MCPTokenSubjectKind.USER, IdentityKind.OAUTH_USER),
        (MCPAuthMode.OAUTH2_DELEGATED, MCPTokenSubjectKind.SERVICE, IdentityKind.SERVICE_PRINCIPAL),
        (MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS, MCPTokenSubjectKind.USER, IdentityKind.SERVICE_PRINCIPAL),
        (MCPAuthMode.API_KEY, MCPTokenSubjectKind.USER, IdentityKind.UNKNOWN),
        (MCPAuthMode.API_KEY, MCPTokenSubjectKind.DELEGATED, IdentityKind.OAUTH_USER),
        (MCPAuthMode.API_KEY, MCPTokenSubjectKind.SERVICE, IdentityKind.SERVICE_PRINCIPAL),
    ],
)
def test_a_receipt_claims_no_person_for_what_speaks_for_none(
    mode: MCPAuthMode, subject: MCPTokenSubjectKind, kind: IdentityKind
) -> None:
    profile = MCPAuthProfile(
        auth_profile_id="profile-1",
        provider=MCPProvider.CUSTOM_REMOTE,
        auth_mode=mode,
        token_subject_kind=subject,
        created_at=NOW,
        updated_at=NOW,
    )
    assert identity_kind(profile) is kind


def call(status: DispatchStatus, asked: AskFirstStatus | None = None, **fields: object) -> DispatchRecord:
    dispatch_id = str(uuid7())
    order = DispatchOrder(
        dispatch_id=dispatch_id,
        correlation_id=str(uuid7()),
        caller=DispatchCaller(user_id="alice", token_id=str(uuid7()), runtime="openai"),
        server_id="office",
        tool_name="send_mail",
        arguments_digest=HASH,
        request_summary="send_mail at office",
        timeout_ms=30_000,
        created_at=NOW,
    )
    waiting = MCPAskFirstDispatchRecord(
        dispatch_id=dispatch_id,
        correlation_id=order.correlation_id,
        server_id="office",
        tool_name="send_mail",
        request_summary="send_mail at office",
        status=asked or AskFirstStatus.PENDING,
        paused_dispatch_ref=f"mcp-dispatch/{dispatch_id}",
        effective_policy_target=MCPGlobalTarget(),
        expires_at=NOW + timedelta(minutes=30),
        created_at=NOW,
        updated_at=NOW,
        arguments_digest=HASH,
    )
    record = DispatchRecord(
        order=order,
        status=status,
        arguments_digest=HASH,
        provider=MCPProvider.M365,
        effect=ToolEffect.SEND,
        ask_first=waiting if asked is not None else None,
        updated_at=NOW,
        completed_at=NOW,
    )
    return record.changed(**fields)


def profile(kind: MCPTokenSubjectKind) -> MCPAuthProfile:
    return MCPAuthProfile(
        auth_profile_id="office-1",
        provider=MCPProvider.M365,
        token_subject_kind=kind,
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("status", "asked", "state", "mode", "result"),
    [
        (DispatchStatus.COMPLETED, None, "not_needed", "autonomous", "success"),
        (DispatchStatus.COMPLETED, AskFirstStatus.APPROVED_ONCE, "granted", "ask_first", "success"),
        (DispatchStatus.DENIED, AskFirstStatus.DENIED, "denied", "ask_first", "denied"),
        (DispatchStatus.EXPIRED, AskFirstStatus.EXPIRED, "denied", "ask_first", "denied"),
        (DispatchStatus.CANCELLED, AskFirstStatus.CANCELLED, "prompted", "ask_first", "cancelled"),
        (DispatchStatus.BLOCKED, None, "denied", "autonomous", "denied"),
        (DispatchStatus.OUTCOME_UNKNOWN, None, "not_needed", "autonomous", "failure"),
    ],
)
def test_a_receipt_says_who_let_it_pass_and_how_it_went(
    status: DispatchStatus, asked: AskFirstStatus | None, state: str, mode: str, result: str
) -> None:
    found = use_receipt(call(status, asked), str(uuid7()), None)
    assert found.approval_state is ApprovalState(state)
    assert found.approval_mode is ApprovalMode(mode)
    assert found.result is UseResult(result)
    assert (found.runtime, found.provider, found.connector_server_id) == ("openai", "m365", "office")


def test_a_tool_that_reported_an_error_was_no_success() -> None:
    found = use_receipt(call(DispatchStatus.COMPLETED, is_error=True), str(uuid7()), None)
    assert found.result is UseResult.FAILURE


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (MCPTokenSubjectKind.USER, IdentityKind.OAUTH_USER),
        (MCPTokenSubjectKind.SERVICE, IdentityKind.SERVICE_PRINCIPAL),
    ],
)
def test_a_receipt_says_whose_permission_was_used(subject: MCPTokenSubjectKind, kind: IdentityKind) -> None:
    record = call(DispatchStatus.COMPLETED, auth_profile_id="office-1")
    found = use_receipt(record, str(uuid7()), profile(subject))
    assert (found.auth_profile_id, found.identity_asserted_kind) == ("office-1", kind)
    assert found.identity_asserted_ref == "office-1"
    assert use_receipt(record, str(uuid7()), None).identity_asserted_kind is IdentityKind.LOCAL_USER


@pytest.mark.parametrize(
    ("tool", "effect", "expected"),
    [
        ("search_mail", ToolEffect.READ, ActionClass.SEARCH),
        ("getFile", ToolEffect.READ, ActionClass.FETCH),
        ("read_note", ToolEffect.READ, ActionClass.READ),
        ("create_calendar_event", ToolEffect.CREATE, ActionClass.SCHEDULE),
        ("create_note", ToolEffect.CREATE, ActionClass.WRITE),
        ("delete_note", ToolEffect.DELETE, ActionClass.WRITE),
        ("update_note", ToolEffect.UPDATE, ActionClass.UPDATE),
        ("send_mail", ToolEffect.SEND, ActionClass.SEND),
        ("whatever", None, ActionClass.OTHER),
    ],
)
def test_an_action_is_classed_by_what_the_tool_does(
    tool: str, effect: ToolEffect | None, expected: ActionClass
) -> None:
    assert action_class(tool, effect) is expected
