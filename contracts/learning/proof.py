"""What makes a draft proven: the one rule that review, install, roll-back and the end of a quarantine ask (ADR 12)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.learning.validation import (
    MAY_NOT_APPLY,
    REQUIRED_CHECKS,
    OverallResult,
    ValidationRun,
    is_proven,
)
from contracts.learning.validation import ValidationRunKind as Check

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DraftProof:
    """What stands proven of one content, in the order of the ladder."""

    passed: tuple[Check, ...] = ()
    not_applicable: tuple[Check, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether this content may be installed, gone back to, and let out of quarantine."""
        return is_proven(self.passed, self.not_applicable)

    def after(
        self, checks: Collection[Check], passed: Collection[Check], not_applicable: Collection[Check]
    ) -> "DraftProof":
        """What stands after a run of ``checks``: its word replaces what was known of those, and of no other."""
        return DraftProof(
            passed=_standing(self.passed, checks, passed),
            not_applicable=_standing(self.not_applicable, checks, not_applicable),
        )


def proof_of(runs: Iterable[ValidationRun]) -> DraftProof:
    """What runs over the same content prove together, in the order they ended; one that has not ended says nothing."""
    proof = DraftProof()
    for run in sorted(runs, key=lambda run: run.completed_at or _NEVER):
        if run.completed_at is not None and run.overall_result is not OverallResult.CANCELLED:
            passed, not_applicable = _results(run)
            proof = proof.after(run.checks, passed, not_applicable)
    return proof


def _standing(
    known: Collection[Check], checks: Collection[Check], found: Collection[Check]
) -> tuple[Check, ...]:
    return tuple(c for c in REQUIRED_CHECKS if c in found or (c in known and c not in checks))


def _results(run: ValidationRun) -> tuple[Collection[Check], Collection[Check]]:
    if run.passed_checks or run.not_applicable or run.overall_result is OverallResult.FAILED:
        return run.passed_checks, run.not_applicable
    # Kept before runs named their checks: nothing had failed, and where it is partial, what may not apply did not.
    excused = MAY_NOT_APPLY if run.overall_result is OverallResult.PARTIAL else frozenset[Check]()
    return [check for check in run.checks if check not in excused], excused.intersection(run.checks)
