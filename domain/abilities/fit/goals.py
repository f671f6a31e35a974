"""The goals that an ability is judged by: one for what was taught, one for each use of an imported skill.

A demonstration shows one piece of work, which its trigger phrases say in other words. A skill from elsewhere is for
many: its phrases are uses beside each other, "merge PDF files" and "fill in a form", and as one goal they fit none.
"""

import re
from collections.abc import Sequence

from contracts.abilities.availability import IMPORTED_FAMILY, AbilityAvailabilityEntry

_BETWEEN = "#"

PARAMETER = re.compile(r"\{(\w+)\}")
"""How a goal speaks of a parameter."""


def goals_of(entry: AbilityAvailabilityEntry) -> tuple[AbilityAvailabilityEntry, ...]:
    """Each goal as an ability of its own, whose id ``ability_of`` leads back; what is ruled out holds for all."""
    if entry.family != IMPORTED_FAMILY or not entry.trigger_phrases:
        return (entry,)
    said = dict.fromkeys((entry.title, *entry.trigger_phrases))
    return tuple(
        entry.changed(
            ability_id=f"{entry.ability_id}{_BETWEEN}{number}",
            title=use,
            trigger_phrases=(),
            aliases=(),
            method=(),
            techniques=(),
        )
        for number, use in enumerate(said)
    )


def ability_of(goal_id: str) -> str:
    """The id of the ability whose goal this is."""
    return goal_id.partition(_BETWEEN)[0]


def goal_said(entry: AbilityAvailabilityEntry) -> str:
    """The whole goal as a person says it, or the title where none is known; a parameter by its name."""
    goal = entry.method[0] if entry.method else entry.title
    return PARAMETER.sub(lambda found: found[1].replace("_", " "), goal)


def goal_read(entry: AbilityAvailabilityEntry) -> str:
    """The goal with the techniques that were shown, which a request in technical words is read together with."""
    return with_techniques(goal_said(entry), entry.techniques)


def with_techniques(goal: str, techniques: Sequence[str]) -> str:
    """A goal, with what its commands do behind it in brackets."""
    return f"{goal} ({', '.join(techniques)})" if techniques else goal
