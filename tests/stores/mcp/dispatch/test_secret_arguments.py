"""What a call was given under the name of a secret is gone from the store once the call has ended, however it ended."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select

from contracts.mcp.dispatch import AskFirstDecision
from contracts.mcp.dispatch_work import DispatchStanding, EditedArguments, EndCause, EndOrder
from domain.learning.redaction.secret_names import MASK
from domain.mcp.secret_arguments import without_secrets
from stores.mcp.dispatch.argument_rows import content_kept, forget_unused
from stores.mcp.dispatch.reads import DispatchStore
from stores.mcp.dispatch.rows import read_dispatch
from stores.platform.blobs import put_blob
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.tables import metadata
from tests.stores.mcp.call_desk import ANSWER, EXPIRY, CallDesk, now

SECRET = "hunter2"
ARGUMENTS = b'{"host":"mail","login":{"password":"hunter2","user":"bob"}}'


@pytest.fixture
def desk(store: Database) -> CallDesk:
    return CallDesk(store)


def everything(store: Database) -> str:
    """Every row of every table as text."""
    with store.read() as connection:
        rows = [row for table in metadata.sorted_tables for row in connection.execute(select(table)).all()]
    return repr(rows)


def completed(desk: CallDesk, call: DispatchStanding) -> None:
    desk.decide(call, AskFirstDecision.APPROVE_ONCE)
    desk.sent(call)
    desk.attempts.answered(desk.order(call), ANSWER, now(), signed_in=False)


def denied(desk: CallDesk, call: DispatchStanding) -> None:
    desk.decide(call, AskFirstDecision.DENY)


def expired(desk: CallDesk, call: DispatchStanding) -> None:
    desk.expire(call, now() + EXPIRY + timedelta(seconds=1))


def cancelled(desk: CallDesk, call: DispatchStanding) -> None:
    desk.decisions.end(EndOrder(dispatch_id=call.dispatch_id, cause=EndCause.CANCELLED, by="alice", at=now()))


def not_heard_of(desk: CallDesk, call: DispatchStanding) -> None:
    desk.decide(call, AskFirstDecision.APPROVE_ONCE)
    desk.sent(call)
    desk.inspected(call)


@pytest.mark.parametrize("end", [completed, denied, expired, cancelled, not_heard_of])
def test_no_row_holds_the_secret_of_a_call_that_has_ended(
    desk: CallDesk, end: Callable[[CallDesk, DispatchStanding], None]
) -> None:
    call = desk.asked(arguments=ARGUMENTS)
    end(desk, call)
    assert SECRET not in everything(desk.store)
    shown = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert shown.arguments == {"host": "mail", "login": {"password": MASK, "user": "bob"}}
    assert shown.arguments_digest == digest_of(ARGUMENTS)


EDITED = b'{"host":"mail","login":{"password":"swordfish","user":"bob"}}'


def edited_for(desk: CallDesk, call: DispatchStanding) -> EditedArguments:
    """What a person would send instead, kept as a decision is about to be asked for."""
    with desk.store.write() as connection:
        place = put_blob(connection, content_kept(call.dispatch_id, EDITED), now())
    return EditedArguments(digest=digest_of(EDITED), kept=place, argument_names=("host", "login"))


def forgotten(desk: CallDesk, call: DispatchStanding, edited: EditedArguments) -> bool:
    """Whether the edited arguments are gone, once whoever asked for the decision looks whether they are used."""
    with desk.store.write() as connection:
        record = read_dispatch(connection, call.dispatch_id).record
        forget_unused(connection, record, edited.kept or "")
    return "swordfish" not in everything(desk.store)


def test_edited_arguments_of_a_refused_or_repeated_decision_are_forgotten_at_once(desk: CallDesk) -> None:
    call = desk.asked(arguments=ARGUMENTS)
    edited = edited_for(desk, call)
    # Another answer may be about to be written with them.
    assert not forgotten(desk, call, edited)
    denied(desk, call)
    assert forgotten(desk, call, edited)
    assert forgotten(desk, call, edited_for(desk, call))


def test_edited_arguments_that_are_sent_stay_until_the_call_has_ended(desk: CallDesk) -> None:
    call = desk.asked(arguments=ARGUMENTS)
    edited = edited_for(desk, call)
    desk.decide(call, AskFirstDecision.APPROVE_ONCE, edited=edited)
    assert not forgotten(desk, call, edited)
    assert desk.planned(call).call.arguments["login"]["password"] == "swordfish"


def test_who_decides_about_a_call_sees_what_is_sent(desk: CallDesk) -> None:
    call = desk.asked(arguments=ARGUMENTS)
    shown = DispatchStore(desk.store).view(call.dispatch_id, "alice", now()).arguments
    assert shown is not None
    assert shown["login"]["password"] == SECRET


def test_the_same_arguments_of_another_call_are_still_sent(desk: CallDesk) -> None:
    first, second = desk.asked(arguments=ARGUMENTS), desk.asked(arguments=ARGUMENTS)
    denied(desk, first)
    desk.decide(second, AskFirstDecision.APPROVE_ONCE)
    assert desk.planned(second).call.arguments["login"]["password"] == SECRET


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"api_key": "a", "query": "b"}, {"api_key": MASK, "query": "b"}),
        ({"env": [{"OPENAI_KEY": "a"}]}, {"env": [{"OPENAI_KEY": MASK}]}),
        ({"credentials": {"user": "a"}}, {"credentials": MASK}),
        ({"pin": 1234}, {"pin": MASK}),
        ({"max_tokens": 100, "tokens": True, "password": None}, {"max_tokens": 100, "tokens": True, "password": None}),
        ({"key": "PROJ-1", "sort_key": "name", "title": "x"}, {"key": "PROJ-1", "sort_key": "name", "title": "x"}),
    ],
)  # fmt: skip
def test_arguments_are_masked_by_their_names(arguments: dict[str, object], kept: dict[str, object]) -> None:
    assert without_secrets(arguments) == kept
