"""Reading checkpoint receipts, and how far a session or a dispatch has come (DOC3 §0C.9B)."""

from sqlalchemy import Connection, Select, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.checkpoints import CheckpointProgressResponse, CheckpointVerificationReceipt
from contracts.learning.responses import LearnCheckpointReceiptsResponse
from contracts.workflow_ids import mcp_dispatch_id
from domain.abilities.capability_health import progress
from stores.learning.drafts import planned_of_ability, planned_of_session
from stores.platform.database import Database, PageRequest, fetch_page
from stores.platform.journal.journal import CHECKPOINT_RECEIPTS
from stores.platform.tables import journal

MOST_RECEIPTS = 500
"""How many of the newest receipts a progress is made of: far more than a skill has checkpoints."""

_RECEIPTS = select(journal.c.document).where(journal.c.stream == CHECKPOINT_RECEIPTS)


class CheckpointReads:
    """The reading half of checkpoint verification."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_dispatch(
        self, dispatch_id: str, owner: str, wanted: PageRequest
    ) -> LearnCheckpointReceiptsResponse:
        """The receipts that the owner's agents gave for a dispatch, newest first.

        Raises:
            Refusal: ``NOT_FOUND`` when there are none: a dispatch is known here by its receipts.
        """
        found = self._page(_of_dispatch(dispatch_id, owner), wanted)
        if found.total == 0:
            raise _no_dispatch(dispatch_id)
        return found

    def of_ability(
        self, ability_id: str, reader: str, owner: str, wanted: PageRequest
    ) -> LearnCheckpointReceiptsResponse:
        """The receipts of an ability, newest first: its owner sees all of them, other users their own."""
        query = _RECEIPTS.where(journal.c.ability_id == ability_id)
        return self._page(query if reader == owner else query.where(journal.c.owner == reader), wanted)

    def session_progress(self, session: LearnSessionAggregate) -> CheckpointProgressResponse:
        """The checkpoints of the session's proposal with what was reported of each."""
        query = _RECEIPTS.where(journal.c.session_id == session.session.learn_session_id)
        with self._database.read() as connection:
            return progress(planned_of_session(connection, session), _newest(connection, query))

    def dispatch_progress(self, dispatch_id: str, owner: str) -> CheckpointProgressResponse:
        """The checkpoints of the ability that a dispatch used with what was reported of each.

        Raises:
            Refusal: ``NOT_FOUND``, as ``of_dispatch``.
        """
        with self._database.read() as connection:
            receipts = _newest(connection, _of_dispatch(dispatch_id, owner))
            if not receipts:
                raise _no_dispatch(dispatch_id)
            ability_id = next((one.ability_id for one in receipts if one.ability_id is not None), None)
            planned = planned_of_ability(connection, ability_id) if ability_id is not None else ()
        return progress(planned, receipts)

    def _page(self, query: Select[str], wanted: PageRequest) -> LearnCheckpointReceiptsResponse:
        with self._database.read() as connection:
            found = fetch_page(connection, query.order_by(journal.c.seq.desc()), wanted)
        return LearnCheckpointReceiptsResponse(
            receipts=tuple(
                CheckpointVerificationReceipt.model_validate_json(row.document) for row in found.rows
            ),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )


def _of_dispatch(dispatch_id: str, owner: str) -> Select[str]:
    return _RECEIPTS.where(journal.c.aggregate == mcp_dispatch_id(dispatch_id), journal.c.owner == owner)


def _newest(connection: Connection, query: Select[str]) -> tuple[CheckpointVerificationReceipt, ...]:
    rows = connection.scalars(query.order_by(journal.c.seq.desc()).limit(MOST_RECEIPTS))
    return tuple(CheckpointVerificationReceipt.model_validate_json(document) for document in rows)


def _no_dispatch(dispatch_id: str) -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND, f"No checkpoint was reported to you for a dispatch {dispatch_id}; check its id."
    )
