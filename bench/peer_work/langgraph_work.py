"""The work of ``bench.peers`` as graphs of LangGraph, in an environment that has LangGraph and nothing of ours.

Usage: ``python langgraph_work.py DATABASE_FILE TOOL_URL``; requests and answers as in ``dbos_work.py``. LangGraph
has no worker that finds what was left: the process that resumes a graph runs it.
"""

import asyncio
import json
import sys
import time
import uuid
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from mcp import Client

DATABASE_FILE, TOOL_URL = sys.argv[1:]
tool = Client(TOOL_URL)


class Call(TypedDict):
    """A call that is asked about."""

    key: str
    approved: bool


class Session(TypedDict):
    """A session that takes commands."""

    left: int
    entry: Any


async def ask(state: Call) -> dict:
    """Waits for a person's approval."""
    return {"approved": interrupt("approve?") == "approve"}


async def call_tool(state: Call) -> dict:
    """Calls the tool as an approved call does."""
    await tool.call_tool("append_line", {"line": "x"}, meta={"apprentice/idempotency-key": state["key"]})
    return {}


async def take(state: Session) -> dict:
    """Takes a command and keeps what it brought."""
    return {"entry": interrupt("next?"), "left": state["left"] - 1}


def graphs(saver: AsyncSqliteSaver) -> tuple[Any, Any]:
    """The asked call and the session."""
    call = StateGraph(Call)
    call.add_node("ask", ask)
    call.add_node("call_tool", call_tool)
    call.add_edge(START, "ask")
    call.add_edge("ask", "call_tool")
    call.add_edge("call_tool", END)
    session = StateGraph(Session)
    session.add_node("take", take)
    session.add_edge(START, "take")
    session.add_conditional_edges("take", lambda state: "take" if state["left"] else END)
    return call.compile(checkpointer=saver), session.compile(checkpointer=saver)


def thread() -> dict:
    """A new thread of a graph."""
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


async def approvals(graph: Any, number: int) -> float:
    """Seconds from the approvals of so many waiting calls, at once, to the last one's end."""
    threads = [thread() for _ in range(number)]
    for one in threads:
        await graph.ainvoke(
            {"key": one["configurable"]["thread_id"], "approved": False}, one, durability="sync"
        )
    begun = time.perf_counter()
    await asyncio.gather(
        *(graph.ainvoke(Command(resume="approve"), one, durability="sync") for one in threads)
    )
    return time.perf_counter() - begun


async def lifecycle(graph: Any, entries: list) -> float:
    """Seconds for a session that takes these commands, one after the other."""
    one = thread()
    begun = time.perf_counter()
    await graph.ainvoke({"left": len(entries), "entry": None}, one, durability="sync")
    for entry in entries:
        await graph.ainvoke(Command(resume=entry), one, durability="sync")
    return time.perf_counter() - begun


async def main() -> None:
    """Answers requests until there are no more."""
    async with AsyncSqliteSaver.from_conn_string(DATABASE_FILE) as saver, tool:
        await saver.conn.execute("PRAGMA synchronous=FULL")
        call, session = graphs(saver)
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            used = time.process_time()
            if "approvals" in request:
                seconds = await approvals(call, request["approvals"])
            else:
                seconds = await lifecycle(session, request["entries"])
            print(json.dumps({"seconds": seconds, "processor": time.process_time() - used}), flush=True)


asyncio.run(main())
