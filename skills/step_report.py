"""The result of one check, case by case."""

from dataclasses import dataclass

from contracts.learning.validation import StepResult


@dataclass(frozen=True)
class CheckStep:
    """One case: what was looked at and what was seen (details at most 1,000 characters)."""

    test_case_id: str
    label: str
    result: StepResult
    details: str | None = None


@dataclass(frozen=True)
class CheckReport:
    """A check passes when it looked at something, nothing failed, and nothing unsafe was seen."""

    steps: tuple[CheckStep, ...]
    safety_failure: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the check proves anything and found nothing wrong. A skipped case proves nothing."""
        return (
            bool(self.steps)
            and self.safety_failure is None
            and all(step.result is StepResult.PASSED for step in self.steps)
        )
