"""The result of one check, case by case."""

from dataclasses import dataclass

from contracts.learning.validation import StepResult


@dataclass(frozen=True)
class CheckStep:
    """One case: what was looked at and what was seen (details at most 1,000 characters).

    A case that does not ``apply`` is skipped for a reason that lies in what was taught; it proves nothing.
    """

    test_case_id: str
    label: str
    result: StepResult
    details: str | None = None
    applies: bool = True


@dataclass(frozen=True)
class CheckReport:
    """A check passes when it looked at something, nothing failed, and nothing unsafe was seen."""

    steps: tuple[CheckStep, ...]
    safety_failure: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the check proves anything and found nothing wrong. A skipped case proves nothing."""
        applied = [step for step in self.steps if step.applies]
        return (
            bool(applied)
            and self.safety_failure is None
            and all(step.result is StepResult.PASSED for step in applied)
        )

    @property
    def not_applicable(self) -> str | None:
        """Why the whole check cannot apply to what was taught; ``None`` where any of it does."""
        if not self.steps or self.safety_failure is not None or any(step.applies for step in self.steps):
            return None
        return self.steps[0].details or "not applicable"
