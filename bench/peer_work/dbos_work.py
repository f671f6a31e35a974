"""The work of ``bench.peers`` as an application of DBOS, in an environment that has DBOS and nothing of ours.

Usage: ``python dbos_work.py DATABASE_URL TOOL_URL``. Each line on standard input is a request, ``bench.peers`` says of
what; each is answered by a line with the seconds that it took and the processor time of this process.
"""

import asyncio
import contextlib
import json
import sys
import time
import uuid

from dbos import DBOS
from mcp import Client

DATABASE_URL, TOOL_URL = sys.argv[1:]
tool = Client(TOOL_URL)
waiting = asyncio.Semaphore(0)


@DBOS.step()
async def call_tool(key: str) -> bool:
    """Calls the tool as an approved call does."""
    answer = await tool.call_tool("append_line", {"line": "x"}, meta={"apprentice/idempotency-key": key})
    return not answer.is_error


@DBOS.step()
async def record(entry: dict) -> dict:
    """Keeps what a command brought: a step's result is written by DBOS."""
    return entry


@DBOS.workflow()
async def asked_call(key: str) -> bool:
    """Waits for a person's approval and makes the call."""
    waiting.release()
    decision = await DBOS.recv_async("decision", timeout_seconds=600)
    return decision == "approve" and await call_tool(key)


@DBOS.workflow()
async def session(commands: int) -> int:
    """Takes so many commands, records each and answers it."""
    for number in range(commands):
        entry = await DBOS.recv_async("command", timeout_seconds=600)
        await record(entry)
        await DBOS.set_event_async(f"answer-{number}", len(entry))
    return commands


async def approvals(number: int) -> float:
    """Seconds from the approvals of so many waiting calls, at once, to the last one's end."""
    handles = [await DBOS.start_workflow_async(asked_call, str(uuid.uuid4())) for _ in range(number)]
    for _ in range(number):
        await waiting.acquire()
    begun = time.perf_counter()

    async def approve(handle) -> None:
        await DBOS.send_async(handle.workflow_id, "approve", "decision")
        assert await handle.get_result(polling_interval_sec=0.005)

    await asyncio.gather(*map(approve, handles))
    return time.perf_counter() - begun


async def lifecycle(entries: list) -> float:
    """Seconds for a session that takes these commands, one after the other, each when the one before is answered."""
    begun = time.perf_counter()
    handle = await DBOS.start_workflow_async(session, len(entries))
    for number, entry in enumerate(entries):
        await DBOS.send_async(handle.workflow_id, entry, "command")
        await DBOS.get_event_async(handle.workflow_id, f"answer-{number}")
    await handle.get_result(polling_interval_sec=0.005)
    return time.perf_counter() - begun


async def main() -> None:
    """Answers requests until there are no more."""
    # What it prints would be taken for an answer.
    with contextlib.redirect_stdout(sys.stderr):
        DBOS(
            config={
                "name": "peer",
                "system_database_url": DATABASE_URL,
                "log_level": "ERROR",
                "run_admin_server": False,
            }
        )
        DBOS.launch()
    async with tool:
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            used = time.process_time()
            work = (
                approvals(request["approvals"]) if "approvals" in request else lifecycle(request["entries"])
            )
            seconds = await work
            print(json.dumps({"seconds": seconds, "processor": time.process_time() - used}), flush=True)
    DBOS.destroy()


asyncio.run(main())
