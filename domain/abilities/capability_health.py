"""Capability health: transitions by uses and canaries; the progress of checkpoints.

DOC3 §1.1I, §0C.9B; decisions "Numbers", "Checkpoints".
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.abilities.capability_health import (
    CapabilityHealthRecord,
    CapabilityOutcome,
    FailureNote,
    OutcomeKind,
)
from contracts.abilities.capability_manifest import HealthStatus
from contracts.base import clipped
from contracts.learning.checkpoints import (
    CheckpointProgressItem,
    CheckpointProgressResponse,
    CheckpointProgressStatus,
    CheckpointVerificationReceipt,
)
from contracts.learning.interpretation import Checkpoint

WINDOW = timedelta(days=7)
"""How long a failure counts."""

DEGRADED_FROM = 3
"""This many matching failures within the window degrade."""

QUARANTINED_FROM = 5
"""This many failures within the window, matching or not, quarantine."""

HEALTHY_FROM = 5
"""This many good canaries in a row make healthy again."""

COOLDOWN = timedelta(hours=1)
"""How long the schedule leaves a capability alone after its quarantine and after a bad canary."""

FAILURES_KEPT = 50
"""The most failures a record holds, the newest: far more than any rule counts."""

MATCHING_FAILURES = "matching_failures"
REPEATED_FAILURES = "repeated_failures"
CRITICAL_FAILURE = "critical_failure"
CANARY_FAILED = "canary_failed"
CANARY_NOT_RUN = "canary_not_run"
AWAITING_SMOKE = "awaiting_smoke"

_WORDS = {
    MATCHING_FAILURES: f"it failed {DEGRADED_FROM} times in the same way within {WINDOW.days} days",
    REPEATED_FAILURES: f"it failed {QUARANTINED_FROM} times within {WINDOW.days} days",
    CRITICAL_FAILURE: "it failed critically",
    CANARY_FAILED: "its last recheck failed",
    CANARY_NOT_RUN: "its last recheck could not be run",
    AWAITING_SMOKE: "it has not been run since it was installed",
}
_OF_A_CANARY = frozenset({CANARY_FAILED, CANARY_NOT_RUN})
"""Reasons that the next canary replaces."""

UNRUNNABLE_COOLDOWN = timedelta(days=1)
"""How long the schedule leaves alone what only awaits its smoke test and cannot be run here."""

_MOVED = frozenset(
    {HealthStatus.HEALTHY, HealthStatus.DEGRADED, HealthStatus.QUARANTINED, HealthStatus.UNKNOWN}
)
"""The health that outcomes move; what is switched off stays off."""


@dataclass(frozen=True, slots=True)
class HealthChange:
    """A capability's health after an outcome, with the evidence for it."""

    status: HealthStatus
    record: CapabilityHealthRecord


def after_install(capability_id: str, prior: HealthChange | None, *, same_content: bool) -> HealthChange:
    """The health of a capability whose content was just installed, or restored (DOC3 §1.1H: degraded until smoke).

    ``prior`` is how it stood before. The same content again stays as it was. Other content is degraded until a
    canary has run it; the failures and reasons before it stay counted, so an install heals nothing by itself.
    What a switch keeps off stays off.
    """
    if prior is not None and same_content:
        return prior
    awaiting = CapabilityHealthRecord(capability_id=capability_id, reason_codes=(AWAITING_SMOKE,))
    if prior is None:
        return HealthChange(HealthStatus.DEGRADED, awaiting)
    kept = [code for code in prior.record.reason_codes if code not in (*_OF_A_CANARY, AWAITING_SMOKE)]
    record = awaiting.changed(reason_codes=(*kept, AWAITING_SMOKE), failures=prior.record.failures)
    return HealthChange(HealthStatus.DEGRADED if prior.status in _MOVED else prior.status, record)


def after_outcome(
    status: HealthStatus, record: CapabilityHealthRecord, outcome: CapabilityOutcome
) -> HealthChange:
    """What ``outcome`` makes of a capability that was ``status`` on the evidence of ``record``.

    Three matching failures in seven days degrade, five failures or a critical one quarantine. What only awaits its
    smoke test is healthy after one good canary. Otherwise five good canaries in a row lead back: time alone does
    not, and neither does a use that went well. Who is healthy again after that starts with no failures counted; the
    outcomes themselves stay in their stream. A disabled capability stays disabled, whatever happens. A canary that
    could not be run counts neither way, and the schedule leaves the capability alone for a while.
    """
    if outcome.not_run:
        return _not_run(status, record, outcome)
    moved = _noted(record, outcome)
    if status not in _MOVED:
        return HealthChange(status, moved)
    if outcome.success:
        return _succeeded(status, moved, outcome)
    return _failed(status, moved, outcome)


def why(record: CapabilityHealthRecord) -> str:
    """The reasons in words, for a person; empty where there are none."""
    return "; ".join(_WORDS.get(code, code) for code in record.reason_codes)


