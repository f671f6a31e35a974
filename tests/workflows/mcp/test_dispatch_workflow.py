"""A call's workflow over activities in memory: policy, an approval, its deadline, retries, and giving up."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.testing import TimeSkipper
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from contracts.mcp.dispatch import (
    STATUS_AFTER,
    AskFirstDecision,
    AskFirstStatus,
    DispatchCaller,
    DispatchStatus,
    MCPAskFirstDecisionResponse,
    MCPAskFirstDispatchRecord,
)
from contracts.mcp.dispatch_work import (
    AskFirstAnswer,
    CallEnd,
    CallOrder,
    DecideOrder,
    DecisionTaken,
    DispatchOrder,
    DispatchStanding,
    EditedArguments,
    EndCause,
    EndOrder,
    InspectOrder,
    JudgeOrder,
    NoticeOrder,
    RecheckOrder,
    ReleaseOrder,
)
from contracts.mcp.policy import MCPServerTarget
from contracts.platform.commands import CommitKey
from workflows.mcp.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.mcp.mcp_messages import DispatchEnd, DispatchStart, DispatchWait

pytestmark = [pytest.mark.anyio, pytest.mark.everyday]

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
ASKED, EDITED = (digit * 64 for digit in "ab")

S = DispatchStatus
Handle = WorkflowHandle[McpDispatchWorkflow, DispatchEnd]


class Calls:
    """The store and the tool of one call, in memory; ``ends`` are what its attempts come to, one after another."""

    def __init__(self, judged: DispatchStatus, *ends: tuple[DispatchStatus, int | None]) -> None:
        self.order = DispatchOrder(
            dispatch_id=str(uuid4()),
            correlation_id=str(uuid4()),
            caller=DispatchCaller(user_id="alice", token_id=str(uuid4())),
            server_id="server",
            tool_name="append_line",
            arguments_digest=ASKED,
            request_summary="append_line at server",
            timeout_ms=1_000,
            created_at=datetime.now(UTC),
        )
        self.judged = judged
        self.ends = list(ends)
        self.notify = False
        self.attempts: list[tuple[int, datetime | None]] = []
        self.inspected: list[InspectOrder] = []
        self.decided: list[DecideOrder] = []
        self.ended: list[EndOrder] = []
        self.notified: list[str] = []
        self.siblings: tuple[str, ...] = ()
        self.released: list[str] = []
        self.hangs = False
        self.sent = asyncio.Event()
        self._standing: DispatchStanding | None = None

    @property
    def dispatch_id(self) -> str:
        return self.order.dispatch_id

    @activity.defn
    async def judge_dispatch(self, order: JudgeOrder) -> DispatchStanding:
        waits = self.judged is S.PENDING_APPROVAL
        return self._stands(
            self.judged, order.at, notify=self.notify, expires_at=order.at + HOUR if waits else None
        )

    @activity.defn
    async def decide_dispatch(self, order: DecideOrder) -> DecisionTaken:
        assert order.at is not None
        self.decided.append(order)
        status = STATUS_AFTER[order.decision]
        denied = status is AskFirstStatus.DENIED
        answer = AskFirstAnswer(status=status, by=order.decided_by, at=order.at)
        standing = self._stands(S.DENIED if denied else S.RUNNING, order.at, answer=answer)
        record = MCPAskFirstDispatchRecord(
            dispatch_id=order.dispatch_id,
            correlation_id=self.order.correlation_id,
            server_id=self.order.server_id,
            tool_name=self.order.tool_name,
            request_summary=self.order.request_summary,
            status=status,
            paused_dispatch_ref=order.dispatch_id,
            effective_policy_target=MCPServerTarget(server_id=self.order.server_id),
            expires_at=order.at + HOUR,
            created_at=order.at,
            updated_at=order.at,
            arguments_digest=ASKED if order.edited is None else order.edited.digest,
        )
        response = MCPAskFirstDecisionResponse(dispatch=record, resumed=not denied)
        return DecisionTaken(standing=standing, response=response, siblings=self.siblings)

    @activity.defn
    async def reconsider_dispatch(self, order: RecheckOrder) -> DispatchStanding:
        return self._stands(S.RUNNING, order.at)

    @activity.defn
    async def end_dispatch(self, order: EndOrder) -> DispatchStanding:
        assert order.at is not None
        self.ended.append(order)
        return self._stands(S.EXPIRED if order.cause is EndCause.EXPIRED else S.CANCELLED, order.at)

    @activity.defn
    async def call_tool(self, order: CallOrder) -> CallEnd:
        self.attempts.append((order.attempt, order.at))
        self.sent.set()
        if self.hangs:
            while True:
                activity.heartbeat()
                await asyncio.sleep(0.05)
        status, again = self.ends.pop(0)
        standing = self._stands(status, order.at or datetime.now(UTC), attempts=order.attempt)
        return CallEnd(standing=standing, again_after_ms=again)

    @activity.defn
    async def inspect_call(self, order: InspectOrder) -> CallEnd:
        self.inspected.append(order)
        status = S.OUTCOME_UNKNOWN if order.cancelled is None else S.CANCELLED
        return CallEnd(standing=self._stands(status, order.at, attempts=order.attempt))

    @activity.defn
    async def release_dispatches(self, order: ReleaseOrder) -> None:
        self.released.extend(order.dispatch_ids)

    @activity.defn
    async def tell_waiting(self, order: NoticeOrder) -> None:
        self.notified.append(order.dispatch_id)

    def activities(self) -> Sequence[Callable[..., Any]]:
        return [
            self.judge_dispatch,
            self.decide_dispatch,
            self.reconsider_dispatch,
            self.end_dispatch,
            self.call_tool,
            self.inspect_call,
            self.release_dispatches,
            self.tell_waiting,
        ]

    def answer(self, decision: AskFirstDecision, **fields: Any) -> DecideOrder:
        """An answer of Bob about the call."""
        key = CommitKey(owner_user_id="bob", key=str(uuid4()), request_digest=ASKED)
        return DecideOrder(
            dispatch_id=self.dispatch_id, commit_key=key, decision=decision, decided_by="bob", **fields
        )

    def given_up(self) -> EndOrder:
        """Alice wants the call no longer."""
        return EndOrder(dispatch_id=self.dispatch_id, cause=EndCause.CANCELLED, by="alice")

    def _stands(self, status: DispatchStatus, at: datetime, **fields: Any) -> DispatchStanding:
        before = self._standing
        known = {} if before is None else {"attempts": before.attempts, "answer": before.answer}
        self._standing = DispatchStanding(
            dispatch_id=self.dispatch_id,
            status=status,
            version=1 if before is None else before.version + 1,
            timeout_ms=self.order.timeout_ms,
            since=at,
            **(known | fields),
        )
        return self._standing


@asynccontextmanager
async def dispatched(env: TimeSkipper, calls: Calls) -> AsyncIterator[Handle]:
    """The workflow of the call, started, once it has ended or waits, with its worker."""
    queue = f"dispatch-{uuid4()}"
    async with Worker(
        env.client,
        task_queue=queue,
        workflows=[McpDispatchWorkflow],
        activities=calls.activities(),
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        yield await env.client.start_workflow(
            McpDispatchWorkflow.run, DispatchStart(order=calls.order), id=queue, task_queue=queue
        )


async def waits(handle: Handle, calls: Calls) -> DispatchStanding:
    """How the call stands once it has ended or waits for a person."""
    return await handle.execute_update(
        McpDispatchWorkflow.dispatch, DispatchWait(dispatch_id=calls.dispatch_id)
    )


async def refusal_of(handle: Handle, order: DecideOrder) -> str | None:
    """The error code with which an answer is refused."""
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update(McpDispatchWorkflow.decide, order)
    assert isinstance(refused.value.cause, ApplicationError)
    return refused.value.cause.type


async def test_a_call_that_policy_allows_is_made_once_and_nobody_is_asked(skipping_env: TimeSkipper) -> None:
    calls = Calls(S.RUNNING, (S.COMPLETED, None))
    async with dispatched(skipping_env, calls) as handle:
        assert await handle.result() == DispatchEnd(status=S.COMPLETED, attempts=1)
    assert [number for number, _ in calls.attempts] == [1]
    assert (calls.notified, calls.inspected, calls.ended) == ([], [], [])


async def test_a_call_that_policy_blocks_is_not_made(skipping_env: TimeSkipper) -> None:
    calls = Calls(S.BLOCKED)
    async with dispatched(skipping_env, calls) as handle:
        assert await handle.result() == DispatchEnd(status=S.BLOCKED, attempts=0)
    assert calls.attempts == []


async def test_a_call_that_waits_is_made_only_after_its_approval_and_its_waiting_is_notified(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL, (S.COMPLETED, None))
    calls.notify = True
    async with dispatched(skipping_env, calls) as handle:
        assert (await waits(handle, calls)).status is S.PENDING_APPROVAL
        await skipping_env.fast_forward(handle, 30 * MINUTE)
        assert calls.attempts == []
        taken = await handle.execute_update(
            McpDispatchWorkflow.decide, calls.answer(AskFirstDecision.APPROVE_ONCE)
        )
        assert taken.standing.status is S.RUNNING
        assert (await handle.result()).status is S.COMPLETED
    assert len(calls.attempts) == 1
    assert calls.notified == [calls.dispatch_id]


async def test_a_denied_call_is_never_made(skipping_env: TimeSkipper) -> None:
    calls = Calls(S.PENDING_APPROVAL)
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        await handle.execute_update(McpDispatchWorkflow.decide, calls.answer(AskFirstDecision.DENY))
        assert await handle.result() == DispatchEnd(status=S.DENIED, attempts=0)
    assert calls.attempts == []


async def test_edited_arguments_are_recorded_with_the_approval_before_the_call_is_made(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL, (S.COMPLETED, None))
    edited = EditedArguments(digest=EDITED, argument_names=("line",))
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        taken = await handle.execute_update(
            McpDispatchWorkflow.decide, calls.answer(AskFirstDecision.APPROVE_ONCE, edited=edited)
        )
        assert taken.response.dispatch.arguments_digest == EDITED
        assert (await handle.result()).status is S.COMPLETED
    assert [order.edited for order in calls.decided] == [edited]
    assert len(calls.attempts) == 1


async def test_of_two_answers_at_once_the_first_is_recorded_and_the_second_refused(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL, (S.COMPLETED, None))
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        both = await asyncio.gather(
            *(
                handle.execute_update(McpDispatchWorkflow.decide, calls.answer(decision))
                for decision in (AskFirstDecision.APPROVE_ONCE, AskFirstDecision.DENY)
            ),
            return_exceptions=True,
        )
        await handle.result()
    assert len(calls.decided) == 1
    # The later one is refused by the call, or comes when it has ended.
    assert sum(isinstance(one, WorkflowUpdateFailedError | RPCError) for one in both) == 1


async def test_an_approval_for_a_session_has_the_other_calls_that_wait_look_again(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL, (S.COMPLETED, None))
    calls.siblings = (str(uuid4()), str(uuid4()))
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        await handle.execute_update(
            McpDispatchWorkflow.decide, calls.answer(AskFirstDecision.APPROVE_FOR_SESSION)
        )
        await handle.result()
    assert calls.released == list(calls.siblings)


async def test_a_call_that_nobody_answers_expires_at_its_deadline_and_not_before(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL)
    async with dispatched(skipping_env, calls) as handle:
        deadline = (await waits(handle, calls)).expires_at
        assert deadline is not None
        await skipping_env.fast_forward(handle, HOUR - MINUTE)
        assert (await waits(handle, calls)).status is S.PENDING_APPROVAL
        await skipping_env.fast_forward(handle, 2 * MINUTE)
        assert await handle.result() == DispatchEnd(status=S.EXPIRED, attempts=0)
    (ended,) = calls.ended
    assert ended.cause is EndCause.EXPIRED
    assert ended.at is not None
    assert deadline <= ended.at < deadline + MINUTE
    assert calls.attempts == []


async def test_a_call_that_waits_and_is_released_by_policy_is_made_without_an_answer(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL, (S.COMPLETED, None))
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        await handle.signal(McpDispatchWorkflow.reconsider)
        assert (await handle.result()).status is S.COMPLETED
    assert calls.decided == []


async def test_between_two_attempts_the_call_rests_for_the_backoff(skipping_env: TimeSkipper) -> None:
    ten_minutes = 10 * 60_000
    calls = Calls(S.RUNNING, (S.RUNNING, ten_minutes), (S.COMPLETED, None))
    async with dispatched(skipping_env, calls) as handle:
        await calls.sent.wait()
        await skipping_env.fast_forward(handle, 9 * MINUTE)
        assert len(calls.attempts) == 1
        await skipping_env.fast_forward(handle, 2 * MINUTE)
        assert await handle.result() == DispatchEnd(status=S.COMPLETED, attempts=2)
    (first, begun), (second, again) = calls.attempts
    assert (first, second) == (1, 2)
    assert begun is not None
    assert again is not None
    assert timedelta(minutes=10) <= again - begun < timedelta(minutes=11)


async def test_a_call_that_rests_is_tried_at_once_when_its_server_is_well_again(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.RUNNING, (S.RUNNING, 60 * 60_000), (S.COMPLETED, None))
    async with dispatched(skipping_env, calls) as handle:
        await calls.sent.wait()
        await skipping_env.fast_forward(handle, MINUTE)
        await handle.signal(McpDispatchWorkflow.reconsider)
        assert (await handle.result()).attempts == 2


async def test_a_cancelled_call_that_waits_ends_without_being_made_and_takes_no_answer(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.PENDING_APPROVAL)
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        standing = await handle.execute_update(McpDispatchWorkflow.cancel, calls.given_up())
        assert standing.status is S.CANCELLED
        assert (await handle.result()).status is S.CANCELLED
    (ended,) = calls.ended
    assert (ended.cause, ended.by) == (EndCause.CANCELLED, "alice")
    assert calls.attempts == []


async def test_a_call_cancelled_while_it_is_made_is_cut_short_and_asked_after(
    skipping_env: TimeSkipper,
) -> None:
    calls = Calls(S.RUNNING)
    calls.hangs = True
    async with dispatched(skipping_env, calls) as handle:
        await calls.sent.wait()
        await handle.execute_update(McpDispatchWorkflow.cancel, calls.given_up())
        assert (await handle.result()).status is S.CANCELLED
    (inspected,) = calls.inspected
    assert inspected.cancelled is not None
    assert inspected.cancelled.by == "alice"


async def test_an_attempt_that_was_lost_is_asked_after_and_not_repeated(skipping_env: TimeSkipper) -> None:
    calls = Calls(S.RUNNING)  # The attempt fails: it has no end.
    async with dispatched(skipping_env, calls) as handle:
        assert (await handle.result()).status is S.OUTCOME_UNKNOWN
    assert len(calls.attempts) == 1
    assert [order.attempt for order in calls.inspected] == [1]


async def test_an_answer_about_another_call_is_refused(skipping_env: TimeSkipper) -> None:
    calls = Calls(S.PENDING_APPROVAL)
    async with dispatched(skipping_env, calls) as handle:
        await waits(handle, calls)
        other = calls.answer(AskFirstDecision.DENY).changed(dispatch_id=str(uuid4()))
        assert await refusal_of(handle, other) == "INTERNAL_ERROR"
        await handle.execute_update(McpDispatchWorkflow.cancel, calls.given_up())
        await handle.result()
    assert calls.decided == []
