"""Turning the receipt of a tool call into what a watching session sees of it (DOC3 §0A.10, §0C.22).

The hook of whoever calls tools for an agent: it has a receipt anyway, asks ``observed_tool_call`` and hands the
event to ingest like every recorder. Pure and repeatable: one call is one event id, however often it is told.
"""

import re
from uuid import UUID, uuid5

from contracts.base import clipped
from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent
from contracts.learning.session import LearnSession, LearnSessionState, ObservationMode
from contracts.learning.tool_receipt import ToolCallReceipt, ToolEffect, ToolOutcome
from domain.learning.redaction import redact, redact_event

_WATCHED_FROM_INSIDE = frozenset({ObservationMode.INSIDE_AGENT, ObservationMode.MIXED})
_OBSERVING = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING})
_WORD_LIMIT = re.compile(r"[_\-.\s/]+|(?<=[a-z0-9])(?=[A-Z])")


def observed_tool_call(receipt: ToolCallReceipt, session: LearnSession) -> ObservedActionEvent | None:
    """The event of a tool call, redacted; none where the session does not watch the agent from inside now."""
    if not watches_the_agent(session):
        return None
    return redact_event(
        ObservedActionEvent(
            event_id=str(uuid5(UUID(session.learn_session_id), receipt.receipt_id)),
            learn_session_id=session.learn_session_id,
            adapter_kind=ObservationAdapterKind.MCP_RECEIPT,
            app_family=receipt.server_id,
            action_label=_label(receipt),
            control_surface=receipt.control_surface,
            target_ref=clipped(f"{receipt.server_id}/{receipt.tool_name}", 240),
            before_state_ref=_named(receipt),
            after_state_ref=receipt.outcome.value,
            caused_state_change=receipt.effect is not ToolEffect.READ and receipt.outcome is ToolOutcome.OK,
            created_at=receipt.finished_at,
        )
    )


def watches_the_agent(session: LearnSession) -> bool:
    """Whether a session is shown the tool calls that its owner's agents make now."""
    return session.observation_mode in _WATCHED_FROM_INSIDE and session.state in _OBSERVING


def went_wrong(event: ObservedActionEvent) -> bool:
    """Whether the event is a tool call that failed or was not let through: it changed nothing."""
    return (
        event.adapter_kind is ObservationAdapterKind.MCP_RECEIPT
        and event.after_state_ref in (ToolOutcome.FAILED, ToolOutcome.BLOCKED)
        and not event.caused_state_change
    )


def _label(receipt: ToolCallReceipt) -> str:
    words = _WORD_LIMIT.sub(" ", receipt.tool_title or receipt.tool_name).strip() or receipt.tool_name
    label = f"{words[:1].upper()}{words[1:]} in {_WORD_LIMIT.sub(' ', receipt.server_id).strip()}"
    about = redact(receipt.resource_ref).text if receipt.resource_ref else ""
    return clipped(f"{label}: {about}" if about else label, 240)


def _named(receipt: ToolCallReceipt) -> str | None:
    """The names of the arguments that were given."""
    return clipped(f"with {', '.join(receipt.argument_names)}", 240) if receipt.argument_names else None
