"""The further demonstrations of a task, each with its own inputs, as a rehearsal repeats them for proof."""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.learning.interpretation import (
    REHEARSED_EFFECTS,
    ObservedEffect,
    SemanticWorkflowInterpretation,
)
from contracts.learning.proposal import (
    MAX_REHEARSED_DEMONSTRATIONS,
    RehearsalCommand,
    RehearsedDemonstration,
)
from domain.learning.inference import lasting_effects, materials_of
from domain.learning.noise import can_be_replayed
from domain.learning.steps import DemonstratedStep, all_events


def rehearsal_commands(steps: Sequence[DemonstratedStep]) -> tuple[RehearsalCommand, ...]:
    """The commands of one demonstration that can be replayed, in order."""
    return tuple(
        RehearsalCommand(
            event_id=e.event_id, command=e.terminal.command, working_folder=e.terminal.working_folder
        )
        for e in all_events(steps)
        if e.terminal and can_be_replayed(e)
    )


def file_effects(steps: Sequence[DemonstratedStep]) -> tuple[ObservedEffect, ...]:
    """What one demonstration left behind, and a rehearsal of it can be seen to leave behind again."""
    return tuple(
        ObservedEffect(
            kind="file_exists" if e.survives else "file_absent", path=e.path, source_event_id=e.event_id
        )
        for e in lasting_effects(steps)
    )


def further_demonstrations(
    demonstrations: Sequence[Sequence[DemonstratedStep]],
) -> tuple[RehearsedDemonstration, ...]:
    """The second and third demonstration; one without a command that can be replayed proves nothing."""
    numbered = enumerate(demonstrations[:MAX_REHEARSED_DEMONSTRATIONS], start=1)
    found = (
        RehearsedDemonstration(
            number=number,
            commands=rehearsal_commands(steps),
            effects=file_effects(steps),
            inputs=_inputs(steps),
        )
        for number, steps in numbered
        if number > 1
    )
    return tuple(one for one in found if one.commands)


def _inputs(steps: Sequence[DemonstratedStep]) -> tuple[str, ...]:
    found = materials_of(steps)
    return tuple(clipped(path, 240) for path in (*found.supplied, *found.scripts))


def without_undone_effects(
    interpretation: SemanticWorkflowInterpretation, steps: Sequence[DemonstratedStep]
) -> SemanticWorkflowInterpretation:
    """Without the files that an optional step of the first demonstration undid: its rehearsal undoes them too."""
    left = {(effect.kind, effect.path) for effect in file_effects(steps)}
    kept = tuple(
        effect
        for effect in interpretation.observed_effects
        if effect.kind not in REHEARSED_EFFECTS or (effect.kind, effect.path) in left
    )
    return interpretation.model_copy(update={"observed_effects": kept})
