"""How likely a sequence of commands is to be right, before it is tried; whoever suggested it."""

import posixpath
import re
from collections.abc import Sequence, Set

from contracts.learning.practice import PracticeAttempt
from domain.learning.command_line import programs_in
from domain.learning.mining_signatures import goal_words
from domain.learning.operations import operation_of
from domain.learning.practice_commands import Action

_WORDS = re.compile(r"[^\W\d_]{2,}")
_ARCHIVES = frozenset({".tgz", ".gz", ".tar", ".zip", ".bz2", ".xz"})
_ARCHIVERS = frozenset({"tar", "gzip", "zip", "bzip2", "xz"})
_FAILED_PENALTY = 0.15
_STEP_COST = 0.02


def confidence(
    goal: str, wanted: Set[str], plan: Sequence[Action], tried: Sequence[PracticeAttempt]
) -> float:
    """Between 0 and 1.

    Half for the wanted files the sequence makes, by its reading; a quarter for how well its commands are known;
    0.15 for likeness to the goal, 0.1 for the fit of commands and file names; less for each further step, and
    where a sequence like it has failed.
    """
    makes = frozenset[str]().union(*(action.makes for action in plan))
    coverage = len(wanted & makes) / len(wanted) if wanted else 0.5
    evidence = sum(action.evidence for action in plan) / len(plan)
    commands = {action.command for action in plan}
    shared = [len(commands & {step.command for step in one.idea.steps}) / len(commands) for one in tried]
    aptness = sum(map(_aptness, plan)) / len(plan)
    cost = _FAILED_PENALTY * max(shared, default=0) + _STEP_COST * (len(plan) - 1)
    score = 0.5 * coverage + 0.25 * evidence + 0.15 * likeness(goal_words(goal), plan) + 0.1 * aptness - cost
    return round(min(1.0, max(0.0, score)), 4)


def likeness(words: frozenset[str], plan: Sequence[Action]) -> float:
    """The share of the goal's words that the commands, their operations or what they were taught for have."""
    if not words:
        return 0.0
    said = " ".join(f"{a.command} {a.about} {operation_of(a.command).verb}" for a in plan).lower()
    found = set(_WORDS.findall(said))
    return sum(word in found or word.removesuffix("s") in found for word in words) / len(words)


def was_tried(plan: Sequence[Action], tried: Sequence[PracticeAttempt]) -> bool:
    """Whether it is, or begins with, what has failed: the same commands fail again."""
    commands = [action.command for action in plan]
    for attempt in tried:
        run = [action for action in attempt.actions if not action.is_check]
        done = [action.command for action in run]
        failed = bool(run) and not run[-1].succeeded
        if commands == [step.command for step in attempt.idea.steps] or (
            failed and commands[: len(done)] == done
        ):
            return True
    return False


def _aptness(action: Action) -> float:
    """How well the names of the files it makes go with what it does: 0 to 1, one half where nothing tells."""
    programs = set(programs_in(action.command))
    for path in action.makes:
        if (posixpath.splitext(path)[1] in _ARCHIVES) != bool(programs & _ARCHIVERS):
            return 0.0
    verb = operation_of(action.command).verb.lower()
    stems = {word.lower() for path in action.makes for word in _WORDS.findall(path)}
    return 1.0 if any(stem.startswith(verb) or verb.startswith(stem) for stem in stems) else 0.5
