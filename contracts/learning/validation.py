"""Validation runs: step results, report, the messages of their workflow, and the rule that makes a draft proven.

DOC3 §0C.10, §0A.18. Review, install, rollback and the end of a quarantine share the rule (ADR 12).
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import Field

from contracts.abilities.availability import MAX_UNPROVED, UnprovedStep
from contracts.base import Contract, Sha256, Text160, Text240, Text1000, UtcTime, Uuid, VersionedContract
from contracts.learning.test_policy import TestPolicy


class ValidationRunKind(StrEnum):
    """The kinds of check."""

    LINT = "lint"
    TRIGGER = "trigger"
    DRY_RUN = "dry_run"
    CANARY = "canary"
    ADAPTER_CHECK = "adapter_check"
    DEPENDENCY_CHECK = "dependency_check"
    REHEARSAL = "rehearsal"
    ABLATION = "ablation"
    VARIATION = "variation"


REQUIRED_CHECKS: tuple[ValidationRunKind, ...] = (
    ValidationRunKind.LINT,
    ValidationRunKind.TRIGGER,
    ValidationRunKind.DRY_RUN,
    ValidationRunKind.DEPENDENCY_CHECK,
    ValidationRunKind.REHEARSAL,
)
"""The ladder every draft climbs, in order; all must pass for one content hash before it may be installed."""


OFFERED_CHECKS: tuple[ValidationRunKind, ...] = (
    *REQUIRED_CHECKS,
    ValidationRunKind.ABLATION,
    ValidationRunKind.VARIATION,
)
"""What a validation run can be asked for; those behind the ladder report on the conditions, and excuse nothing."""

RUNS_COMMANDS = frozenset(
    {ValidationRunKind.REHEARSAL, ValidationRunKind.ABLATION, ValidationRunKind.VARIATION}
)
"""Checks that carry out taught commands: begun only where the cheap ones before them found nothing."""

CHECK_REF = "check:"
"""Begins each of a run's ``result_refs``; a check's name follows."""

MAY_NOT_APPLY = frozenset({ValidationRunKind.REHEARSAL})
"""Checks that some drafts leave nothing to do for: a demonstration in a browser has no command to repeat."""


def is_proven(passed: Sequence[ValidationRunKind], not_applicable: Sequence[ValidationRunKind]) -> bool:
    """Whether a draft may be installed: every required check has passed, save those that cannot apply to it.

    What does not apply was not passed and is never counted as such: reports and runs name it apart.
    """
    excused = MAY_NOT_APPLY.intersection(not_applicable)
    return all(check in passed or check in excused for check in REQUIRED_CHECKS)


def unproved_digest(steps: Sequence[UnprovedStep]) -> str:
    """SHA-256 in hex of a list of unproved steps, by which an acceptance names the list that was seen."""
    shown = [[one.case, one.step, one.reason] for one in steps]
    return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()


def acceptance_objection(
    steps: Sequence[UnprovedStep], *, accepted: bool, digest: str | None, command: str = "learn approve"
) -> str | None:
    """Why a draft with these unproved steps may not be installed; ``None`` where a person has accepted them.

    ``digest`` is that of the list that the person has seen; without one the list as it stands is meant. ``command``
    is the one of the command line that takes the acceptance.
    """
    if not steps or (accepted and digest in (None, unproved_digest(steps))):
        return None
    named = f"{steps[0].step[:80]}{f' and {len(steps) - 1} more' if len(steps) > 1 else ''}"
    if accepted:
        return f"What is not proved has changed since it was accepted: {named}. Read the list again."
    return (
        f"Not proved here: {named}. Accept the list with accept_unproved, or `{command} --accept-unproved`."
    )


class OverallResult(StrEnum):
    """A run's result; a running one is ``partial`` without ``completed_at`` (decisions "Learning").

    ``partial`` with ``completed_at``: nothing failed, and a check could not be applied to what was taught.
    """

    PASSED = "passed"
    FAILED = "failed"
    PARTIAL = "partial"
    CANCELLED = "cancelled"


class StepResult(StrEnum):
    """One test case's result."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class ValidationRun(VersionedContract):
    """One run of checks over one proposal. ``run_kind`` is the deepest check it holds."""

    validation_run_id: Uuid
    proposal_id: Uuid
    run_kind: ValidationRunKind
    run_label: str | None = Field(default=None, max_length=120)
    content_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="The draft the results are bound to.")
    stale: bool = Field(
        default=False, description="The draft has changed since; the results prove nothing now."
    )
    started_at: UtcTime
    completed_at: UtcTime | None = None
    overall_result: OverallResult
    result_refs: tuple[Text240, ...] = ()
    passed_checks: tuple[ValidationRunKind, ...] = Field(
        default=(), description="The checks of this run that passed; empty while it runs."
    )
    not_applicable: tuple[ValidationRunKind, ...] = Field(
        default=(), description="The checks of this run that could not be applied; none of them passed."
    )
    workflow_id: Text160 | None = Field(
        default=None, description="The workflow of a run that is no part of a session or an install."
    )

    @property
    def checks(self) -> tuple[ValidationRunKind, ...]:
        """The checks the run was asked for, in order."""
        named = (ref for ref in self.result_refs if ref.startswith(CHECK_REF))
        return tuple(ValidationRunKind(ref.removeprefix(CHECK_REF)) for ref in named)


