"""Whether everything a drafted skill needs is there, and its name is free."""

import shutil

from contracts.learning.proposal import SkillDraft
from contracts.learning.validation import StepResult
from skills.step_report import CheckReport, CheckStep

SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for: the path a rehearsal has."""


def check_dependencies(draft: SkillDraft, *, slug_owner: str | None, owner: str) -> CheckReport:
    """Looks up each program the taught commands call, and whether the skill's name is somebody else's."""
    steps = [_program(name) for name in draft.dependencies]
    steps.append(_name(draft.slug, slug_owner, owner))
    return CheckReport(steps=tuple(steps))


def _program(name: str) -> CheckStep:
    found = shutil.which(name, path=SANDBOX_PATH)
    return CheckStep(
        test_case_id=f"dependency_check/{name}"[:160],
        label=f"The program {name} is installed"[:240],
        result=StepResult.PASSED if found else StepResult.FAILED,
        details=None if found else f"Install {name}, or teach the task with a program that is there.",
    )


def _name(slug: str, slug_owner: str | None, owner: str) -> CheckStep:
    free = slug_owner is None or slug_owner == owner
    return CheckStep(
        test_case_id="dependency_check/name",
        label=f"The skill name {slug} is free or your own"[:240],
        result=StepResult.PASSED if free else StepResult.FAILED,
        details=None if free else "Another user has a skill of this name; revise proposed_skill_slug.",
    )
