"""The inbox of users: what arrives is written once under its key, and read newest first."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from contracts.inbox.items import SentItem, SentKind, SentState
from stores.inbox.inbox_tables import INBOX, inbox_items
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentPage


def put_item(connection: Connection, item: SentItem, key: str) -> SentItem:
    """Has an item arrive, once under its key: the one that is there already is given back."""
    if INBOX.add_if_absent(connection, item, key=key):
        return item
    known = INBOX.first(connection, inbox_items.c.owner == item.owner_user_id, inbox_items.c.key == key)
    assert known is not None, "what could not be added is there"
    return known


def withdraw_item(connection: Connection, item_id: str, now: datetime) -> None:
    """Takes an item back, if it is there: it waits no more."""
    item = INBOX.find(connection, item_id, lock=True)
    if item is not None:
        INBOX.replace(connection, item.changed(state=SentState.WITHDRAWN, updated_at=now))


_NOT_OVER = (SentState.ARRIVED, SentState.OPEN)


class Inbox:
    """The messages, check-ins and questions of all users, each apart. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, item: SentItem, key: str) -> tuple[SentItem, bool]:
        """Has an item arrive, once under its key; and whether it is new."""
        with self._database.write() as connection:
            kept = put_item(connection, item, key)
            return kept, kept.item_id == item.item_id

    def get(self, item_id: str, owner: str) -> SentItem:
        """An item.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return INBOX.owned(connection, item_id, owner)

    def page(
        self,
        owner: str,
        wanted: PageRequest,
        kinds: Sequence[SentKind] = tuple(SentKind),
        *,
        waiting: bool = False,
    ) -> DocumentPage[SentItem]:
        """Items, newest first; with ``waiting`` without the questions that wait for no answer any more."""
        states = _NOT_OVER if waiting else tuple(SentState)
        with self._database.read() as connection:
            return INBOX.page(
                connection,
                wanted,
                inbox_items.c.owner == owner,
                inbox_items.c.kind.in_([kind.value for kind in kinds]),
                inbox_items.c.state.in_([state.value for state in states]),
                order_by=(inbox_items.c.created_at.desc(), inbox_items.c.item_id.desc()),
            )
