"""Search command sequences that could reach a goal, score them, and choose the next one to try or ask about.

The search is breadth-first and runs nothing; suggestions of a model are scored by the same rules.
"""

import posixpath
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.model_draft import DETERMINISTIC
from contracts.practice.practice import (
    NextIdea,
    PracticeAttempt,
    PracticeConditionKind,
    PracticeIdea,
    PracticeState,
    PracticeStep,
    PracticeThoughts,
    StartPracticeRequest,
)
from domain.learning.commands.command_line import looks_like_path, named_paths, programs_in
from domain.learning.commands.command_safety import (
    destructive_reason,
    external_send_reason,
    holds_masked_secret,
)
from domain.learning.commands.operations import operation_of
from domain.mining.traces import goal_words
from domain.practice.commands import (
    Action,
    AllowedCommands,
    KnownCommand,
    Vocabulary,
    actions_for,
    suggested_action,
)

MAX_STEPS = 5
"""The longest sequence that is looked for."""

_MOST_NODES = 20_000

_MOST_PLANS = 200

_MOST_ACTIONS = 240

_FAILED_PENALTY = 0.15

_STEP_COST = 0.02

_WORDS = re.compile(r"[^\W\d_]{2,}")

_ARCHIVES = frozenset({".tgz", ".gz", ".tar", ".zip", ".bz2", ".xz"})

_ARCHIVERS = frozenset({"tar", "gzip", "zip", "bzip2", "xz"})

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


def next_idea(
    request: StartPracticeRequest,
    known: Iterable[KnownCommand],
    tried: Sequence[PracticeAttempt],
    actions_left: int,
    thoughts: PracticeThoughts | None = None,
) -> NextIdea:
    """The best idea that was not tried and fits into ``actions_left``, or the question it comes down to.

    A model's plans are rated by the same rules as what the search finds, and nothing is tried below the
    confidence that the person asked for.
    """
    longest = steps_left(request, actions_left)
    if longest < 1:
        return NextIdea(end=PracticeState.BUDGET_USED, note="The actions allowed are used up.")
    problem = problem_of(request, known)
    found = {tuple(a.command for a in plan): plan for plan in plans(problem, longest)}
    suggested = {tuple(a.command for a in plan): plan for plan in _suggested(problem, thoughts, longest)}
    ideas = [
        PracticeIdea(
            steps=tuple(map(_step, plan)),
            confidence=confidence(problem.goal, problem.wanted, plan, tried),
            proposed_by=DETERMINISTIC if commands in found or thoughts is None else f"model:{thoughts.model}",
        )
        for commands, plan in (suggested | found).items()
        if not was_tried(plan, tried)
    ]
    ideas.sort(key=lambda idea: (-idea.confidence, len(idea.steps), [step.command for step in idea.steps]))
    if not ideas:
        return _out_of_ideas(problem, tried, thoughts)
    best = ideas[0]
    if best.confidence < request.confirm_below:
        shown = " && ".join(step.command for step in best.steps)
        return NextIdea(
            end=PracticeState.ASKS,
            question=clipped(f"Would this be right (confidence {best.confidence:.2f}): {shown}?", 400),
            note="The best idea is below the confidence asked for.",
        )
    if thoughts is None or best.proposed_by != DETERMINISTIC:
        return NextIdea(idea=best)
    note = thoughts.note or (
        f"Rated above what {thoughts.model} suggested."
        if any(idea.proposed_by != DETERMINISTIC for idea in ideas)
        else f"{thoughts.model} suggested nothing else that fits."
    )
    return NextIdea(idea=best.changed(proposer_note=note))


def steps_left(request: StartPracticeRequest, actions_left: int) -> int:
    """How many commands a sequence may have: each of the person's check commands counts as an action too."""
    checks = sum(c.kind is PracticeConditionKind.COMMAND_EXITS for c in request.success_conditions)
    return min(MAX_STEPS, actions_left - checks)


def _suggested(
    problem: Problem, thoughts: PracticeThoughts | None, longest: int
) -> Iterator[tuple[Action, ...]]:
    for plan in thoughts.plans if thoughts is not None else ():
        if len(plan.commands) <= longest:
            yield tuple(suggested_action(c, problem.vocabulary, problem.start) for c in plan.commands)


def _out_of_ideas(
    problem: Problem, tried: Sequence[PracticeAttempt], thoughts: PracticeThoughts | None
) -> NextIdea:
    made = ", ".join(sorted(problem.wanted)) or "the goal"
    more = "more " if tried else ""
    note = f"Out of ideas. {thoughts.note}" if thoughts is not None and thoughts.note else "Out of ideas."
    return NextIdea(
        end=PracticeState.ASKS,
        question=clipped(
            f"Nothing {more}that is allowed or known leads to {made}. Which command does it?", 400
        ),
        note=clipped(note, 240),
    )


def _step(action: Action) -> PracticeStep:
    return PracticeStep(command=action.command, source=action.source, about=clipped(action.about, 240))


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
