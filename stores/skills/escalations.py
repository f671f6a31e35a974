"""What a person is told of an invocation that ended badly: an item of the inbox (skill_rows.md section 2, X-14).

Written in the transaction that ends the invocation. Of one skill and code one item an hour is written, as a wallet that
is empty fails every debit; what nobody can repeat, and what was to happen while nobody looked, is told each time.
"""

from datetime import datetime

from sqlalchemy import Connection
from uuid_utils import uuid7

from contracts.base import clipped
from contracts.inbox.items import SentItem, SentKind, SentState
from contracts.skills.errors import AWAITING_TIME, SKILL_ERRORS
from contracts.skills.invocation import InvocationStatus, SkillOutcome
from contracts.skills.invocation_work import InvocationRecord
from stores.inbox.inbox import put_item


def tell_person(
    connection: Connection, record: InvocationRecord, outcome: SkillOutcome, now: datetime
) -> None:
    """Has an item arrive at the owner where the end of an invocation is theirs to look at."""
    error = outcome.error
    if error is None or not record.attempts:
        return
    unknown = outcome.status is InvocationStatus.OUTCOME_UNKNOWN
    failed = outcome.status is InvocationStatus.FAILURE
    waited = any(one.error_code == AWAITING_TIME for one in record.attempts)
    rule = SKILL_ERRORS.get(error.code)
    told_by_code = rule is not None and rule.tells_a_person
    if not (unknown or (failed and (waited or told_by_code))):
        return
    order = record.order
    hour = f"{order.function_name}/{error.code}/{now:%Y-%m-%dT%H}"
    key = order.invocation_id if unknown or waited else hour
    text = f"{error.message} ({error.code})\n{error.recovery}"
    item = SentItem(
        item_id=str(uuid7()),
        owner_user_id=order.owner_user_id,
        kind=SentKind.ESCALATION,
        state=SentState.ARRIVED,
        text=clipped(text, 4_000),
        skill_id=order.function_name,
        invocation_id=order.invocation_id,
        created_at=now,
        updated_at=now,
    )
    put_item(connection, item, f"escalation/{key}")
