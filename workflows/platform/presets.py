"""Named timeouts and retries. Every activity call uses one of these."""

from datetime import timedelta
from typing import TypedDict

from temporalio.common import RetryPolicy

WORKFLOW_TASK_TIMEOUT = timedelta(seconds=3)
"""After this a workflow task that a killed worker had taken is given to another; the server's default is 10 s.

A command waits ten seconds for its answer, so that one which came at the moment of the kill still gets it. A task
whose local activities take longer goes on: the worker reports that it is alive.
"""


class LocalCall(TypedDict):
    """How a local activity is tried: within the worker, for work of milliseconds."""

    start_to_close_timeout: timedelta
    retry_policy: RetryPolicy


class RemoteCall(LocalCall):
    """How an ordinary activity is tried: by any worker, watched by its heartbeat."""

    heartbeat_timeout: timedelta


STORE_CALL = LocalCall(
    start_to_close_timeout=timedelta(seconds=20),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=10)
    ),
)
"""A transaction of milliseconds: retried for ever, because what was acknowledged must come true."""

CHECK_CALL = LocalCall(
    start_to_close_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=5),
)
"""A pure check over a stored draft: if it still fails after five tries it is broken, not unlucky."""

SAGA_STEP = LocalCall(
    start_to_close_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=200),
        maximum_interval=timedelta(seconds=5),
        maximum_attempts=5,
    ),
)
"""One step of an install: 30 s, 5 attempts (decisions "Numbers"), then the saga is undone."""

UNDO_STEP = LocalCall(
    start_to_close_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        maximum_interval=timedelta(seconds=30),
        maximum_attempts=20,
    ),
)
"""An undo is tried far longer than its step was: giving up leaves something half done."""

REHEARSAL = RemoteCall(
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=timedelta(seconds=60),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3),
)
"""Runs real commands for minutes; a lost worker is noticed by its heartbeat."""

SESSION_COMMANDS = RemoteCall(
    start_to_close_timeout=timedelta(minutes=5),
    heartbeat_timeout=timedelta(seconds=60),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10), maximum_attempts=10
    ),
)
"""A handful of commands to a learning session, each of which waits for a worker; given up after some minutes."""

EVIDENCE = RemoteCall(
    start_to_close_timeout=timedelta(minutes=4),
    heartbeat_timeout=timedelta(seconds=60),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=2),
)
"""Replays a demonstration with a waiting client; what it cannot find out is an answer, so only a lost worker counts."""

SWEEP_PAGE = RemoteCall(
    start_to_close_timeout=timedelta(minutes=5),
    heartbeat_timeout=timedelta(seconds=60),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=10),
)
"""One page of nightly maintenance."""

MODEL_CALL = RemoteCall(
    start_to_close_timeout=timedelta(seconds=75),
    heartbeat_timeout=timedelta(seconds=10),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=2),
)
"""A language model with a waiting client: what it gets wrong is an answer, so only a lost worker is retried."""

IMPORT_WORK = RemoteCall(
    start_to_close_timeout=timedelta(minutes=10),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30), maximum_attempts=5
    ),
)
"""Unpacks and reads an uploaded bundle of at most 100 MiB: refusals are final, a lost worker is retried."""

SERVER_PROBE = RemoteCall(
    start_to_close_timeout=timedelta(seconds=90),
    heartbeat_timeout=timedelta(seconds=15),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3),
)
"""One look at a tool server: what the server gets wrong is an answer, so only a lost worker is retried."""

RELEASE_CALL = RemoteCall(
    start_to_close_timeout=timedelta(seconds=60),
    heartbeat_timeout=timedelta(seconds=15),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=10),
)
"""Signals to calls that wait: harmless to repeat, and those calls can always be approved by hand."""

STOP_CALLS = RemoteCall(
    start_to_close_timeout=timedelta(minutes=2),
    heartbeat_timeout=timedelta(seconds=15),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=30)
    ),
)
"""Calls of an ability that went out of use: tried until none runs or waits."""

NOTICE_CALL = RemoteCall(
    start_to_close_timeout=timedelta(seconds=30),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=2), maximum_interval=timedelta(minutes=1), maximum_attempts=8
    ),
)
"""A webhook: tried for some minutes; the call goes on whether it arrives or not."""

_AROUND_A_CALL = timedelta(seconds=60)
"""What renewing a token and writing the answer may take beyond the tool's own time."""


def tool_call_preset(timeout_ms: int) -> RemoteCall:
    """One attempt of a tool call. It is never retried by itself: what became of it is asked first."""
    return RemoteCall(
        start_to_close_timeout=timedelta(milliseconds=timeout_ms) + _AROUND_A_CALL,
        heartbeat_timeout=timedelta(seconds=8),
        retry_policy=RetryPolicy(maximum_attempts=1),
    )
