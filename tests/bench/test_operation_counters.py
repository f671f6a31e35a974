"""What an approval, a session command and an install ask of the store: bounds that a change may not go beyond.

The counters are of API and worker, whose projection is left out: when it runs does not follow from the command alone.
"""

from contextlib import closing
from pathlib import Path

import pytest

from bench.counters import Counts, counting
from bench.dispatch import registered
from bench.operations import (
    MAX_STATEMENTS,
    MAX_WRITES,
    counted_approval,
    counted_command,
    counted_install,
)
from bench.skills import MAX_CACHED_STATEMENTS, counted_answer, invoked
from contracts.mcp.provider import MCPTransport
from stores.platform.database import Database
from stores.platform.journal.journal import read_stream
from stores.platform.projection.documents import put_documents
from stores.skills.invocation_rows import RECORDS
from tests.fixtures.databases import migrated
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.skill_folders import add_skill
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


def within(counts: Counts, operation: str) -> None:
    """Fails with every statement where there are more than the operation may have."""
    ran = "\n".join(
        f"{times} {' '.join(text.split())[:160]}" for text, times in counts.statements.most_common()
    )
    assert 0 < counts.total <= MAX_STATEMENTS[operation], ran
    assert 0 < counts.writes <= MAX_WRITES[operation]


async def test_an_approved_call_takes_three_transactions_and_less_than_thirty_statements(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path, mcp_allow_private_addresses=True), client) as stack:
        alice = stack.learner("alice", (*EVERYDAY_SCOPES, "call"))
        server_id = await registered(alice, tool_server, MCPTransport.REMOTE_HTTP)
        await counted_approval(stack, alice, server_id)
        within(await counted_approval(stack, alice, server_id), "approval")


async def test_a_session_command_is_one_transaction_of_a_dozen_statements(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await counted_command(alice, 1)
    within(await counted_command(alice, 2), "command")


async def test_an_install_takes_little_more_than_a_hundred_statements(stack: Stack) -> None:
    alice = stack.learner()
    # The first one of a store also makes the files that list abilities.
    await counted_install(alice)
    within(await counted_install(alice), "install")


async def test_a_kept_answer_of_a_skill_waits_for_no_disk_and_is_on_record(stack: Stack) -> None:
    alice = stack.learner(scopes=(*EVERYDAY_SCOPES, "call", "admin"))
    await add_skill(alice, stack.settings.workspace, "look-again", cache_ttl_ms=3_600_000)
    await invoked(alice, "look-again", {})
    await counted_answer(alice, "look-again")
    counts = await counted_answer(alice, "look-again")
    ran = "\n".join(f"{times} {text}" for text, times in counts.statements.most_common())
    assert 0 < counts.total <= MAX_CACHED_STATEMENTS, ran
    assert (counts.writes, counts.unsynced_writes) == (1, 1)
    found = (await alice.ok("GET", "/api/skills/invocations"))["invocations"]
    assert [one["cached"] for one in found] == [True, True, False]
    with stack.database.read() as connection:
        assert len(read_stream(connection, RECORDS)) == 3
    # Whoever has a key is told the same for ever.
    with counting() as counts:
        await alice.ok("POST", "/api/skills/look-again/invocations", {"input": {}}, idempotency_key="once")
    assert (counts.writes > 0, counts.unsynced_writes) == (True, 0)


def test_statements_and_transactions_are_counted_while_the_block_runs(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    with closing(Database(url)) as store:
        with counting() as counts:
            with store.write() as connection:
                put_documents(connection, "memory", {"a.json": b"1", "b.json": b"2"})
            with store.read() as connection:
                connection.exec_driver_sql("SELECT 1")
        with store.read() as connection:
            connection.exec_driver_sql("SELECT 2")
    assert (counts.writes, counts.reads, counts.statements["SELECT 1"]) == (1, 1, 1)
    assert counts.total == 4, counts.statements
    assert "SELECT 2" not in counts.statements
