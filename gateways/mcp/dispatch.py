"""Gateway to the workflow of a tool call: dispatch, decide, cancel, re-check."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation

from activities.mcp.dispatch_activities import RECONSIDER
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    DispatchCancelRequest,
    DispatchRequest,
    DispatchStatus,
    DispatchView,
    MCPAskFirstDecisionRequest,
    MCPAskFirstDecisionResponse,
)
from contracts.mcp.dispatch_work import (
    DecideOrder,
    DecisionTaken,
    DispatchOrder,
    EditedArguments,
    EndCause,
    EndOrder,
)
from contracts.mcp.m365 import M365Asked
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from contracts.workflow_ids import mcp_dispatch_id
from domain.mcp.approvals import undecidable
from gateways.mcp.dispatch_orders import argument_names, arguments_bytes, order_of
from gateways.platform.updates import (
    ANSWER_WITHIN,
    REOPENING_PAUSES,
    Answer,
    Message,
    Recall,
    StartOptions,
    Update,
    WorkflowWasClosing,
    signal_running,
    start_options,
    start_or_join,
    update_id_of,
    update_or_recall,
    update_running,
    update_with_start,
)
from stores.learning.sessions import SessionStore
from stores.mcp.dispatch.argument_rows import content_kept, forget_unused
from stores.mcp.dispatch.opening import DispatchOpening
from stores.mcp.dispatch.reads import DispatchStore, record_late_answer
from stores.mcp.dispatch.rows import find_dispatch
from stores.mcp.servers.m365_operations import as_tool_call
from stores.platform.answers import Answers
from stores.platform.blobs import put_blob
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from workflows.mcp.mcp_dispatch_view import KIND, summary_of
from workflows.mcp.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.mcp.mcp_messages import DispatchEnd, DispatchStart, DispatchWait, WaitUntil

_TOO_LATE = frozenset({ErrorCode.MCP_ASK_FIRST_DECIDED, ErrorCode.MCP_ASK_FIRST_EXPIRED})


class _NotTaken(Refusal):
    """No worker has taken the call in time; the refusal names the call, which may be made yet."""

    def __init__(self, dispatch_id: str) -> None:
        super().__init__(
            ErrorCode.TEMPORAL_UNAVAILABLE,
            "No worker has taken the call in time; it is made when one does. Look at it, or try again with the "
            "same key.",
            dispatch_id=dispatch_id,
        )


def dispatch_start_options(order: DispatchOrder, task_queue: str) -> StartOptions:
    """The options of the start of a call's workflow; one that runs is joined."""
    return start_options(
        mcp_dispatch_id(order.dispatch_id),
        task_queue,
        kind=KIND,
        owner=order.caller.user_id,
        summary=summary_of(order),
        memo={"correlation_id": order.correlation_id},
    )


async def run_dispatch(
    client: Client,
    task_queue: str,
    order: DispatchOrder,
    *,
    console_url: str | None,
    told: bool = False,
    look: bool = False,
) -> None:
    """Starts the workflow of a call that the store has; one that runs stays, and ``look``s at the store.

    Whether anybody was told that the call waits is lost with its workflow. Unless ``told``, it is told once more,
    under the name that the notice had.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``.
    """
    start = DispatchStart(order=order, console_url=console_url, told=told)
    options = dispatch_start_options(order, task_queue)
    await start_or_join(client, McpDispatchWorkflow.run, start, options, signal=RECONSIDER if look else None)