class ValidationStepResult(VersionedContract):
    """One test case. Its id starts with the check it belongs to (``trigger/positive-1``)."""

    validation_run_id: Uuid
    test_case_id: Text160
    label: Text240
    result: StepResult
    details: Text1000 | None = None
    created_at: UtcTime


class SafetyClass(StrEnum):
    """How much harm could be done by what is taught: its commands, pages, and the skills that it runs."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @classmethod
    def worst(cls, classes: Iterable["SafetyClass"]) -> "SafetyClass":
        """The class of several things together; low of none."""
        return max(classes, key=list(cls).index, default=cls.LOW)


class SkillValidationReport(VersionedContract):
    """The sum of a proposal's validation runs, which an install is bound to (DOC3 §0A.18)."""

    proposal_id: Uuid
    lint_passed: bool
    trigger_tests_passed: bool
    dry_run_passed: bool
    canary_passed: bool = Field(
        default=False, description="The method, run once as rechecks do: dry run, dependencies and rehearsal."
    )
    dependency_check_passed: bool
    collision_check_passed: bool = Field(description="The skill's name is free for its owner.")
    rehearsal_passed: bool = False
    not_applicable: tuple[ValidationRunKind, ...] = Field(
        default=(),
        description="Required checks that this draft leaves nothing to do for; none of them passed.",
    )
    safety_class: SafetyClass
    content_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    issues: tuple[Text240, ...] = ()
    created_at: UtcTime


class ValidationRunInput(Contract):
    """Which checks to run over which draft."""

    validation_run_id: Uuid
    proposal_id: Uuid
    learn_session_id: Uuid | None = None
    owner_user_id: str
    content_hash: Sha256
    checks: tuple[ValidationRunKind, ...]
    test_policy: TestPolicy | None = None
    correlation_id: str


class ValidationRunOutput(Contract):
    """What the run found. A safety failure quarantines the proposal; any other sends it back to drafting."""

    overall_result: OverallResult
    passed_checks: tuple[ValidationRunKind, ...]
    failed_summary: Text240 | None = None
    safety_failure: Text240 | None = None
    safety_class: SafetyClass = SafetyClass.LOW
    name_is_free: bool | None = None
    not_applicable: tuple[ValidationRunKind, ...] = ()
    not_applicable_reason: Text240 | None = None
    unproved: tuple[UnprovedStep, ...] = Field(default=(), max_length=MAX_UNPROVED)

    def accounts_for(self, check: ValidationRunKind) -> bool:
        """Whether a check has passed, or cannot apply to this draft."""
        return check in self.passed_checks or check in self.not_applicable


class CheckInput(Contract):
    """One check of a run."""

    run: ValidationRunInput
    check: ValidationRunKind


class CheckOutput(Contract):
    """One check's outcome; its step results are in the store."""

    check: ValidationRunKind
    passed: bool
    steps: int
    failed_summary: Text240 | None = None
    safety_failure: Text240 | None = None
    safety_class: SafetyClass = SafetyClass.LOW
    name_is_free: bool | None = Field(
        default=None, description="Of the dependency check: whether the skill's name collides with nothing."
    )
    not_applicable: Text240 | None = Field(
        default=None, description="Why the check cannot apply to this draft."
    )
    unproved: tuple[UnprovedStep, ...] = Field(
        default=(), max_length=MAX_UNPROVED, description="Its cases that could not be tried here."
    )


_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DraftProof:
    """What stands proven of one content, in the order of the ladder."""

    passed: tuple[ValidationRunKind, ...] = ()
    not_applicable: tuple[ValidationRunKind, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether this content may be installed, gone back to, and let out of quarantine."""
        return is_proven(self.passed, self.not_applicable)

    def after(
        self,
        checks: Collection[ValidationRunKind],
        passed: Collection[ValidationRunKind],
        not_applicable: Collection[ValidationRunKind],
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
    known: Collection[ValidationRunKind],
    checks: Collection[ValidationRunKind],
    found: Collection[ValidationRunKind],
) -> tuple[ValidationRunKind, ...]:
    return tuple(c for c in REQUIRED_CHECKS if c in found or (c in known and c not in checks))


def _results(run: ValidationRun) -> tuple[Collection[ValidationRunKind], Collection[ValidationRunKind]]:
    if run.passed_checks or run.not_applicable or run.overall_result is OverallResult.FAILED:
        return run.passed_checks, run.not_applicable
    # Kept before runs named their checks: nothing had failed, and where it is partial, what may not apply did not.
    excused = MAY_NOT_APPLY if run.overall_result is OverallResult.PARTIAL else frozenset[ValidationRunKind]()
    return [check for check in run.checks if check not in excused], excused.intersection(run.checks)
