"""Check-ins in the store: scheduled once under their key, fired once, or cancelled before."""

from datetime import datetime

from sqlalchemy import Column, Index, Table, Text, UniqueConstraint
from uuid_utils import uuid7

from contracts.errors import ErrorCode, Refusal
from contracts.inbox.items import SentItem, SentKind, SentState
from contracts.memory.check_ins import CheckIn, CheckInOrder, CheckInStanding, CheckInState
from contracts.workflow_ids import check_in_workflow_id
from stores.inbox.inbox import put_item
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentPage, DocumentTable
from stores.platform.tables import metadata

check_ins = Table(
    "memory_check_ins",
    metadata,
    Column("check_in_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("due_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("owner", "key", name="scheduled_once"),
    Index("memory_check_ins_by_owner", "owner", "due_at", "check_in_id"),
    Index("memory_check_ins_by_state", "state", "due_at"),
)

CHECK_INS = DocumentTable(
    check_ins,
    CheckIn,
    code=ErrorCode.NOT_FOUND,
    message="There is no such check-in of yours; list them: GET /api/memory/check-ins.",
    fixed=("owner", "key"),
)


class CheckIns:
    """The check-ins of all users. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def schedule(self, check_in: CheckIn, key: str) -> CheckIn:
        """Writes a check-in, once under its key: the one that is there already is given back."""
        with self._database.write() as connection:
            if CHECK_INS.add_if_absent(connection, check_in, key=key):
                return check_in
            known = CHECK_INS.first(
                connection, check_ins.c.owner == check_in.owner_user_id, check_ins.c.key == key
            )
            assert known is not None, "what could not be added is there"
            return known

    def standing(self, check_in_id: str) -> CheckInStanding:
        """How a check-in stands; one that is gone is cancelled."""
        with self._database.read() as connection:
            found = CHECK_INS.find(connection, check_in_id)
        return CheckInStanding(state=found.state if found is not None else CheckInState.CANCELLED)

    def fire(self, order: CheckInOrder) -> CheckInStanding:
        """Has a check-in that is due arrive in the inbox, in the transaction that marks it so: once."""
        with self._database.write() as connection:
            found = CHECK_INS.find(connection, order.check_in_id, lock=True)
            if found is None or found.state is not CheckInState.SCHEDULED:
                return CheckInStanding(state=found.state if found is not None else CheckInState.CANCELLED)
            item = SentItem(
                item_id=str(uuid7()),
                owner_user_id=found.owner_user_id,
                kind=SentKind.CHECK_IN,
                state=SentState.ARRIVED,
                text=found.text,
                skill_id=found.skill_id,
                invocation_id=found.invocation_id,
                about=found.check_in_id,
                created_at=order.at,
                updated_at=order.at,
            )
            put_item(connection, item, check_in_workflow_id(found.check_in_id))
            fired = found.changed(state=CheckInState.FIRED, item_id=item.item_id, updated_at=order.at)
            CHECK_INS.replace(connection, fired)
            return CheckInStanding(state=fired.state)

    def cancel(self, check_in_id: str, owner: str, now: datetime) -> CheckIn:
        """Cancels a check-in that has not fired; again is the same.

        Raises:
            Refusal: ``NOT_FOUND``, ``CONFLICT`` where it has fired.
        """
        with self._database.write() as connection:
            found = CHECK_INS.owned(connection, check_in_id, owner, lock=True)
            if found.state is CheckInState.FIRED:
                raise Refusal(ErrorCode.CONFLICT, "It has arrived already.", current_state=found.state.value)
            if found.state is CheckInState.CANCELLED:
                return found
            cancelled = found.changed(state=CheckInState.CANCELLED, updated_at=now)
            CHECK_INS.replace(connection, cancelled)
            return cancelled

    def page(self, owner: str, wanted: PageRequest) -> DocumentPage[CheckIn]:
        """Check-ins, the next due first."""
        with self._database.read() as connection:
            return CHECK_INS.page(
                connection,
                wanted,
                check_ins.c.owner == owner,
                order_by=(check_ins.c.due_at, check_ins.c.check_in_id),
            )

    def scheduled(self) -> tuple[CheckIn, ...]:
        """Every check-in that is to fire, for the worker to start the workflows that Temporal has lost."""
        with self._database.read() as connection:
            return CHECK_INS.all(
                connection,
                check_ins.c.state == CheckInState.SCHEDULED.value,
                order_by=(check_ins.c.due_at, check_ins.c.check_in_id),
            )
