"""The goals that an ability is judged by: one for what was taught, one for each use of an imported skill.

A demonstration shows one piece of work, which its trigger phrases say in other words. A skill from elsewhere is for
many: its phrases are uses beside each other, "merge PDF files" and "fill in a form", and as one goal they fit none.
"""

import re

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
    return _named(goal)


def goal_read(entry: AbilityAvailabilityEntry) -> str:
    """The goal with its method in brackets: the techniques that were shown, then the facts that the result depends on.

    A request in technical words is read together with it; without a method it is the goal alone.
    """
    facts = (_named(fact.partition(_TYPED)[0]).replace("'", "") for fact in entry.method[1:])
    method = "; ".join(one for one in (", ".join(entry.techniques), *facts) if one)
    return f"{goal_said(entry)} ({method})" if method else goal_said(entry)


_TYPED = " ( "
"""Stands between a fact in words and the command as it was typed."""


def _named(text: str) -> str:
    """The text with the names of parameters in their places."""
    return PARAMETER.sub(lambda found: found[1].replace("_", " "), text)
