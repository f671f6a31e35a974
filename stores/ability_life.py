"""Commands on installed abilities: each is one transaction, carried out once however often it is tried."""

from collections.abc import Mapping
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select

from contracts.abilities.life import (
    AbilityOrder,
    AbilityReceipt,
)
from contracts.base import rfc3339
from contracts.learning.aggregate import CommitKey
from stores import tables
from stores.ability_command import AbilityCommand, found, refuse
from stores.canonical import canonical_json
from stores.commit_keys import kept_under
from stores.database import Database

_ABILITIES = tables.abilities
_NOTHING: Mapping[str, bytes] = {}


class AbilityLifeStore:
    """The durable side of AbilityWorkflow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def carry_out(self, order: AbilityOrder, edited: Mapping[str, bytes] = _NOTHING) -> AbilityReceipt:
        """Carries out one command, once, or answers what it was answered before.

        ``edited`` are the skill's workspace files that somebody has changed by hand, with what they hold. A
        quarantine moves them out of the agent's reach and keeps them; no other command takes files away
        that were changed.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND``, ``FORBIDDEN`` (somebody else's), ``IDEMPOTENCY_KEY_REUSED``,
                ``CONFLICT`` (hand-made changes; ``edited`` names them), ``NOT_FOUND`` (no such version), and
                what ``domain.abilities.life.refusal`` refuses.
        """
        now = datetime.now(UTC)
        with self._database.write() as connection:
            earlier = _earlier(connection, order.commit_key)
            if earlier is not None:
                return earlier
            receipt = AbilityCommand(connection, order, edited, now).carry_out()
            connection.execute(
                insert(tables.commits).values(
                    owner=order.commit_key.owner_user_id,
                    key=order.commit_key.key,
                    request_digest=order.commit_key.request_digest,
                    receipt=canonical_json(receipt),
                    created_at=rfc3339(now),
                )
            )
        return receipt

    def recall(self, key: CommitKey) -> AbilityReceipt | None:
        """What was answered under this key before.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            return _earlier(connection, key)

    def check(self, order: AbilityOrder) -> None:
        """Refuses a command that has no prospect as things stand; nothing is written or locked.

        Raises:
            Refusal: as ``carry_out``.
        """
        with self._database.read() as connection:
            refuse(connection, order, found(connection, order))

    def slug_of(self, ability_id: str) -> str | None:
        """The name of the ability's skill."""
        with self._database.read() as connection:
            return connection.scalar(select(_ABILITIES.c.slug).where(_ABILITIES.c.ability_id == ability_id))


def _earlier(connection: Connection, key: CommitKey) -> AbilityReceipt | None:
    receipt = kept_under(connection, key, tables.commits.c.receipt)
    return None if receipt is None else AbilityReceipt.model_validate_json(receipt)
