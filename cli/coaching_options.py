"""What a coach gives an agent before it works, as options of ``apprentice learn create``."""

from collections.abc import Sequence
from typing import Annotated

import typer

from cli.invocation import NothingToDo
from contracts.learning.coaching import Coaching, CoachingConstraint, CoachingHint, HintKind
from contracts.learning.session import LearningEntryMode

_PANEL = "Coaching an agent"

GoalOption = Annotated[
    str | None,
    typer.Option(
        "--goal", help="What the agent is to reach. The rest of coaching needs it.", rich_help_panel=_PANEL
    ),
]
HintOption = Annotated[
    list[str] | None,
    typer.Option("--hint", help="An outcome on the way, no action (repeatable).", rich_help_panel=_PANEL),
]
UseWhenOption = Annotated[
    list[str] | None,
    typer.Option("--use-when", help="When it is to be used (repeatable).", rich_help_panel=_PANEL),
]
NotWhenOption = Annotated[
    list[str] | None,
    typer.Option("--not-when", help="When it is not to be used (repeatable).", rich_help_panel=_PANEL),
]
ConstraintOption = Annotated[
    list[str] | None,
    typer.Option("--constraint", help="What must not happen, in words (repeatable).", rich_help_panel=_PANEL),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="FILE",
        help="A file that stays as it is; the agent's work is checked for it (repeatable).",
        rich_help_panel=_PANEL,
    ),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="PROGRAM",
        help="A program or tool that is not used; checked likewise (repeatable).",
        rich_help_panel=_PANEL,
    ),
]


def entry_mode(given: LearningEntryMode | None, *, coached: bool) -> LearningEntryMode:
    """How the person teaches: as said, by coaching where anything of it was given, else by demonstrating.

    Raises:
        NothingToDo: coaching was given together with another way to teach.
    """
    if given is None:
        return LearningEntryMode.COACHING_AGENT if coached else LearningEntryMode.DEMONSTRATING_SKILL
    if coached and given is not LearningEntryMode.COACHING_AGENT:
        raise NothingToDo(
            f"A goal, hints and constraints are for coaching an agent, not for {given.value}; "
            f"leave them out or say --mode {LearningEntryMode.COACHING_AGENT.value}."
        )
    return given


def coaching_of(
    goal: str | None,
    *,
    hints: Sequence[str],
    use_when: Sequence[str],
    not_when: Sequence[str],
    constraints: Sequence[str],
    keep: Sequence[str],
    without: Sequence[str],
) -> Coaching | None:
    """The coach's frame; None when nothing of it was given.

    Raises:
        NothingToDo: hints or constraints were given without a goal.
    """
    given = (
        *(CoachingHint(kind=HintKind.CHECKPOINT, text=text) for text in hints),
        *(CoachingHint(kind=HintKind.USE_WHEN, text=text) for text in use_when),
        *(CoachingHint(kind=HintKind.NOT_WHEN, text=text) for text in not_when),
    )
    ruled_out = (
        *(CoachingConstraint(text=text) for text in constraints),
        *(CoachingConstraint(text=f"{path} stays as it is", kept_paths=(path,)) for path in keep),
        *(CoachingConstraint(text=f"Do not use {name}", forbidden_programs=(name,)) for name in without),
    )
    if goal is None:
        if given or ruled_out:
            raise NothingToDo("Hints and constraints need a goal; say what is to be reached with --goal.")
        return None
    return Coaching(goal=goal, hints=given, constraints=ruled_out)
