"""The store's side of tool calls, without a workflow: what a test decides happens when it says so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from contracts.mcp.dispatch import AskFirstDecision, DispatchCaller, DispatchStatus
from contracts.mcp.dispatch_work import (
    CallOrder,
    DecideOrder,
    DecisionTaken,
    DispatchOrder,
    DispatchRecord,
    DispatchStanding,
    EditedArguments,
    EndCause,
    EndOrder,
    InspectOrder,
)
from contracts.mcp.tools import MCPToolDefinition, ToolAnswer
from contracts.platform.commands import CommitKey
from stores.mcp.dispatch.argument_rows import content_kept
from stores.mcp.dispatch.attempt_ends import DispatchInspection
from stores.mcp.dispatch.attempt_rows import CallPlan
from stores.mcp.dispatch.attempts import DispatchAttempts
from stores.mcp.dispatch.decisions import DispatchDecisions
from stores.mcp.dispatch.opening import DispatchOpening
from stores.mcp.dispatch.rows import find_dispatch
from stores.mcp.servers.tools import ToolStore
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from tests.stores.mcp.registrations import registered

EXPIRY = timedelta(minutes=30)
ARGUMENTS = b'{"line":"milk"}'
ANSWER = ToolAnswer(content=({"type": "text", "text": "done"},), structured_content={"effects": 1})


@dataclass
class CallDesk:
    """Alice's calls of one server with a tool that reads and one that writes."""

    store: Database
    server_id: str = field(init=False)
    token_id: str = field(default_factory=lambda: str(uuid4()))
    tools: tuple[MCPToolDefinition, ...] = (
        MCPToolDefinition(tool_name="read_line"),
        MCPToolDefinition(tool_name="append_line"),
    )

    def __post_init__(self) -> None:
        self.opening = DispatchOpening(self.store, ask_first_expiry=EXPIRY, open_calls=10_000, notify=False)
        self.decisions = DispatchDecisions(self.store, ask_first_expiry=EXPIRY)
        self.attempts = DispatchAttempts(self.store, self.opening)
        self.inspection = DispatchInspection(self.store, self.opening, self.decisions)
        self.server_id = registered(self.store).server_id
        ToolStore(self.store).take_in(self.server_id, "alice", self.tools, now(), "discovery")

    def asked(
        self, tool: str = "append_line", *, arguments: bytes = ARGUMENTS, **caller: str
    ) -> DispatchStanding:
        """A call that was asked for and judged."""
        dispatch_id = str(uuid4())
        kept = content_kept(dispatch_id, arguments)
        order = DispatchOrder(
            dispatch_id=dispatch_id,
            correlation_id=str(uuid4()),
            caller=DispatchCaller.model_validate({"user_id": "alice", "token_id": self.token_id} | caller),
            server_id=self.server_id,
            tool_name=tool,
            arguments_digest=digest_of(arguments),
            arguments_kept=None if kept is arguments else digest_of(kept),
            argument_names=("line",),
            request_summary=f"{tool} at {self.server_id} with line",
            timeout_ms=30_000,
            created_at=now(),
        )
        assert self.opening.prepare(order, kept) is None
        return self.opening.judge(order, now())

    def decide(
        self,
        call: DispatchStanding,
        decision: AskFirstDecision,
        *,
        at: datetime | None = None,
        by: str = "alice",
        edited: EditedArguments | None = None,
        seen: str | None = None,
        planned: Callable[[CallPlan], object] | None = None,
    ) -> DecisionTaken:
        """One person's answer; ``seen`` is the hash of the definition that they say they looked at."""
        key = CommitKey(owner_user_id="alice", key=str(uuid4()), request_digest=digest_of("x"))
        order = DecideOrder(
            dispatch_id=call.dispatch_id,
            commit_key=key,
            decision=decision,
            decided_by=by,
            edited=edited,
            seen_definition=seen,
            at=at or now(),
        )
        return self.decisions.decide(order, planned)

    def expire(self, call: DispatchStanding, at: datetime | None = None) -> DispatchStanding:
        """The deadline passes."""
        order = EndOrder(dispatch_id=call.dispatch_id, cause=EndCause.EXPIRED, at=at or now())
        return self.decisions.end(order)

    def order(self, call: DispatchStanding, attempt: int = 1) -> CallOrder:
        """An attempt of the call."""
        return CallOrder(dispatch_id=call.dispatch_id, attempt=attempt)

    def planned(self, call: DispatchStanding, attempt: int = 1) -> CallPlan:
        """The plan of an attempt that may be made."""
        plan = self.attempts.plan(self.order(call, attempt), now())
        assert isinstance(plan, CallPlan)
        return plan

    def sent(self, call: DispatchStanding, attempt: int = 1) -> None:
        """An attempt comes to where it is sent."""
        self.attempts.begin(self.order(call, attempt), self.planned(call, attempt), now())

    def inspected(
        self, call: DispatchStanding, attempt: int = 1, *, cancelled: bool = False
    ) -> tuple[DispatchStatus, bool]:
        """How the call stands after an attempt was not heard of, and whether it is to be tried again."""
        given_up = EndOrder(dispatch_id=call.dispatch_id, cause=EndCause.CANCELLED, by="alice")
        order = InspectOrder(
            dispatch_id=call.dispatch_id, attempt=attempt, cancelled=given_up if cancelled else None, at=now()
        )
        end = self.inspection.inspect(order)
        return end.standing.status, end.again_after_ms is not None

    def record(self, call: DispatchStanding) -> DispatchRecord:
        """The call as its row has it."""
        with self.store.read() as connection:
            kept = find_dispatch(connection, call.dispatch_id)
        assert kept is not None
        return kept.record


def now() -> datetime:
    """Now."""
    return datetime.now(UTC)
