"""How an ability has done, counted from what the journal holds of it."""

import json
from collections import Counter
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from contracts.abilities.life import AbilityOutcomes
from contracts.learning.checkpoint import CheckpointStatus
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from stores.session_entries import RECEIPTS
from stores.session_reads import CHECKPOINT_RECEIPTS
from stores.tables import ability_versions, journal


def outcomes_of(connection: Connection, ability_id: str) -> AbilityOutcomes:
    """The counts of one ability. Installs are counted by version, so they outlive the receipts' retention."""
    rows = connection.execute(
        select(journal.c.stream, journal.c.document, journal.c.created_at)
        .where(
            journal.c.stream.in_((RECEIPTS, CHECKPOINT_RECEIPTS)),
            journal.c.ability_id == ability_id,
        )
        .order_by(journal.c.seq)
    )
    counts: Counter[str] = Counter()
    last: dict[str, str] = {}
    for row in rows:
        document: dict[str, Any] = json.loads(row.document)
        kind = str(document["event_kind"] if row.stream == RECEIPTS else document["status"])
        counts[kind] += 1
        last[kind] = row.created_at
    versions = [
        bool(json.loads(body).get("restored_from"))
        for body in connection.scalars(
            select(ability_versions.c.body).where(ability_versions.c.ability_id == ability_id)
        )
    ]
    reached = counts[CheckpointStatus.REACHED.value]
    failed = counts[CheckpointStatus.FAILED.value]
    return AbilityOutcomes(
        ability_id=ability_id,
        installs=versions.count(False),
        rollbacks=versions.count(True),
        quarantines=counts[Receipt.QUARANTINED.value],
        uses=counts[Receipt.USED_LATER.value],
        last_used_at=_time(last.get(Receipt.USED_LATER.value)),
        checkpoints_reached=reached,
        checkpoints_skipped=counts[CheckpointStatus.SKIPPED.value],
        checkpoints_failed=failed,
        checkpoint_success=reached / (reached + failed) if reached + failed else None,
        last_failed_at=_time(last.get(CheckpointStatus.FAILED.value)),
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None
