"""The way from the API to a tool call's workflow: every command is one update-with-start."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial

import anyio.to_thread
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from api.mcp_dispatch_orders import argument_names, arguments_bytes, order_of
from api.mcp_dispatch_updates import DispatchUpdates
from api.opening_update import ANSWER_WITHIN
from api.own_keys import OWN_KEY_PREFIX
from api.update_errors import unavailable
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommitKey
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
    DispatchStanding,
    EditedArguments,
    EndCause,
    EndOrder,
)
from contracts.mcp.m365 import M365Asked
from contracts.runtime.identity import Principal
from domain.mcp.ask_first import scope_problem, undecidable, unseen
from stores.answers import Answers
from stores.blobs import put_blob
from stores.canonical import digest_of
from stores.database import Database
from stores.mcp.dispatch_opening import DispatchOpening
from stores.mcp.dispatch_rows import KeptDispatch
from stores.mcp.dispatches import DispatchStore
from stores.mcp.late_answers import note_late
from stores.mcp.m365_operations import as_tool_call
from stores.session_store import SessionStore
from workflows.ids import mcp_dispatch_id
from workflows.mcp_dispatch_workflow import McpDispatchWorkflow

_TOO_LATE = frozenset({ErrorCode.MCP_ASK_FIRST_DECIDED, ErrorCode.MCP_ASK_FIRST_EXPIRED})


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
        self._updates = DispatchUpdates(client, task_queue, dispatches, console_url, answer_within)

    async def dispatch(
        self, request: DispatchRequest, caller: Principal, key: CommitKey, correlation_id: str
    ) -> DispatchView:
        """Asks for one call, and waits at most ``request.wait_ms`` for its end or for it to wait for a person.

        The same key finds the same call. What the view says is what the store has: a call that is still under
        way goes on by itself.

        Raises:
            Refusal: ``PAYLOAD_TOO_LARGE``, ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``,
                ``MCP_TOOL_NOT_FOUND``, what ``as_tool_call`` refuses, ``TOO_MANY_REQUESTS``,
                ``IDEMPOTENCY_KEY_REUSED``, ``TEMPORAL_UNAVAILABLE``, which names the call's ``dispatch_id``.
        """
        request, m365 = await anyio.to_thread.run_sync(self._as_asked, request, caller.user_id)
        arguments = arguments_bytes(request.arguments)
        order = order_of(request, caller, key, correlation_id, digest_of(arguments))
        order = order.model_copy(update={"m365": m365})
        known = await anyio.to_thread.run_sync(self._opening.prepare, order, arguments)
        if known is None or known.record.status is DispatchStatus.RUNNING:
            since = 0 if known is None else known.version
            await self._updates.wait(order if known is None else known.record.order, request.wait_ms, since)
        return await self.view(order.dispatch_id, caller.user_id)

    def _as_asked(self, request: DispatchRequest, owner: str) -> tuple[DispatchRequest, M365Asked | None]:
        """The tool call that is asked for; a session that watches the agent sees it, whether it is named or not."""
        request, m365 = as_tool_call(self._database, request, owner)
        if request.learn_session_id is None:
            watching = SessionStore(self._database).watching_the_agent(owner)
            request = request.model_copy(update={"learn_session_id": watching})
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
                ``MCP_DISPATCH_NOT_FOUND``, ``VALIDATION_FAILED``, ``PAYLOAD_TOO_LARGE``, ``CONFLICT``.
        """
        try:
            return await self._decide(dispatch_id, asked, caller, key)
        except Refusal as refusal:
            if refusal.code in _TOO_LATE:
                await anyio.to_thread.run_sync(
                    note_late,
                    self._database,
                    dispatch_id,
                    asked.decision,
                    caller.user_id,
                    refusal,
                    datetime.now(UTC),
                )
            raise

    async def _decide(
        self, dispatch_id: str, asked: MCPAskFirstDecisionRequest, caller: Principal, key: CommitKey
    ) -> MCPAskFirstDecisionResponse:
        kept = await anyio.to_thread.run_sync(self._dispatches.owned, dispatch_id, caller.user_id)
        recalled = None if key.key.startswith(OWN_KEY_PREFIX) else await self._recall(key)
        if recalled is not None:
            return recalled.response
        refusal = (
            undecidable(kept.record, datetime.now(UTC))
            or unseen(kept.record, asked.arguments_digest, asked.tool_definition_hash)
            or scope_problem(asked.decision, kept.record)
        )
        if refusal is not None:
            raise refusal
        order = DecideOrder(
            dispatch_id=dispatch_id,
            commit_key=key,
            decision=asked.decision,
            decided_by=caller.user_id,
            reason=asked.reason,
            edited=await self._edited(asked),
            seen_arguments=asked.arguments_digest,
            seen_definition=asked.tool_definition_hash,
        )
        try:
            taken = await self._updates.send(
                kept.record.order, "decide", order, DecisionTaken, _update_id(key)
            )
        except Refusal:
            # It may have been taken by a worker whose word was lost, and the call now refuses a second answer.
            recalled = await self._recall(key)
            if recalled is None:
                raise
            return recalled.response
        return taken.response

    async def cancel(
        self, dispatch_id: str, asked: DispatchCancelRequest, caller: Principal, key: CommitKey
    ) -> DispatchView:
        """Gives a call up. One that has been sent may have had its effect: then it is ``outcome_unknown``.

        One that has ended stays as it is.

        Raises:
            Refusal: ``MCP_DISPATCH_NOT_FOUND``, ``TEMPORAL_UNAVAILABLE``.
        """
        kept = await anyio.to_thread.run_sync(self._dispatches.owned, dispatch_id, caller.user_id)
        if kept.record.status in OPEN_DISPATCH_STATUSES:
            await self._cancel(kept, caller.user_id, asked.reason, _update_id(key))
        return await self.view(dispatch_id, caller.user_id)

    async def reconsider(
        self, owner: str, *, server_id: str | None = None, tool_name: str | None = None
    ) -> int:
        """Has the owner's calls that wait look at policy and standing approvals again; how many were told."""
        look = partial(
            self._dispatches.waiting, owner, datetime.now(UTC), server_id=server_id, tool_name=tool_name
        )
        return await self._tell(await anyio.to_thread.run_sync(look))

    async def recheck(self, dispatch_ids: Iterable[str]) -> int:
        """Has these calls look again, where they still wait; how many were told.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``.
        """
        return await self._tell(dispatch_ids)

    async def _tell(self, dispatch_ids: Iterable[str]) -> int:
        told = 0
        for dispatch_id in dispatch_ids:
            handle = self._client.get_workflow_handle(mcp_dispatch_id(dispatch_id))
            try:
                await handle.signal(McpDispatchWorkflow.reconsider, rpc_timeout=self._answer_within)
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    continue
                raise unavailable(error) from error
            except RuntimeError as error:
                raise unavailable(error) from error
            told += 1
        return told

    async def _cancel(self, kept: KeptDispatch, by: str, reason: str | None, update_id: str) -> None:
        order = EndOrder(dispatch_id=kept.record.dispatch_id, cause=EndCause.CANCELLED, by=by, reason=reason)
        await self._updates.send(kept.record.order, "cancel", order, DispatchStanding, update_id)

    async def _edited(self, asked: MCPAskFirstDecisionRequest) -> EditedArguments | None:
        if asked.arguments is None:
            return None
        arguments = arguments_bytes(asked.arguments)

        def keep() -> str:
            with self._database.write() as connection:
                return put_blob(connection, arguments, datetime.now(UTC))

        digest = await anyio.to_thread.run_sync(keep)
        return EditedArguments(digest=digest, argument_names=argument_names(asked.arguments))

    async def _recall(self, key: CommitKey) -> DecisionTaken | None:
        kept = await anyio.to_thread.run_sync(self._answers.recall, key)
        return DecisionTaken.model_validate_json(kept) if kept is not None else None


def _update_id(key: CommitKey) -> str:
    return f"{key.owner_user_id}/{key.key}"
