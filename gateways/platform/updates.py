"""Update-with-start of a workflow with idempotency: recall the stored answer, send, retry on closing, map errors.

Every command of the API and of the worker takes this one path. Starts without an update go through
``start_or_join``.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, NotRequired, TypedDict, TypeVar
from uuid import UUID, uuid5
from weakref import WeakValueDictionary

import anyio.to_thread
import structlog
from pydantic import BaseModel
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import TypedSearchAttributes, WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.types import MethodAsyncSingleParam
from temporalio.workflow import UpdateMethodMultiParam

from contracts.backoff import Backoff
from contracts.errors import ErrorCode, Refusal
from contracts.platform.commands import CommitKey
from workflows.platform.presets import WORKFLOW_TASK_TIMEOUT
from workflows.platform.search_attributes import search_attributes_of

log = structlog.get_logger(__name__)

ANSWER_WITHIN = timedelta(seconds=10)
"""How long a command waits for a worker before the client is asked to try again."""

MOST_IN_FLIGHT = 6
"""How many updates of this process one workflow is sent at a time; Temporal aborts those beyond ten."""

REOPENINGS = 10
"""How often an update is sent because the workflow run was closing, or its task failed."""

_REOPENING = Backoff(first=0.01, cap=1)
REOPENING_PAUSES = (0.0, *map(_REOPENING.delay, range(1, REOPENINGS)))
"""Seconds before each: a run closes in milliseconds, and a server that has just come back takes seconds."""

OWN_KEY_PREFIX = "once-"
"""Prefix of server-generated idempotency keys, for requests without one: no client can repeat such a key."""

Message = TypeVar("Message", bound=BaseModel)
Answer = TypeVar("Answer", bound=BaseModel)
Update = UpdateMethodMultiParam[[Any, Message], Coroutine[Any, Any, Answer]]
"""The update method of a workflow class, which takes one message."""


class StartOptions(TypedDict):
    """The options of a workflow start, beside its input."""

    id: str
    task_queue: str
    id_conflict_policy: WorkflowIDConflictPolicy
    static_summary: str
    search_attributes: TypedSearchAttributes
    memo: Mapping[str, Any] | None
    task_timeout: timedelta
    static_details: NotRequired[str]


def start_options(
    workflow_id: str,
    task_queue: str,
    *,
    kind: str,
    owner: str | None,
    summary: str,
    memo: Mapping[str, Any] | None = None,
    policy: WorkflowIDConflictPolicy = WorkflowIDConflictPolicy.USE_EXISTING,
) -> StartOptions:
    """The options of a start; by default it joins the run that exists."""
    return StartOptions(
        id=workflow_id,
        task_queue=task_queue,
        id_conflict_policy=policy,
        static_summary=summary,
        search_attributes=search_attributes_of(kind, owner),
        memo=memo,
        task_timeout=WORKFLOW_TASK_TIMEOUT,
    )


async def start_or_join(
    client: Client,
    run: MethodAsyncSingleParam[Any, Message, Any],
    message: Message,
    options: StartOptions,
    *,
    within: timedelta = ANSWER_WITHIN,
    signal: str | None = None,
    delay: timedelta | None = None,
) -> None:
    """Starts a workflow, or joins the run that exists where the conflict policy allows it.

    With ``signal`` the run is signalled, whether it is new or not. With ``delay`` a new run begins that much later.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; nothing was started.
        WorkflowAlreadyStartedError: the policy is ``FAIL`` and a run exists.
    """
    try:
        await client.start_workflow(
            run, message, **options, start_signal=signal, start_delay=delay, rpc_timeout=within
        )
    except (RPCError, RuntimeError) as error:
        # The SDK's first connection attempt fails with a plain RuntimeError.
        raise unavailable(error) from error


async def signal_running(client: Client, workflow_id: str, signal: str, *, within: timedelta) -> bool:
    """Signals a workflow if it runs; whether it does.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``.
    """
    try:
        await client.get_workflow_handle(workflow_id).signal(signal, rpc_timeout=within)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise unavailable(error) from error
    except RuntimeError as error:
        raise unavailable(error) from error
    return True


@dataclass(frozen=True)
class Recall(Generic[Answer]):
    """Reads the answer that is stored under an idempotency key; ``find`` blocks and runs in a thread."""

    key: CommitKey
    find: Callable[[CommitKey], Answer | None]
    tell: Callable[[Answer], Awaitable[object]] | None = None
    """Has a workflow run that knows the answer. The update that wrote it may have been lost before it reached the
    history: Temporal aborts updates beyond its limit of those in flight."""

    async def earlier(self) -> Answer | None:
        """The answer to an earlier request with this key; a server-generated key has none."""
        return None if self.key.key.startswith(OWN_KEY_PREFIX) else await self.now()

    async def now(self) -> Answer | None:
        """The answer stored under the key, if any."""
        found = await anyio.to_thread.run_sync(self.find, self.key)
        if found is not None and self.tell is not None:
            try:
                await self.tell(found)
            except Refusal as refusal:
                # What is answered is durable; the recovery of the workers looks for what nobody was told of.
                log.warning("a workflow was not told of a recalled answer", error=refusal.message)
        return found


def id_of_key(space: UUID, key: CommitKey, between: str = "/") -> str | None:
    """The id of what a client's key names, the same at each request; ``None`` for a server-generated key.

    ``between`` divides owner and key; it stays as it is, since a key may be repeated after an upgrade.
    """
    if key.key.startswith(OWN_KEY_PREFIX):
        return None
    return str(uuid5(space, f"{key.owner_user_id}{between}{key.key}"))


def update_id_of(key: CommitKey, seen: int | None = None) -> str:
    """The update id of a command: repeats of one idempotency key are one update to Temporal.

    Temporal repeats the answer of an update that ended, refusals that ask to try again too. ``seen``, the version of
    what the command was sent for, makes it another update once that has changed; the store knows the key.
    """
    named = f"{key.owner_user_id}/{key.key}"
    return named if seen is None else f"{named}@{seen}"


_TURNS: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()


@asynccontextmanager
async def _turn_at(workflow_id: str) -> AsyncGenerator[None]:
    """Waits while ``MOST_IN_FLIGHT`` updates of this process are under way to the workflow.

    Raises:
        Refusal: ``TOO_MANY_REQUESTS`` after ``ANSWER_WITHIN``.
    """
    turns = _TURNS.get(workflow_id)
    if turns is None:
        turns = _TURNS[workflow_id] = asyncio.Semaphore(MOST_IN_FLIGHT)
    try:
        await asyncio.wait_for(turns.acquire(), ANSWER_WITHIN.total_seconds())
    except TimeoutError:
        raise _too_many() from None
    try:
        yield
    finally:
        turns.release()


async def update_or_recall(
    attempt: Callable[[], Awaitable[Answer]],
    *,
    workflow_id: str,
    conflict: str,
    recall: Recall[Answer] | None = None,
    check: Callable[[], object] | None = None,
    first: Callable[[], Awaitable[Answer]] | None = None,
) -> Answer:
    """The answer of one update, or the answer that an earlier request with the same key was given.

    ``attempt`` sends the update with ``update_with_start``; it is repeated while runs are closing. ``check`` may
    block and refuse: a hopeless command need not open a workflow. ``first`` is tried before ``attempt``: a plain
    ``update_running``, where the workflow mostly runs. ``conflict`` is the message when every run was closing.

    Raises:
        Refusal: from ``check`` or ``attempt``; ``IDEMPOTENCY_KEY_REUSED``; ``CONFLICT``.
    """
    recalled = await recall.earlier() if recall is not None else None
    if recalled is not None:
        return recalled
    try:
        async with _turn_at(workflow_id):
            if check is not None:
                await anyio.to_thread.run_sync(check)
            send = first or attempt
            for pause in REOPENING_PAUSES:
                await asyncio.sleep(pause)
                try:
                    return await send()
                except WorkflowWasClosing as closing:
                    log.info("an update was not taken", workflow_id=workflow_id, cause=str(closing.__cause__))
                send = attempt
        raise Refusal(ErrorCode.CONFLICT, conflict)
    except Refusal:
        # May already be committed (same key at once, or lost reply): return the stored answer.
        recalled = await recall.now() if recall is not None else None
        if recalled is None:
            raise
        return recalled


async def update_with_start(
    client: Client,
    start: WithStartWorkflowOperation[Any, Any],
    update: UpdateMethodMultiParam[..., Coroutine[Any, Any, Answer]],
    *messages: BaseModel,
    within: timedelta,
    update_id: str | None = None,
    no_answer: Callable[[], Refusal] | None = None,
) -> Answer:
    """Sends one update, starting the workflow if it does not run, and waits ``within`` for the answer.

    Raises:
        Refusal: from the workflow, or the failure of the call.
        WorkflowWasClosing: the update may be sent again, with another ``start``.
    """
    try:
        with as_refusals(no_answer or no_worker_answers):
            async with asyncio.timeout(within.total_seconds()):
                found: Any = await client.execute_update_with_start_workflow(  # pyright: ignore[reportUnknownMemberType]
                    update,
                    args=messages,
                    start_workflow_operation=start,
                    id=update_id,
                    # Of two timeouts at one moment asyncio 3.11 may deliver both, the second to a later await.
                    rpc_timeout=within + timedelta(seconds=1),
                )
                return found
    except BaseException:
        _retrieve_failure(start)
        raise


async def update_running(
    client: Client,
    workflow_id: str,
    update: Update[Message, Answer],
    message: Message,
    *,
    update_id: str,
    within: timedelta,
) -> Answer:
    """Sends one update to a workflow that runs; without the start it costs the server half as much.

    Raises:
        Refusal: from the workflow, or the failure of the call.
        WorkflowWasClosing: it does not run.
    """
    with as_refusals(no_worker_answers):
        async with asyncio.timeout(within.total_seconds()):
            found: Any = await client.get_workflow_handle(workflow_id).execute_update(  # pyright: ignore[reportUnknownMemberType]
                update, message, id=update_id, rpc_timeout=within
            )
            return found


@asynccontextmanager
async def told_if_behind(
    is_behind: Callable[[], bool], tell: Callable[[], Awaitable[object]]
) -> AsyncGenerator[None]:
    """Around an update-with-start whose start holds a snapshot of the store.

    Where it fails and the store has moved on since, the run may be one that this very start opened, too late: it is
    told to look at the store. ``is_behind`` blocks.
    """
    try:
        yield
    except (Refusal, WorkflowWasClosing):
        if await anyio.to_thread.run_sync(is_behind):
            with suppress(Refusal):
                await tell()
        raise


def _retrieve_failure(start: WithStartWorkflowOperation[Any, Any]) -> None:
    """Retrieves the failure that the SDK stores in the start's future, which asyncio would report as unhandled.

    After a call that was given up the future is never resolved, so nothing waits here.
    """
    asking = start.workflow_handle()
    with suppress(Exception, asyncio.CancelledError):
        asking.send(None)
    asking.close()


class WorkflowWasClosing(Exception):
    """The run closed while the update was in flight; another attempt opens the next run."""


@contextmanager
def as_refusals(no_answer: Callable[[], Refusal]) -> Generator[None]:
    """Maps the failures of an update to refusals; ``no_answer`` makes the one when no worker has answered in time.

    Raises:
        Refusal: from the workflow, or the failure of the call.
        WorkflowWasClosing: the update may be sent again, to the next run.
    """
    try:
        yield
    except WorkflowUpdateFailedError as error:
        raise _answer_to(error) from None
    except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        raise no_answer() from error
    except RPCError as error:
        raise _rpc_refusal(error, no_answer) from error
    except RuntimeError as error:
        # The SDK's first connection attempt fails with a plain RuntimeError.
        raise unavailable(error) from error


def _answer_to(error: WorkflowUpdateFailedError) -> Exception:
    """The workflow's refusal in a failed update, or that its run was closing."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return error
    if cause.type == "AcceptedUpdateCompletedWorkflow":
        return WorkflowWasClosing()
    if cause.type not in ErrorCode.__members__:
        return Refusal(ErrorCode.INTERNAL_ERROR, f"{cause.type}: {cause.message}"[:240])
    extra: dict[str, Any] = cause.details[0] if cause.details else {}
    return Refusal(ErrorCode(cause.type), cause.message, **extra)


