"""Entries for tests of the journal and of what is projected from it."""

from typing import Any

from stores.platform.journal.journal import JournalDraft

RECEIPTS = "system/learning/receipts"
CHECKPOINTS = "system/learning/checkpoint_receipts"


def draft(
    number: int, *, stream: str = RECEIPTS, aggregate: str = "session/1", **fields: Any
) -> JournalDraft:
    """An entry that says its number."""
    return JournalDraft(
        stream=stream,
        aggregate=aggregate,
        owner=fields.pop("owner", "olga"),
        correlation_id="correlation-1",
        created_at="2026-11-01T10:00:00.000000Z",
        document={"number": number, "text": "grüße\nund zwei Zeilen"},
        **fields,
    )