def unusable_reason(status: HealthStatus, record: CapabilityHealthRecord) -> str | None:
    """Why a quarantined capability is not routed to; ``None`` for any other health."""
    if status is not HealthStatus.QUARANTINED:
        return None
    reasons = why(record)
    because = f" ({reasons})" if reasons else ""
    return clipped(
        f"Its capability is quarantined{because}; {HEALTHY_FROM} good rechecks in a row bring it back.", 240
    )


def is_due(status: HealthStatus, record: CapabilityHealthRecord, now: datetime) -> bool:
    """Whether the schedule rechecks the capability now."""
    if status not in (HealthStatus.DEGRADED, HealthStatus.QUARANTINED):
        return False
    return record.cooldown_until is None or record.cooldown_until <= now


def _not_run(
    status: HealthStatus, record: CapabilityHealthRecord, outcome: CapabilityOutcome
) -> HealthChange:
    causes = [code for code in record.reason_codes if code not in _OF_A_CANARY]
    pause = UNRUNNABLE_COOLDOWN if causes == [AWAITING_SMOKE] else COOLDOWN
    changes: dict[str, object] = {"cooldown_until": outcome.happened_at + pause}
    if status in (HealthStatus.DEGRADED, HealthStatus.QUARANTINED):
        changes["reason_codes"] = tuple(dict.fromkeys((*record.reason_codes, CANARY_NOT_RUN)))
    return HealthChange(status, record.changed(**changes))


def _noted(record: CapabilityHealthRecord, outcome: CapabilityOutcome) -> CapabilityHealthRecord:
    """The record with the outcome counted, before any verdict."""
    failures = record.failures
    if not outcome.success:
        note = FailureNote(
            fingerprint=outcome.failure_fingerprint or "unknown", happened_at=outcome.happened_at
        )
        failures = (*failures, note)
    newest = max((note.happened_at for note in failures), default=outcome.happened_at)
    oldest = max(newest, outcome.happened_at) - WINDOW
    kept = sorted((n for n in failures if n.happened_at > oldest), key=lambda note: note.happened_at)
    changes: dict[str, object] = {"failures": tuple(kept[-FAILURES_KEPT:])}
    if outcome.kind is OutcomeKind.USE:
        changes["uses"] = record.uses + 1
        changes["last_used_at"] = max(record.last_used_at or outcome.happened_at, outcome.happened_at)
    else:
        changes["good_canaries"] = record.good_canaries + 1 if outcome.success else 0
        changes["last_verified_at"] = outcome.happened_at
    return record.changed(**changes)


def _succeeded(
    status: HealthStatus, record: CapabilityHealthRecord, outcome: CapabilityOutcome
) -> HealthChange:
    if outcome.kind is not OutcomeKind.CANARY:
        return HealthChange(status, record)
    reasons = tuple(code for code in record.reason_codes if code not in (*_OF_A_CANARY, AWAITING_SMOKE))
    if status is HealthStatus.DEGRADED and AWAITING_SMOKE in record.reason_codes and not reasons:
        return HealthChange(HealthStatus.HEALTHY, record.changed(reason_codes=(), cooldown_until=None))
    if status is HealthStatus.HEALTHY or record.good_canaries < HEALTHY_FROM:
        return HealthChange(status, record.changed(reason_codes=reasons, cooldown_until=None))
    cleared = {"reason_codes": (), "failures": (), "good_canaries": 0, "cooldown_until": None}
    return HealthChange(HealthStatus.HEALTHY, record.changed(**cleared))


def _failed(status: HealthStatus, record: CapabilityHealthRecord, outcome: CapabilityOutcome) -> HealthChange:
    most = max(Counter(note.fingerprint for note in record.failures).values(), default=0)
    reasons = [code for code in record.reason_codes if code not in _OF_A_CANARY]
    found = status
    if outcome.critical:
        found, reasons = HealthStatus.QUARANTINED, [*reasons, CRITICAL_FAILURE]
    elif len(record.failures) >= QUARANTINED_FROM:
        found, reasons = HealthStatus.QUARANTINED, [*reasons, REPEATED_FAILURES]
    elif most >= DEGRADED_FROM and status is not HealthStatus.QUARANTINED:
        found, reasons = HealthStatus.DEGRADED, [*reasons, MATCHING_FAILURES]
    changes: dict[str, object] = {"good_canaries": 0}
    if outcome.kind is OutcomeKind.CANARY:
        reasons.append(CANARY_FAILED)
    newly_quarantined = found is HealthStatus.QUARANTINED and status is not found
    if outcome.kind is OutcomeKind.CANARY or newly_quarantined:
        changes["cooldown_until"] = outcome.happened_at + COOLDOWN
    if found is not HealthStatus.HEALTHY:
        changes["reason_codes"] = tuple(dict.fromkeys(reasons))
    return HealthChange(found, record.changed(**changes))


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
