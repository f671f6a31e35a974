"""Publications: one for each approval, reserved before anything is sent, so that content goes out once (CH-35, X-23).

Who reserves holds the row for a while. Who is killed meanwhile leaves it reserved: another takes it over when its time
is over, and sends under the same key, which the publisher knows.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import rfc3339
from contracts.skills.content import ContentPackage
from contracts.skills.publishing import ApprovalRecord, PublicationRecord, PublicationState
from domain.skills.content.checks import text_of
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalEntries, append
from stores.skills.invocation_rows import AUDIT
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
    ) -> PublicationRecord:
        """The publication of an approval: reserved for this invocation, another's, or done already.

        Raises:
            ApprovalRefused: ``INVALID_TOKEN`` where the approval was used for another platform.
        """
        owner = approval.owner_user_id
        with self._database.write() as connection:
            advisory_lock(connection, f"publication {owner} {content.content_id}")
            own = PUBLICATIONS.find(connection, approval.jti, owner=owner)
            if own is not None and own.state in FINAL and own.asked_platform != platform:
                raise ApprovalRefused("INVALID_TOKEN", "The approval was used for another platform.")
            before = own or _same_post(connection, owner, approval.digest, platform)
            if before is not None and (before.state in FINAL or _is_held(before, invocation_id, now)):
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
                state=PublicationState.RESERVED,
                invocation_id=invocation_id,
                leased_until=now + HELD_FOR,
                text=text_of(content),
                created_at=own.created_at if own is not None else now,
                updated_at=now,
            )
            PUBLICATIONS.put(connection, record)
            _audit(connection, record, "before_publication", correlation_id, now)
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


def _same_post(connection: Connection, owner: str, digest: str, platform: str) -> PublicationRecord | None:
    """The same content on the same platform by another approval: published, else about to be."""
    states = (PublicationState.PUBLISHED.value, PublicationState.RESERVED.value)
    return PUBLICATIONS.first(
        connection,
        publications.c.owner == owner,
        publications.c.digest == digest,
        publications.c.platform == platform,
        publications.c.state.in_(states),
        order_by=(publications.c.state, publications.c.created_at.desc()),
    )


def _is_held(record: PublicationRecord, invocation_id: str, now: datetime) -> bool:
    reserved = record.state is PublicationState.RESERVED
    return reserved and record.invocation_id != invocation_id and record.leased_until > now


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