def _rpc_refusal(error: RPCError, no_answer: Callable[[], Refusal]) -> Exception:
    """The refusal of a failed call; ``no_answer`` when its time ran out."""
    match error.status:
        # FAILED_PRECONDITION: its task failed since the workflow was ending meanwhile; the update was not taken.
        case RPCStatusCode.NOT_FOUND | RPCStatusCode.FAILED_PRECONDITION | RPCStatusCode.ABORTED:
            return WorkflowWasClosing()
        case RPCStatusCode.RESOURCE_EXHAUSTED:
            return _too_many()
        case RPCStatusCode.DEADLINE_EXCEEDED | RPCStatusCode.CANCELLED:
            return no_answer()
        case _:
            return unavailable(error)


def _too_many() -> Refusal:
    return Refusal(ErrorCode.TOO_MANY_REQUESTS, "Too many commands at once; try again shortly.")


def no_worker_answers() -> Refusal:
    """Temporal accepted the command, and no worker answered in time."""
    return Refusal(
        ErrorCode.TEMPORAL_UNAVAILABLE, "No worker has answered in time; try again with the same key."
    )


def unavailable(error: Exception) -> Refusal:
    """Temporal cannot be reached."""
    log.warning("temporal is unavailable", error=str(error))
    return Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "Temporal cannot be reached; try again with the same key.")
