"""Activities of a recheck: take the runtime's inventory, choose what is due, run one canary."""

from collections.abc import Callable
from datetime import UTC, datetime

from temporalio import activity

from activities.refusals import refusing
from activities.validation_activities import default_policy
from contracts.base import clipped
from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.outcome import CapabilityOutcome, OutcomeKind
from contracts.capabilities.reprobe import CanaryResult, CanaryTask, ReprobeSelection
from contracts.capabilities.runtime import RuntimeCapabilityCheck, RuntimeInventory
from contracts.learning.validation import StepResult
from skills.canary import canary, is_present
from skills.step_report import CheckReport, CheckStep
from stores.capability_health_store import CapabilityHealthStore


class ReprobeActivities:
    """Each may be repeated: a canary counts once by its id."""

    def __init__(self, health: CapabilityHealthStore, written: Callable[[], None]) -> None:
        """``written`` is told after each change, so that files follow."""
        self._health = health
        self._written = written

    @activity.defn
    @refusing
    def take_inventory(self) -> int:
        """Looks at what the runtime has of all that capabilities require; returns how many things are missing."""
        found = [(name, is_present(name)) for name in self._health.required_caps()]
        checks = tuple(
            RuntimeCapabilityCheck(name=name, present=present)
            for name, present in found
            if present is not None
        )
        self._health.keep_inventory(RuntimeInventory(checks=checks, checked_at=datetime.now(UTC)))
        self._written()
        return sum(not check.present for check in checks)

    @activity.defn
    @refusing
    def select_due(self, selection: ReprobeSelection) -> list[str]:
        """The ids of the capabilities to recheck."""
        return list(self._health.due(selection))

    @activity.defn
    @refusing
    def run_canary(self, task: CanaryTask) -> CanaryResult | None:
        """Rechecks one capability and takes in how it went; ``None`` when it is not installed any more."""
        probed = self._health.probed(task.capability_id)
        if probed is None:
            return None
        report = canary(
            probed.standing.manifest,
            probed.draft,
            probed.test_policy or default_policy(),
            owner=probed.owner or task.requested_by,
        )
        failed = next((step for step in report.steps if step.result is StepResult.FAILED), None)
        after = self._health.record_outcome(_outcome(task, report, failed), task.correlation_id)
        self._written()
        return CanaryResult(
            capability_id=task.capability_id,
            success=failed is None,
            health_status=after.status if after is not None else HealthStatus.UNKNOWN,
            good_canaries=after.record.good_canaries if after is not None else 0,
            summary=_said(failed, 240),
        )


def _outcome(task: CanaryTask, report: CheckReport, failed: CheckStep | None) -> CapabilityOutcome:
    return CapabilityOutcome(
        outcome_id=task.outcome_id,
        capability_id=task.capability_id,
        kind=OutcomeKind.CANARY,
        success=failed is None,
        critical=report.safety_failure is not None,
        failure_fingerprint=failed.test_case_id if failed is not None else None,
        summary=_said(failed, 500),
        reported_by=task.requested_by,
        happened_at=datetime.now(UTC),
    )


def _said(failed: CheckStep | None, limit: int) -> str | None:
    return clipped(f"{failed.label}: {failed.details or 'failed'}", limit) if failed is not None else None
