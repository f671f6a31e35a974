"""Looking for a sequence of commands that could reach a goal: breadth-first, without running anything."""

import posixpath
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contracts.learning.practice import StartPracticeRequest
from domain.learning.command_line import looks_like_path, named_paths
from domain.learning.command_safety import destructive_reason, external_send_reason, holds_masked_secret
from domain.learning.mining_signatures import goal_words
from domain.learning.practice_commands import Action, AllowedCommands, KnownCommand, Vocabulary, actions_for
from domain.learning.practice_rating import likeness

MAX_STEPS = 5
"""The longest sequence that is looked for."""

_MOST_NODES = 20_000
_MOST_PLANS = 200
_MOST_ACTIONS = 240
_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|'([^'\n]{1,80})'")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_INTERMEDIATES = 2


@dataclass(frozen=True)
class Problem:
    """What is to be brought about, from what, with what."""

    goal: str
    wanted: frozenset[str]
    start: frozenset[str]
    vocabulary: Vocabulary
    actions: tuple[Action, ...]


def problem_of(request: StartPracticeRequest, known: Iterable[KnownCommand]) -> Problem:
    """The request as a search: what destroys, sends or holds a masked secret is no action."""
    start = frozenset(file.name for file in request.start_files)
    wanted = frozenset(_wanted(request, start))
    allowed = AllowedCommands(request.allowed_commands)
    vocabulary = _vocabulary(request, start, wanted)
    found = actions_for(allowed, known, vocabulary, start)
    safe = [action for action in found if not _is_unsafe(action.command)]
    words = goal_words(request.goal)
    safe.sort(key=lambda action: (-action.evidence - likeness(words, [action]), action.command))
    return Problem(request.goal, wanted, start, vocabulary, tuple(safe[:_MOST_ACTIONS]))


def _wanted(request: StartPracticeRequest, start: frozenset[str]) -> Iterator[str]:
    for condition in request.success_conditions:
        if condition.path is not None:
            yield condition.path
        elif condition.command is not None:
            yield from (path for path in named_paths(condition.command, ".") if path not in start)


def _vocabulary(request: StartPracticeRequest, start: frozenset[str], wanted: frozenset[str]) -> Vocabulary:
    named = [word.strip(".,;:!?()") for word in request.goal.split()]
    files = [word for word in named if looks_like_path(word) and ".." not in word]
    suffix = next((posixpath.splitext(path)[1] for path in sorted(wanted | start)), "")
    between = [f"step-{number + 1}{suffix}" for number in range(_INTERMEDIATES)]
    outputs = (*sorted(wanted), *(file for file in files if file not in start), *between)
    texts = [first or second for first, second in _QUOTED.findall(request.goal)]
    texts += _NUMBER.findall(request.goal)
    texts += [
        c.text for c in request.success_conditions if c.text and "\n" not in c.text and "'" not in c.text
    ]
    return Vocabulary(
        inputs=tuple(dict.fromkeys((*sorted(start), *outputs))),
        outputs=tuple(dict.fromkeys(outputs)),
        texts=tuple(dict.fromkeys(texts)),
    )


def _is_unsafe(command: str) -> bool:
    if holds_masked_secret(command) or len(command) > 400:
        return True
    return destructive_reason(command) is not None or external_send_reason(command) is not None


def plans(problem: Problem, longest: int) -> Iterator[tuple[Action, ...]]:
    """Sequences of at most ``longest`` actions that make what is wanted without a useless step, short ones first."""
    waiting: deque[tuple[frozenset[str], tuple[Action, ...]]] = deque([(frozenset(), ())])
    looked_at = found = 0
    while waiting and looked_at < _MOST_NODES and found < _MOST_PLANS:
        made, plan = waiting.popleft()
        for action in problem.actions:
            looked_at += 1
            if not _applies(action, problem.start | made, made):
                continue
            after, longer = made | action.makes, (*plan, action)
            if problem.wanted <= after:
                if _all_needed(longer, problem.wanted):
                    found += 1
                    yield longer
            elif len(longer) < longest:
                waiting.append((after, longer))


def _applies(action: Action, there: frozenset[str], made: frozenset[str]) -> bool:
    if not action.reads <= there or (action.makes and action.makes <= made):
        return False
    folders = {f"{posixpath.dirname(path)}/" for path in action.makes if posixpath.dirname(path.rstrip("/"))}
    return all(folder in there or folder in action.makes for folder in folders)


def _all_needed(plan: Sequence[Action], wanted: frozenset[str]) -> bool:
    if not wanted:
        return True
    needed = set(wanted)
    for action in reversed(plan):
        if not action.makes & needed:
            return False
        needed |= action.reads
        needed |= {f"{posixpath.dirname(path)}/" for path in action.makes if "/" in path.rstrip("/")}
    return True
