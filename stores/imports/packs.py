"""Store of skill packs: every change of a manifest is one transaction with its receipt (DOC3 §0C.20, §1.1P)."""

from datetime import datetime

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.imports.pack_members import SkillPackDetailResponse, SkillPackPutRequest, StoredPack
from contracts.imports.packs import SkillPackMetadata
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from stores.imports.pack_plans import plan_of
from stores.imports.pack_tables import PACKS, skill_pack_installs, skill_packs
from stores.mcp.servers.server_rows import servers_of
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalEntries, append

MOST_PACKS = 200
"""How many packs one user may have."""


class SkillPacks:
    """The packs of all users. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_for(self, owner: str) -> tuple[SkillPackMetadata, ...]:
        """The owner's packs, by their ids."""
        with self._database.read() as connection:
            found = PACKS.all(connection, skill_packs.c.owner == owner, order_by=(skill_packs.c.pack_id,))
        return tuple(one.metadata for one in found)

    def owned(self, pack_id: str, owner: str) -> StoredPack:
        """One of the owner's packs.

        Raises:
            Refusal: ``SKILL_PACK_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return PACKS.get(connection, (owner, pack_id))

    def detail(self, pack_id: str, owner: str) -> SkillPackDetailResponse:
        """One of the owner's packs, and what its install would do now.

        Raises:
            Refusal: ``SKILL_PACK_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return _detail(connection, PACKS.get(connection, (owner, pack_id)))

    def put(
        self, owner: str, asked: SkillPackPutRequest, now: datetime, correlation_id: str
    ) -> SkillPackDetailResponse:
        """Makes a pack, or replaces it; the same again changes nothing.

        Raises:
            Refusal: ``CONFLICT`` where it has another version than the one that is meant;
                ``SKILL_PACK_LIMIT_REACHED``.
        """
        with self._database.write() as connection:
            advisory_lock(connection, f"skill packs {owner}")
            before = PACKS.find(connection, (owner, asked.pack_id))
            refuse_other_version(before, asked.expected_version)
            if before is None and PACKS.count(connection, skill_packs.c.owner == owner) >= MOST_PACKS:
                raise Refusal(
                    ErrorCode.SKILL_PACK_LIMIT_REACHED,
                    f"You have {MOST_PACKS} packs, the most there may be; delete one first.",
                    limit=MOST_PACKS,
                )
            after = StoredPack(
                manifest=asked.manifest,
                compatibility_target=asked.compatibility_target,
                active_build_surface=asked.active_build_surface,
                owner_user_id=owner,
                version=1 if before is None else before.version + 1,
                created_at=now if before is None else before.created_at,
                updated_at=now,
            )
            if before is not None and _says_the_same(before, after):
                return _detail(connection, before)
            PACKS.put(connection, after)
            _tell(connection, after, Receipt.PACK_CHANGED, now, correlation_id)
            return _detail(connection, after)

    def delete(self, pack_id: str, owner: str, now: datetime, correlation_id: str) -> None:
        """Deletes a pack; what was installed by it stays, and so do imports.

        Raises:
            Refusal: ``SKILL_PACK_NOT_FOUND``.
        """
        with self._database.write() as connection:
            pack = PACKS.get(connection, (owner, pack_id), lock=True)
            PACKS.delete(connection, (owner, pack_id))
            _tell(connection, pack, Receipt.PACK_DELETED, now, correlation_id)


def refuse_other_version(before: StoredPack | None, expected: int | None) -> None:
    """Refuses a command that is meant for another version of the pack.

    Raises:
        Refusal: ``CONFLICT``.
    """
    current = before.version if before is not None else 0
    if expected not in (None, current):
        raise Refusal(
            ErrorCode.CONFLICT,
            f"The pack has version {current}; read it again.",
            current_version=current,
            retryable=False,
        )


def _says_the_same(before: StoredPack, after: StoredPack) -> bool:
    return before == after.changed(version=before.version, updated_at=before.updated_at)


def _detail(connection: Connection, pack: StoredPack) -> SkillPackDetailResponse:
    plan = plan_of(connection, pack)
    return SkillPackDetailResponse(
        pack=pack.manifest,
        compatibility_target=pack.compatibility_target,
        active_build_surface=pack.active_build_surface,
        version=pack.version,
        created_at=pack.created_at,
        updated_at=pack.updated_at,
        members=plan.members,
        problems=plan.problems,
        missing_connectors=_missing_connectors(connection, pack),
        unproved_digest=plan.unproved_digest,
        last_install_id=_last_install(connection, pack),
    )


def _missing_connectors(connection: Connection, pack: StoredPack) -> tuple[str, ...]:
    servers = servers_of(connection, pack.owner_user_id)
    known = {name for server in servers for name in (server.server_id, server.display_name)}
    return tuple(one for one in pack.manifest.recommended_connectors if one not in known)


def _last_install(connection: Connection, pack: StoredPack) -> str | None:
    table = skill_pack_installs.c
    newest = (
        select(table.pack_install_id)
        .where(table.owner == pack.owner_user_id, table.pack_id == pack.pack_id)
        .order_by(table.started_at.desc())
        .limit(1)
    )
    return connection.scalar(newest)


def _tell(
    connection: Connection, pack: StoredPack, kind: Receipt, now: datetime, correlation_id: str
) -> None:
    aggregate = f"skill-pack/{pack.owner_user_id}/{pack.pack_id}"
    entries = JournalEntries(aggregate, pack.owner_user_id, correlation_id, now)
    append(connection, entries.receipt(kind, f"{pack.pack_id}, version {pack.version}").drafts)
