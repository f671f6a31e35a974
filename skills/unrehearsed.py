"""What of a demonstration no rehearsal can repeat, said plainly instead of passed over (DOC3 §0C.14)."""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.learning.interpretation import REHEARSED_EFFECTS, ObservedEffect
from contracts.learning.proposal import SkillDraft
from contracts.learning.validation import SafetyClass, StepResult
from skills.step_report import CheckStep

REASON = (
    "not applicable: this was shown in a browser, and a rehearsal repeats commands, not what was done on a live site;"
    " whoever uses the skill verifies its checkpoints there"
)


def rehearsed_effects(effects: Sequence[ObservedEffect]) -> tuple[ObservedEffect, ...]:
    """The effects that a rehearsal can bring about again."""
    return tuple(effect for effect in effects if effect.kind in REHEARSED_EFFECTS)


def unrehearsed_steps(effects: Sequence[ObservedEffect]) -> tuple[CheckStep, ...]:
    """A skipped case for each effect that was seen in a browser."""
    unseen = (effect for effect in effects if effect.kind not in REHEARSED_EFFECTS)
    return tuple(
        CheckStep(
            f"rehearsal/page-{number:02d}",
            clipped(f"seen when it was shown: {effect.path}", 240),
            StepResult.SKIPPED,
            REASON,
            applies=False,
        )
        for number, effect in enumerate(unseen, start=1)
    )


def safety_beside(commands: SafetyClass, effects: Sequence[ObservedEffect]) -> SafetyClass:
    """The safety class of commands and pages together: what acts on a live site is never low."""
    if commands is SafetyClass.LOW and len(rehearsed_effects(effects)) < len(effects):
        return SafetyClass.MEDIUM
    return commands


def nothing_to_rehearse(draft: SkillDraft, effects: Sequence[ObservedEffect]) -> bool:
    """Whether all that was shown was seen in a browser: no command to repeat, no file to look for."""
    return not draft.taught_commands and bool(effects) and not rehearsed_effects(effects)
