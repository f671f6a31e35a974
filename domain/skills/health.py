"""Health of skills: which end of a run counts against its skill, and why a quarantined one is not run.

The rules of how many failures degrade and quarantine are those of abilities (``domain.abilities.capability_health``).
"""

from contracts.abilities.capability_health import CapabilityOutcome, OutcomeKind
from contracts.abilities.capability_manifest import HealthStatus
from contracts.base import clipped
from contracts.skills.health import SkillHealth
from contracts.skills.invocation import InvocationStatus
from contracts.skills.invocation_work import InvocationRecord
from domain.abilities.capability_health import after_outcome, why

OWN_FAULTS = frozenset(
    {"HANDLER_FAILED", "OUTPUT_INVALID", "OUTPUT_TOO_LARGE", "PERMISSION_DENIED", "TIMEOUT"}
)
"""Codes that speak against the skill itself: its handler failed, hung, or asked for what it may not have.

Every other code is the caller's (INVALID_INPUT, INSUFFICIENT_BALANCE), the far side's (PLATFORM_UNAVAILABLE,
NETWORK_ERROR), or the installation's (ISOLATION_UNAVAILABLE); and what nobody knows (OUTCOME_UNKNOWN) counts for
nothing.
"""


def outcome_of_run(record: InvocationRecord) -> CapabilityOutcome | None:
    """What an ended invocation says of its skill: a failure by its own fault, or how its recheck went.

    Of an ability whose script was run, a success is a use too, as every use of an ability is counted.
    """
    order = record.order
    if order.unapproved_path is not None or record.completed_at is None:
        # Tried out without its permissions, it proves nothing, and is not to be asked again by itself.
        return None
    good = record.status in (InvocationStatus.SUCCESS, InvocationStatus.PARTIAL)
    at_fault = record.status is InvocationStatus.FAILURE and record.error_code in OWN_FAULTS
    failed = at_fault and bool(record.attempts)
    if not (failed or order.recheck or (good and order.learned is not None)):
        return None
    return CapabilityOutcome(
        outcome_id=record.invocation_id,
        capability_id=order.skill_key[:160],
        kind=OutcomeKind.CANARY if order.recheck else OutcomeKind.USE,
        success=good,
        # What the far side, the caller or the installation is the cause of proves nothing, either way.
        not_run=not (good or failed),
        failure_fingerprint=None if good else record.error_code or record.status.value,
        summary=f"{order.function_name} {order.version}: {record.error_code or record.status.value}"[:500],
        reported_by=record.owner,
        happened_at=record.completed_at,
    )


def after(health: SkillHealth, outcome: CapabilityOutcome) -> SkillHealth:
    """The health after one outcome."""
    change = after_outcome(health.status, health.record, outcome)
    return health.changed(status=change.status, record=change.record, updated_at=outcome.happened_at)


def quarantine_reason(health: SkillHealth) -> str | None:
    """Why the skill is not run; none where its health does not forbid it."""
    if health.status is not HealthStatus.QUARANTINED:
        return None
    return clipped(
        f"{why(health.record)}; look at what it logged, then approve it again: apprentice skills approve {health.name}."
        " A run that only reads is also rechecked by the schedule.",
        240,
    )
