"""What practice tries next: the best of what the search finds and a model suggests, or what it has to ask."""

from collections.abc import Iterable, Iterator, Sequence

from contracts.base import clipped
from contracts.learning.model_draft import DETERMINISTIC
from contracts.learning.practice import (
    NextIdea,
    PracticeAttempt,
    PracticeConditionKind,
    PracticeIdea,
    PracticeState,
    PracticeStep,
    StartPracticeRequest,
)
from contracts.learning.practice_model import PracticeThoughts
from domain.learning.practice_commands import Action, KnownCommand, suggested_action
from domain.learning.practice_rating import confidence, was_tried
from domain.learning.practice_search import MAX_STEPS, Problem, plans, problem_of


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
    return NextIdea(idea=best.model_copy(update={"proposer_note": note}))


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
