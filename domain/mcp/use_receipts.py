"""Build the use receipt of a tool call (DOC3 §1.1U, §0.2H; the fields that tests §9.13 and §9.15 read)."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from contracts.abilities.capability_health import (
    ActionClass,
    ApprovalMode,
    ApprovalState,
    CapabilityUseReceipt,
    IdentityKind,
    UseResult,
)
from contracts.abilities.capability_plan import (
    CapabilityExecutionTrace,
    HybridActionPlan,
    HybridActionPlanStep,
)
from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.observation import ToolEffect
from contracts.mcp.auth import MCPAuthProfile, MCPTokenSubjectKind
from contracts.mcp.dispatch import AskFirstStatus, DispatchStatus
from contracts.mcp.dispatch_work import DispatchRecord
from contracts.mcp.policy import MCPPolicyMode
from contracts.mcp.provider import MCPAuthMode, MCPProvider
from domain.abilities.hybrid_plan import Attempt, Execution, trace

_WORDS = re.compile(r"[_\-.\s/]+|(?<=[a-z0-9])(?=[A-Z])")
_SEARCHES = frozenset({"search", "find", "query", "lookup"})
_FETCHES = frozenset({"fetch", "get", "download", "export"})
_SCHEDULES = frozenset({"schedule", "calendar", "event", "meeting"})

_LOCAL = frozenset({MCPProvider.ACROBAT})
"""Adapters that work inside this installation: no tool server is asked."""

_APPROVALS: Mapping[AskFirstStatus, ApprovalState] = MappingProxyType(
    {
        AskFirstStatus.PENDING: ApprovalState.PROMPTED,
        AskFirstStatus.APPROVED_ONCE: ApprovalState.GRANTED,
        AskFirstStatus.APPROVED_UNTIL_END_OF_TURN: ApprovalState.GRANTED,
        AskFirstStatus.APPROVED_FOR_SESSION: ApprovalState.GRANTED,
        AskFirstStatus.RESUMED: ApprovalState.GRANTED,
        AskFirstStatus.DENIED: ApprovalState.DENIED,
        AskFirstStatus.EXPIRED: ApprovalState.DENIED,
        AskFirstStatus.CANCELLED: ApprovalState.PROMPTED,
    }
)

_IDENTITIES: Mapping[MCPTokenSubjectKind, IdentityKind] = MappingProxyType(
    {
        MCPTokenSubjectKind.USER: IdentityKind.OAUTH_USER,
        MCPTokenSubjectKind.DELEGATED: IdentityKind.OAUTH_USER,
        MCPTokenSubjectKind.SERVICE: IdentityKind.SERVICE_PRINCIPAL,
    }
)


def use_receipt(
    record: DispatchRecord, receipt_id: str, profile: MCPAuthProfile | None, trace_id: str | None = None
) -> CapabilityUseReceipt:
    """The receipt of a call that has ended; ``profile`` is the sign-in whose permission it used.

    ``trace_id`` names the execution trace beside it.
    """
    order = record.order
    local = record.provider in _LOCAL
    ended = record.completed_at or record.updated_at
    kind, ref = identity_of(record, profile)
    return CapabilityUseReceipt(
        receipt_id=receipt_id,
        capability_id=order.ability_id or f"{order.server_id[:90]}/{order.tool_name[:69]}",
        route_surface=ControlSurface.PYTHON_WRAPPER if local else ControlSurface.MCP_CONNECTOR,
        runtime=order.caller.runtime or "other",
        provider=record.provider.value if record.provider is not None else None,
        connector_server_id=None if local else order.server_id,
        tool_name=order.tool_name,
        dispatch_id=order.dispatch_id,
        operation_id=order.dispatch_id,
        route_trace_id=trace_id,
        project_id=order.project_id,
        action_class=action_class(order.tool_name, record.effect),
        data_class=order.data_class,
        approval_mode=_mode(record),
        approval_state=_approval(record),
        result=_result(record),
        auth_profile_id=record.auth_profile_id,
        identity_asserted_kind=kind,
        identity_asserted_ref=ref,
        started_at=record.started_at or order.created_at,
        completed_at=ended,
        correlation_id=order.correlation_id,
        created_at=ended,
    )


def use_trace(record: DispatchRecord, use: CapabilityUseReceipt) -> CapabilityExecutionTrace | None:
    """The execution trace of a call that has ended; ``None`` where nothing was attempted (DOC3 §1.1F)."""
    if record.attempts == 0 or use.route_trace_id is None:
        return None
    step = HybridActionPlanStep(
        step_id=clipped(record.order.tool_name, 80),
        purpose=record.order.tool_name,
        act_surface=use.route_surface,
        verify_surface=use.route_surface,
    )
    plan = HybridActionPlan(capability_id=use.capability_id, goal=record.order.tool_name, steps=(step,))
    attempt = Attempt(step.step_id, use.route_surface, success=use.result is UseResult.SUCCESS)
    ended = use.completed_at or use.created_at
    about = Execution(
        trace_id=use.route_trace_id,
        app_id=clipped(record.order.server_id, 80),
        created_at=ended,
        elapsed_ms=max(0, int((ended - use.started_at).total_seconds() * 1000)),
        session_key=record.order.caller.session_ref,
        agent_id=record.order.caller.runtime,
    )
    return trace(plan, [attempt], about)


def identity_of(record: DispatchRecord, profile: MCPAuthProfile | None) -> tuple[IdentityKind, str]:
    """Whose permission a call is made with, and which: that of a sign-in, or of the user where there is none."""
    if profile is None:
        return IdentityKind.LOCAL_USER, record.owner
    return identity_kind(profile), profile.auth_profile_id


def identity_kind(profile: MCPAuthProfile) -> IdentityKind:
    """As whom a sign-in speaks. Client credentials are a service's, and of a key nobody knows whose it is, unless it
    was said."""
    if profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS:
        return IdentityKind.SERVICE_PRINCIPAL
    if profile.auth_mode is MCPAuthMode.API_KEY and profile.token_subject_kind is MCPTokenSubjectKind.USER:
        return IdentityKind.UNKNOWN
    return _IDENTITIES[profile.token_subject_kind]


def action_class(tool_name: str, effect: ToolEffect | None) -> ActionClass:
    """What kind of action a tool is, by what it does and, among reads, by its name."""
    words = {word.lower() for word in _WORDS.split(tool_name)}
    match effect:
        case None:
            return ActionClass.OTHER
        case ToolEffect.READ if words & _SEARCHES:
            return ActionClass.SEARCH
        case ToolEffect.READ if words & _FETCHES:
            return ActionClass.FETCH
        case ToolEffect.READ:
            return ActionClass.READ
        case ToolEffect.CREATE if words & _SCHEDULES:
            return ActionClass.SCHEDULE
        case ToolEffect.CREATE | ToolEffect.DELETE:
            return ActionClass.WRITE
        case ToolEffect.UPDATE:
            return ActionClass.UPDATE
        case ToolEffect.SEND:
            return ActionClass.SEND


def _mode(record: DispatchRecord) -> ApprovalMode:
    if record.verdict is not None and record.verdict.grant_id is not None:
        return ApprovalMode.STANDING_ORDER
    return ApprovalMode.ASK_FIRST if record.ask_first is not None else ApprovalMode.AUTONOMOUS


def _approval(record: DispatchRecord) -> ApprovalState:
    if record.ask_first is not None:
        return _APPROVALS[record.ask_first.status]
    refused = record.verdict is not None and record.verdict.mode is MCPPolicyMode.DISABLED
    return (
        ApprovalState.DENIED
        if refused or record.status is DispatchStatus.BLOCKED
        else ApprovalState.NOT_NEEDED
    )


def _result(record: DispatchRecord) -> UseResult:
    match record.status:
        case DispatchStatus.COMPLETED if not record.is_error:
            return UseResult.SUCCESS
        case DispatchStatus.BLOCKED | DispatchStatus.DENIED | DispatchStatus.EXPIRED:
            return UseResult.DENIED
        case DispatchStatus.CANCELLED:
            return UseResult.CANCELLED
        case _:
            return UseResult.FAILURE
