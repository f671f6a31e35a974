"""Questions of invocations: an invocation waits for an answer, which the same transaction writes and hands on (AI-32).

A question is open until it is answered, expires, or its invocation ends; the first of these wins.
"""

from datetime import datetime

from sqlalchemy import Connection

from contracts.errors import ErrorCode, Refusal
from contracts.inbox.items import SentItem, SentKind, SentState
from contracts.skills.invocation import OPEN_INVOCATION_STATUSES
from contracts.skills.invocation_work import InvocationOrder
from stores.inbox.inbox_tables import INBOX, inbox_items
from stores.platform.database import Database
from stores.skills.invocation_rows import change_invocation, find_invocation


def open_question(connection: Connection, invocation_id: str) -> SentItem | None:
    """The question that an invocation waits for."""
    return INBOX.first(
        connection,
        inbox_items.c.invocation_id == invocation_id,
        inbox_items.c.kind == SentKind.QUESTION.value,
        inbox_items.c.state == SentState.OPEN.value,
        lock=True,
    )


def close_question(connection: Connection, invocation_id: str, state: SentState, now: datetime) -> None:
    """Ends the question of an invocation, if it is still open."""
    question = open_question(connection, invocation_id)
    if question is not None:
        INBOX.replace(connection, question.changed(state=state, updated_at=now))


class Questions:
    """Answers questions of invocations. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def answer(self, item_id: str, owner: str, answer: str, by: str, now: datetime) -> SentItem:
        """Writes an answer, and has the invocation go on.

        Raises:
            Refusal: ``NOT_FOUND``, ``CONFLICT`` where it waits for no answer, ``VALIDATION_FAILED`` where it is none
                of the options.
        """
        with self._database.write() as connection:
            question = INBOX.owned(connection, item_id, owner)
            # The invocation's row is locked first, as whoever ends an invocation does.
            kept = find_invocation(connection, question.invocation_id, lock=True)
            question = INBOX.owned(connection, item_id, owner, lock=True)
            if question.kind is not SentKind.QUESTION:
                raise Refusal(ErrorCode.CONFLICT, "This is no question: it waits for no answer.")
            if question.state is not SentState.OPEN:
                raise Refusal(
                    ErrorCode.CONFLICT,
                    f"The question waits for no answer: it is {question.state.value}.",
                    current_state=question.state.value,
                )
            if question.options and answer not in question.options:
                raise Refusal(
                    ErrorCode.VALIDATION_FAILED,
                    "The answer is none of the options that the question names.",
                    fields=["answer"],
                )
            answered = question.changed(
                state=SentState.ANSWERED, answer=answer, answered_by=by, updated_at=now
            )
            INBOX.replace(connection, answered)
            if kept is None or kept.record.status not in OPEN_INVOCATION_STATUSES:
                return answered
            if kept.record.awaits_until is not None:
                change_invocation(connection, kept, kept.record.changed(awaits_until=None, updated_at=now))
            return answered

    def waiting(self, question: SentItem) -> InvocationOrder | None:
        """The invocation that a question belongs to, while it has not ended: its workflow is to be told."""
        with self._database.read() as connection:
            kept = find_invocation(connection, question.invocation_id)
        open_still = kept is not None and kept.record.status in OPEN_INVOCATION_STATUSES
        return kept.record.order if kept is not None and open_still else None
