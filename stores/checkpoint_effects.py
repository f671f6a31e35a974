"""What a verified checkpoint changes of the ability it belongs to: checkpoint health, counts, a failure's weight."""

from uuid import UUID, uuid5

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityAvailabilityEntry, CheckpointHealth
from contracts.base import clipped
from contracts.capabilities.outcome import CapabilityOutcome, OutcomeKind
from contracts.learning.checkpoint import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.learning.proposal import InstallLane
from domain.abilities.checkpoint_health import RECEIPTS_COUNTED, checkpoint_health, failure_fingerprint
from stores.capability_health_effects import apply_outcome, hold_ability, settle_ability
from stores.capability_health_entries import HealthEntries
from stores.capability_health_rows import put_standing, standing_of
from stores.checkpoint_entries import aggregate_of
from stores.journal import JournalDraft, JournalFilter, read_entries
from stores.session_reads import CHECKPOINT_RECEIPTS
from stores.tables import journal

_RUNS = UUID("5f0c1d0e-5f63-5d52-9d7c-5f1d1a3c2b77")


def ability_effects(
    connection: Connection,
    ability: AbilityAvailabilityEntry,
    receipt: CheckpointVerificationReceipt,
    reporter: str,
    correlation_id: str,
) -> tuple[JournalDraft, ...]:
    """Settles the ability before its receipt is appended; returns the entries that tell of it.

    The ability's row must be held. A failed checkpoint is a failure of the ability's capability, counted once
    a run and checkpoint: an agent that tries ten times in one run has met one failure.
    """
    entries = HealthEntries(ability.ability_id, reporter, correlation_id, receipt.created_at)
    if _counted(connection, ability.ability_id, receipt):
        entries.receipt(
            LearningReceiptKind.USED_LATER, f"{ability.title} was used; a checkpoint was reported."
        )
    drafts = tuple(entries.drafts)
    if receipt.status is CheckpointStatus.FAILED and ability.primary_capability_id is not None:
        outcome = _outcome(ability.primary_capability_id, receipt, reporter)
        drafts += apply_outcome(connection, outcome, correlation_id)
    present = hold_ability(connection, ability.ability_id) or ability
    statuses = (receipt.status, *newest_statuses(connection, ability.ability_id))
    quarantined = present.install_lane is InstallLane.QUARANTINED
    settle_ability(
        connection,
        present,
        standing_of(connection, ability_id=ability.ability_id),
        receipt.created_at,
        checkpoint_health=checkpoint_health(statuses, quarantined=quarantined),
    )
    return drafts


def newest_statuses(connection: Connection, ability_id: str) -> tuple[CheckpointStatus, ...]:
    """What the ability's newest 20 receipts say, newest first."""
    entries = read_entries(
        connection,
        JournalFilter(streams=(CHECKPOINT_RECEIPTS,), ability_id=ability_id),
        limit=RECEIPTS_COUNTED,
        newest_first=True,
    )
    return tuple(CheckpointStatus(entry.document["status"]) for entry in entries)


def checkpoint_health_of(connection: Connection, ability_id: str) -> CheckpointHealth:
    """The checkpoint health of an ability that is not quarantined, from the receipts in the journal."""
    return checkpoint_health(newest_statuses(connection, ability_id), quarantined=False)


def _counted(connection: Connection, ability_id: str, receipt: CheckpointVerificationReceipt) -> bool:
    """Counts the receipt; whether it is the first of its run, and so tells of one more use."""
    first = _is_first_of_its_run(connection, ability_id, receipt)
    standing = standing_of(connection, ability_id=ability_id)
    if standing is None:
        return first
    record = standing.record
    counter = f"checkpoints_{receipt.status.value}"
    changes: dict[str, object] = {counter: getattr(record, counter) + 1, "last_used_at": receipt.created_at}
    if first:
        changes["uses"] = record.uses + 1
    put_standing(connection, standing, standing.status, record.model_copy(update=changes))
    return first


def _is_first_of_its_run(
    connection: Connection, ability_id: str, receipt: CheckpointVerificationReceipt
) -> bool:
    """Whether nothing was reported before of this dispatch or session; of neither, nothing tells runs apart."""
    if receipt.dispatch_id is None and receipt.learn_session_id is None:
        return False
    earlier = connection.scalar(
        select(journal.c.seq)
        .where(
            journal.c.aggregate == aggregate_of(receipt),
            journal.c.stream == CHECKPOINT_RECEIPTS,
            journal.c.ability_id == ability_id,
        )
        .limit(1)
    )
    return earlier is None


def _outcome(capability_id: str, receipt: CheckpointVerificationReceipt, reporter: str) -> CapabilityOutcome:
    in_a_run = receipt.dispatch_id is not None or receipt.learn_session_id is not None
    run = aggregate_of(receipt) if in_a_run else receipt.receipt_id
    return CapabilityOutcome(
        outcome_id=str(uuid5(_RUNS, f"{run}/{capability_id}/{receipt.checkpoint_id}")),
        capability_id=capability_id,
        kind=OutcomeKind.CHECKPOINT,
        success=False,
        failure_fingerprint=failure_fingerprint(receipt.checkpoint_id),
        summary=clipped(receipt.reason or receipt.evidence, 500) or None,
        reported_by=reporter,
        happened_at=receipt.created_at,
    )
