"""The part of a worker that makes tool calls: its activities over their stores and clients."""

from collections.abc import Callable, Sequence
from typing import Any

from activities.head_starts import HeadStarts
from activities.held_call_wakeup import HeldCallWakeUp
from activities.mcp_call_activities import McpCallActivities
from activities.mcp_dispatch_activities import McpDispatchActivities
from activities.mcp_notice_activities import McpNoticeActivities
from activities.token_broker import TokenBroker
from activities.tool_callers import ToolCaller
from clients.webhook import Webhook
from config.settings import Settings
from stores.database import Database
from stores.mcp.dispatch_attempts import DispatchAttempts
from stores.mcp.dispatch_decisions import DispatchDecisions
from stores.mcp.dispatch_inspection import DispatchInspection
from stores.mcp.dispatch_observing import DispatchObserver
from stores.mcp.dispatch_opening import DispatchOpening
from stores.mcp.held_calls import HeldCalls
from stores.observations import ObservationLog
from stores.session_store import SessionStore
from worker.projection import ProjectionLoop
from worker.withdrawn_abilities import call_stopping


def dispatch_activities(
    settings: Settings,
    database: Database,
    observations: ObservationLog,
    projection: ProjectionLoop,
    caller: ToolCaller,
    broker: TokenBroker,
) -> Sequence[Callable[..., Any]]:
    """The activities of tool calls."""
    url = settings.ask_first_webhook_url
    expiry = settings.ask_first_expiry
    opening = DispatchOpening(
        database,
        ask_first_expiry=expiry,
        open_calls=settings.open_calls_per_user,
        notify=url is not None,
    )
    decisions = DispatchDecisions(database, ask_first_expiry=expiry)
    attempts = DispatchAttempts(database, opening)
    inspection = DispatchInspection(database, opening, decisions)
    observer = DispatchObserver(database, SessionStore(database), observations)
    head_starts = HeadStarts(attempts, caller, broker)
    held_calls = HeldCallWakeUp(HeldCalls(database))
    calls = McpCallActivities(attempts, caller, broker, head_starts, observer, held_calls, projection.wake)
    decided = McpDispatchActivities(opening, decisions, inspection, observer, head_starts, projection.wake)
    webhook = Webhook(url, settings.ask_first_webhook_secret_ref) if url is not None else None
    notices = McpNoticeActivities(database, webhook, settings.console_url)
    return (
        decided.judge_dispatch,
        decided.decide_dispatch,
        decided.end_dispatch,
        decided.reconsider_dispatch,
        decided.inspect_call,
        decided.release_dispatches,
        calls.call_tool,
        notices.tell_waiting,
        call_stopping(settings, database).stop_calls,
    )
