"""What an ability's checkpoint receipts say of it (decisions "Checkpoints"; DOC3 §0C.9B)."""

from collections.abc import Iterable, Sequence

from contracts.abilities.availability import CheckpointHealth
from contracts.learning.checkpoint import (
    CheckpointProgressItem,
    CheckpointProgressResponse,
    CheckpointProgressStatus,
    CheckpointStatus,
    CheckpointVerificationReceipt,
)
from contracts.learning.interpretation import Checkpoint

RECEIPTS_COUNTED = 20
"""How many of an ability's receipts count, the newest ones."""

RECEIPTS_NEEDED = 3
"""Fewer say nothing."""

STRONG_FROM = 0.9
"""The share of reached checkpoints from which on the health is strong."""

MODERATE_FROM = 0.7
"""The share from which on it is moderate; below it is weak."""


def checkpoint_health(statuses: Sequence[CheckpointStatus], *, quarantined: bool) -> CheckpointHealth:
    """The health that ``statuses``, newest first, make; only the newest 20 count."""
    if quarantined:
        return CheckpointHealth.QUARANTINED
    counted = statuses[:RECEIPTS_COUNTED]
    if len(counted) < RECEIPTS_NEEDED:
        return CheckpointHealth.NO_DATA
    share = sum(status is CheckpointStatus.REACHED for status in counted) / len(counted)
    if share >= STRONG_FROM:
        return CheckpointHealth.STRONG
    return CheckpointHealth.MODERATE if share >= MODERATE_FROM else CheckpointHealth.WEAK


def failure_fingerprint(checkpoint_id: str) -> str:
    """What makes two failures at a checkpoint match."""
    return f"checkpoint:{checkpoint_id}"


def progress(
    checkpoints: Iterable[Checkpoint], receipts: Iterable[CheckpointVerificationReceipt]
) -> CheckpointProgressResponse:
    """The planned ``checkpoints`` in their order with the newest of ``receipts`` laid over each.

    ``receipts`` come newest first. A receipt of a checkpoint that is not planned stands at the end: it was
    reported before there was a plan, or the plan has changed since.
    """
    newest: dict[str, CheckpointVerificationReceipt] = {}
    for receipt in receipts:
        newest.setdefault(receipt.checkpoint_id, receipt)
    ordered = sorted(checkpoints, key=lambda one: (one.order_hint, one.checkpoint_id))
    items = [_item(one.checkpoint_id, one, newest.pop(one.checkpoint_id, None)) for one in ordered]
    items += [_item(known, None, newest[known]) for known in sorted(newest)]
    return CheckpointProgressResponse(
        checkpoints=tuple(items),
        reached=sum(one.status is CheckpointProgressStatus.REACHED for one in items),
        total=len(items),
    )


def _item(
    checkpoint_id: str, planned: Checkpoint | None, receipt: CheckpointVerificationReceipt | None
) -> CheckpointProgressItem:
    return CheckpointProgressItem(
        checkpoint_id=checkpoint_id,
        goal=planned.goal if planned else None,
        success_condition=planned.success_condition if planned else None,
        order_hint=planned.order_hint if planned else None,
        status=CheckpointProgressStatus(receipt.status.value)
        if receipt
        else CheckpointProgressStatus.NOT_REACHED,
        evidence=receipt.evidence if receipt else None,
        reason=receipt.reason if receipt else None,
        verified_at=receipt.created_at if receipt else None,
    )
