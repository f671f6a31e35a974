"""Publications: one for each approval, reserved before anything is sent, so that content goes out once (CH-35, X-23).

Who reserves holds the row for a while. Who is killed meanwhile leaves it reserved: another takes it over when its time
is over, and sends under the same key, which the publisher knows. A scheduled one is held for as long as its invocation
waits (CH-39).
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import rfc3339
from contracts.skills.content import ContentPackage
from contracts.skills.invocation import OPEN_INVOCATION_STATUSES
from contracts.skills.publishing import ApprovalRecord, PublicationRecord, PublicationState
from domain.skills.content.checks import text_of
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalEntries, append
from stores.skills.invocation_rows import AUDIT, find_invocation
from stores.skills.services.approvals import ApprovalRefused
from stores.skills.skill_tables import PUBLICATIONS, publications

HELD_FOR = timedelta(seconds=20)
"""How long a reservation is its maker's alone: longer than the 15 s of publish_content."""

MOST_POSTS = 200
"""How many own posts content is compared with, the newest first."""

FINAL = frozenset({PublicationState.PUBLISHED, PublicationState.OUTBOX})


class Publications:
    """All publications. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(
        self,
        approval: ApprovalRecord,
        content: ContentPackage,
        platform: str,
        invocation_id: str,
        correlation_id: str,
        now: datetime,
        due_at: datetime | None = None,
    ) -> PublicationRecord:
        """The publication of an approval: reserved for this invocation, another's, or done already.

        With ``due_at`` it is kept for that time.

        Raises:
            ApprovalRefused: ``INVALID_TOKEN`` where the approval was used for another platform.
        """
        owner = approval.owner_user_id
        with self._database.write() as connection:
            advisory_lock(connection, f"publication {owner} {content.content_id}")
            own = PUBLICATIONS.find(connection, approval.jti, owner=owner)
            used = own is not None and (own.state in FINAL or _is_scheduled(connection, own, invocation_id))
            if own is not None and used and own.asked_platform != platform:
                raise ApprovalRefused("INVALID_TOKEN", "The approval was used for another platform.")
            for before in (own,) if own is not None else _same_posts(connection, approval, platform):
                held = _is_held(before, invocation_id, now) or _is_scheduled(
                    connection, before, invocation_id
                )
                if before.state in FINAL or held:
                    return before
            begun = own is not None and own.asked_platform == platform
            record = PublicationRecord(
                jti=approval.jti,
                owner_user_id=owner,
                content_id=content.content_id,
                digest=approval.digest,
                # What may have got through on a platform that stood in is asked about there first.
                platform=own.platform if own is not None and begun else platform,
                asked_platform=platform,
                reviewer_id=approval.reviewer_id,
                state=PublicationState.RESERVED if due_at is None else PublicationState.SCHEDULED,
                invocation_id=invocation_id,
                leased_until=now + HELD_FOR,
                due_at=due_at,
                text=text_of(content),
                created_at=own.created_at if own is not None else now,
                updated_at=now,
            )
            PUBLICATIONS.put(connection, record)
            when = "before_publication" if due_at is None else "scheduled"
            _audit(connection, record, when, correlation_id, now)
            return record

    def moved(self, record: PublicationRecord, platform: str, now: datetime) -> PublicationRecord:
        """The same publication, for another platform of its approval."""
        changed = record.changed(platform=platform, leased_until=now + HELD_FOR, updated_at=now)
        with self._database.write() as connection:
            PUBLICATIONS.put(connection, changed)
        return changed

    def settle(self, record: PublicationRecord, correlation_id: str, now: datetime) -> None:
        """Writes what became of a publication; one that is settled already stays as it is."""
        with self._database.write() as connection:
            advisory_lock(connection, f"publication {record.owner_user_id} {record.content_id}")
            before = PUBLICATIONS.find(connection, record.jti, owner=record.owner_user_id, lock=True)
            if before is not None and before.state in FINAL:
                return
            PUBLICATIONS.put(connection, record.changed(leased_until=now, updated_at=now))
            _audit(connection, record, "after_publication", correlation_id, now)

    def find(self, jti: str, owner: str) -> PublicationRecord | None:
        """The publication of an approval, if there is one."""
        with self._database.read() as connection:
            return PUBLICATIONS.find(connection, jti, owner=owner)

    def posts(self, owner: str) -> tuple[tuple[str, str], ...]:
        """The content id and the text of the owner's newest posts."""
        with self._database.read() as connection:
            found = PUBLICATIONS.all(
                connection,
                publications.c.owner == owner,
                publications.c.state == PublicationState.PUBLISHED.value,
                order_by=(publications.c.created_at.desc(),),
                limit=MOST_POSTS,
            )
        return tuple((one.content_id, one.text) for one in found)


def _same_posts(
    connection: Connection, approval: ApprovalRecord, platform: str
) -> tuple[PublicationRecord, ...]:
    """The same content on the same platform by other approvals: published, about to be, kept for later."""
    states = (PublicationState.PUBLISHED, PublicationState.RESERVED, PublicationState.SCHEDULED)
    return PUBLICATIONS.all(
        connection,
        publications.c.owner == approval.owner_user_id,
        publications.c.digest == approval.digest,
        publications.c.platform == platform,
        publications.c.state.in_([state.value for state in states]),
        order_by=(publications.c.state, publications.c.created_at.desc()),
        limit=MOST_POSTS,
    )


def _is_held(record: PublicationRecord, invocation_id: str, now: datetime) -> bool:
    reserved = record.state is PublicationState.RESERVED
    return reserved and record.invocation_id != invocation_id and record.leased_until > now


def _is_scheduled(connection: Connection, record: PublicationRecord, invocation_id: str) -> bool:
    """Whether another invocation waits for the time of this publication; one that was cancelled waits no more."""
    if record.state is not PublicationState.SCHEDULED or record.invocation_id == invocation_id:
        return False
    kept = find_invocation(connection, record.invocation_id)
    return kept is not None and kept.record.status in OPEN_INVOCATION_STATUSES


def _audit(
    connection: Connection, record: PublicationRecord, when: str, correlation_id: str, now: datetime
) -> None:
    entries = JournalEntries(f"publication/{record.jti}", record.owner_user_id, correlation_id, now)
    facts = {
        "when": when,
        "reviewer_id": record.reviewer_id,
        "content_id": record.content_id,
        "platform": record.platform,
        "state": record.state.value,
        "invocation_id": record.invocation_id,
        "timestamp": rfc3339(now),
    }
    append(connection, entries.add(AUDIT, facts).drafts)