class McpDispatchGateway:
    """Asks for calls, decides about those that wait, gives calls up."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        database: Database,
        opening: DispatchOpening,
        dispatches: DispatchStore,
        *,
        console_url: str | None = None,
        answer_within: timedelta = ANSWER_WITHIN,
    ) -> None:
        self._client = client
        self._database = database
        self._answers = Answers(database)
        self._opening = opening
        self._dispatches = dispatches
        self._answer_within = answer_within
        self._task_queue = task_queue
        self._console_url = console_url

    async def dispatch(
        self, request: DispatchRequest, caller: Principal, key: CommitKey, correlation_id: str
    ) -> DispatchView:
        """Asks for one call, and waits at most ``request.wait_ms`` for its end or for it to wait for a person.

        The same key finds the same call. The view is what the store has: a call that is still under
        way goes on by itself.

        Raises:
            Refusal: ``PAYLOAD_TOO_LARGE``, ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``,
                ``MCP_TOOL_NOT_FOUND``, what ``as_tool_call`` refuses, ``TOO_MANY_REQUESTS``,
                ``IDEMPOTENCY_KEY_REUSED``, ``TEMPORAL_UNAVAILABLE``, which names the call's ``dispatch_id``.
        """
        request, m365 = await anyio.to_thread.run_sync(self._as_asked, request, caller.user_id)
        arguments = arguments_bytes(request.arguments)
        order, kept = order_of(request, caller, key, correlation_id, arguments)
        order = order.changed(m365=m365)
        known = await anyio.to_thread.run_sync(self._opening.prepare, order, kept)
        if known is None or known.record.status is DispatchStatus.RUNNING:
            since = 0 if known is None else known.version
            await self._wait(order if known is None else known.record.order, request.wait_ms, since)
        return await self.view(order.dispatch_id, caller.user_id)

    def _as_asked(self, request: DispatchRequest, owner: str) -> tuple[DispatchRequest, M365Asked | None]:
        """The tool call that is asked for; a session that watches the agent sees it, whether it is named or not."""
        request, m365 = as_tool_call(self._database, request, owner)
        if request.learn_session_id is None:
            watching = SessionStore(self._database).watching_the_agent(owner)
            request = request.changed(learn_session_id=watching)
        return request, m365

    async def view(self, dispatch_id: str, owner: str) -> DispatchView:
        """A call as it stands.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``.
        """
        return await anyio.to_thread.run_sync(self._dispatches.view, dispatch_id, owner, datetime.now(UTC))

    async def decide(
        self, dispatch_id: str, asked: MCPAskFirstDecisionRequest, caller: Principal, key: CommitKey
    ) -> MCPAskFirstDecisionResponse:
        """Answers about a call that waits. The first answer wins; the same key gets the first answer again.

        An answer that comes too late is put on record all the same.

        Raises:
            Refusal: ``MCP_ASK_FIRST_DECIDED`` with who was first, ``MCP_ASK_FIRST_EXPIRED``,
                ``MCP_TOOL_CHANGED``, ``MCP_DISPATCH_NOT_FOUND``, ``VALIDATION_FAILED``, ``PAYLOAD_TOO_LARGE``,
                ``CONFLICT``.
        """
        try:
            return await self._decide(dispatch_id, asked, caller, key)
        except Refusal as refusal:
            if refusal.code not in _TOO_LATE:
                raise
            now, by = datetime.now(UTC), caller.user_id
            late = (self._database, dispatch_id, asked.decision, by, refusal, now)
            raise await anyio.to_thread.run_sync(record_late_answer, *late) from None

    async def _decide(
        self, dispatch_id: str, asked: MCPAskFirstDecisionRequest, caller: Principal, key: CommitKey
    ) -> MCPAskFirstDecisionResponse:
        kept = await anyio.to_thread.run_sync(self._dispatches.owned, dispatch_id, caller.user_id)

        def refuse_unless_waiting() -> None:
            refusal = undecidable(kept.record, datetime.now(UTC))
            if refusal is not None:
                raise refusal

        order = DecideOrder(
            dispatch_id=dispatch_id,
            commit_key=key,
            decision=asked.decision,
            decided_by=caller.user_id,
            reason=asked.reason,
            edited=await self._edited(dispatch_id, asked),
            seen_arguments=asked.arguments_digest,
            seen_definition=asked.tool_definition_hash,
        )
        try:
            taken = await self._send(
                kept.record.order,
                McpDispatchWorkflow.decide,
                order,
                key,
                Recall(key, self._recall, tell=self._make_known),
                refuse_unless_waiting,
            )
        finally:
            if order.edited is not None and order.edited.kept is not None:
                await anyio.to_thread.run_sync(self._forget_unused, dispatch_id, order.edited.kept)
        return taken.response

    def _forget_unused(self, dispatch_id: str, edited: str) -> None:
        with self._database.write() as connection:
            kept = find_dispatch(connection, dispatch_id, lock=True)
            if kept is not None:
                forget_unused(connection, kept.record, edited)

    async def cancel(
        self, dispatch_id: str, asked: DispatchCancelRequest, caller: Principal, key: CommitKey
    ) -> DispatchView:
        """Gives a call up. One that has been sent may have had its effect: then it is ``outcome_unknown``.

        One that has ended stays as it is. What another token asked for is given up by who may approve it.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``, ``FORBIDDEN``, ``TEMPORAL_UNAVAILABLE``.
        """
        kept = await anyio.to_thread.run_sync(self._dispatches.owned, dispatch_id, caller.user_id)
        asked_by = kept.record.order.caller.token_id
        if caller.token_id != asked_by:
            caller.require(Scope.APPROVE, "Another token made this call: giving it up")
        if kept.record.status in OPEN_DISPATCH_STATUSES:
            order = EndOrder(
                dispatch_id=dispatch_id, cause=EndCause.CANCELLED, by=caller.user_id, reason=asked.reason
            )
            await self._cancelled(kept.record.order, order, key)
        return await self.view(dispatch_id, caller.user_id)

    async def _cancelled(self, call: DispatchOrder, order: EndOrder, key: CommitKey) -> None:
        """Sends the cancel, and once more where a busy worker did not answer it and the call has not ended by then.

        The second is the same update by its id, so it does nothing that the first did.
        """
        try:
            await self._send(call, McpDispatchWorkflow.cancel, order, key)
        except Refusal as refusal:
            if refusal.code is not ErrorCode.TEMPORAL_UNAVAILABLE:
                raise
            kept = await anyio.to_thread.run_sync(self._dispatches.find, call.dispatch_id)
            if kept is None or kept.record.status in OPEN_DISPATCH_STATUSES:
                await self._send(call, McpDispatchWorkflow.cancel, order, key)

    async def recheck(self, dispatch_ids: Iterable[str]) -> int:
        """Signals these calls to re-check, where they still wait; how many were signalled.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``.
        """
        signalled = 0
        for dispatch_id in dispatch_ids:
            workflow_id = mcp_dispatch_id(dispatch_id)
            signalled += await signal_running(
                self._client, workflow_id, RECONSIDER, within=self._answer_within
            )
        return signalled

    async def _wait(self, order: DispatchOrder, wait_ms: int, since: int) -> None:
        """Starts or joins the call and waits until it ends or waits for a person; then its row exists.

        ``since`` is the version of the row that the caller has seen.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``, which names the call's ``dispatch_id``.
        """
        if wait_ms:
            with suppress(_NotTaken):
                await self._until(order, WaitUntil.AT_REST, timedelta(milliseconds=wait_ms), since)
                return
            if await anyio.to_thread.run_sync(self._dispatches.find, order.dispatch_id) is not None:
                return
        await self._until(order, WaitUntil.JUDGED, self._answer_within, since)

    async def _until(self, order: DispatchOrder, until: WaitUntil, within: timedelta, since: int) -> None:
        wait = DispatchWait(dispatch_id=order.dispatch_id, until=until)
        # One id for all callers: a repeated request waits for the same update, unless the call has moved on since.
        update_id = f"dispatch/{until.value}/{since}"
        for pause in REOPENING_PAUSES:
            await anyio.sleep(pause)
            with suppress(WorkflowWasClosing):
                await update_with_start(
                    self._client,
                    self._start(order),
                    McpDispatchWorkflow.dispatch,
                    wait,
                    update_id=update_id,
                    within=within,
                    no_answer=partial(_NotTaken, order.dispatch_id),
                )
                return
            # A call that was closing has its row. A server under load can also lose an update on its way.
            if await anyio.to_thread.run_sync(self._dispatches.find, order.dispatch_id) is not None:
                return
        raise _NotTaken(order.dispatch_id)

    async def _send(
        self,
        order: DispatchOrder,
        update: Update[Message, Answer],
        message: Message,
        key: CommitKey,
        recall: Recall[Answer] | None = None,
        check: Callable[[], object] | None = None,
    ) -> Answer:
        """Sends one command to the workflow of a call, which is opened again if it has closed.

        Raises:
            Refusal: from the workflow; ``TEMPORAL_UNAVAILABLE`` when no worker answers.
        """
        update_id, within = update_id_of(key), self._answer_within
        workflow_id = mcp_dispatch_id(order.dispatch_id)

        async def first() -> Answer:
            return await update_running(
                self._client, workflow_id, update, message, update_id=update_id, within=within
            )

        async def attempt() -> Answer:
            return await update_with_start(
                self._client, self._start(order), update, message, update_id=update_id, within=within
            )

        return await update_or_recall(
            attempt,
            workflow_id=workflow_id,
            conflict="The call is changing too fast; repeat the command.",
            recall=recall,
            check=check,
            first=first,
        )

    def _start(self, order: DispatchOrder) -> WithStartWorkflowOperation[McpDispatchWorkflow, DispatchEnd]:
        return WithStartWorkflowOperation(
            McpDispatchWorkflow.run,
            DispatchStart(order=order, console_url=self._console_url),
            **dispatch_start_options(order, self._task_queue),
        )

    async def _edited(self, dispatch_id: str, asked: MCPAskFirstDecisionRequest) -> EditedArguments | None:
        if asked.arguments is None:
            return None
        arguments = arguments_bytes(asked.arguments)
        kept = content_kept(dispatch_id, arguments)

        def keep() -> str:
            with self._database.write() as connection:
                return put_blob(connection, kept, datetime.now(UTC))

        place = await anyio.to_thread.run_sync(keep)
        apart = None if kept is arguments else place
        return EditedArguments(
            digest=digest_of(arguments), kept=apart, argument_names=argument_names(asked.arguments)
        )

    async def _make_known(self, taken: DecisionTaken) -> None:
        """Has a call's workflow look at the store, unless the call has gone on since the answer; and its siblings'.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``.
        """
        dispatch_id = taken.standing.dispatch_id
        kept = await anyio.to_thread.run_sync(self._dispatches.find, dispatch_id)
        if kept is None or kept.version > taken.standing.version:
            return
        if kept.record.status in OPEN_DISPATCH_STATUSES:
            order = kept.record.order
            await run_dispatch(
                self._client, self._task_queue, order, console_url=self._console_url, look=True
            )
            await self.recheck(taken.siblings)
        else:
            await self.recheck([dispatch_id])

    def _recall(self, key: CommitKey) -> DecisionTaken | None:
        kept = self._answers.recall(key)
        return DecisionTaken.model_validate_json(kept) if kept is not None else None
