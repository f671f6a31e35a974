"""Whoever decides about a call is told who asks: the token by its name, the runtime, the session, the ability."""

import io
from typing import Any

import pytest
from rich.console import Console, RenderableType

from cli.mcp.call_commands import call_view, calls_view, pending_view
from contracts.mcp.receipts import MCPReceiptKind
from contracts.platform.identity import Scope
from stores.mcp.dispatch.reads import DispatchStore
from stores.mcp.receipts import ReceiptReads
from stores.platform.database import Database, PageRequest
from stores.platform.tokens import create_token, revoke_token
from tests.stores.mcp.call_desk import CallDesk, now

WORDS = "token laptop-codex, runtime codex, session s1, turn t1"


@pytest.fixture
def desk(store: Database) -> CallDesk:
    """Calls with a token that has a name."""
    with store.write() as connection:
        token, _ = create_token(connection, "laptop-codex", "alice", (Scope.CALL,), now(), by="alice")
    return CallDesk(store, token_id=token.token_id)


def asked(desk: CallDesk) -> str:
    return desk.asked(runtime="codex", session_ref="s1", turn_ref="t1").dispatch_id


def read(view: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=400)
    console.print(view)
    return " ".join(console.file.getvalue().split())  # pyright: ignore[reportAttributeAccessIssue]


def test_a_call_its_list_and_the_list_of_what_waits_say_who_asks(desk: CallDesk) -> None:
    call, reads = asked(desk), DispatchStore(desk.store)
    shown: list[Any] = [
        call_view(reads.view(call, "alice", now())),
        calls_view(reads.list_for("alice", PageRequest(), now())),
        pending_view(reads.pending("alice", now())),
    ]
    assert [WORDS in read(view) for view in shown] == [True, True, True]


def test_a_token_that_was_revoked_since_is_said_to_be(desk: CallDesk) -> None:
    call = asked(desk)
    with desk.store.write() as connection:
        revoke_token(connection, desk.token_id, "alice", now=now())
    said = read(call_view(DispatchStore(desk.store).view(call, "alice", now())))
    assert "token laptop-codex (revoked since), runtime codex" in said


def test_the_receipt_of_what_waits_says_who_asks(desk: CallDesk) -> None:
    asked(desk)
    receipts = ReceiptReads(desk.store).newest("alice", 10).receipts
    (waits,) = [one for one in receipts if one.receipt_kind is MCPReceiptKind.ASK_FIRST]
    assert waits.summary.endswith(f"asked by token {desk.token_id}, runtime codex, session s1, turn t1")


def test_what_is_to_be_typed_names_the_call_though_another_is_equal(desk: CallDesk) -> None:
    call = asked(desk)
    asked(desk)
    said = read(call_view(DispatchStore(desk.store).view(call, "alice", now())))
    assert f"apprentice mcp approve {call} --seen" in said
