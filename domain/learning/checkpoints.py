"""Checkpoints out of steps: the states worth verifying, in order (decisions "Checkpoints", DOC3 §0C.9A)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.interpretation import Checkpoint
from contracts.learning.observation import TerminalObservation
from domain.learning.command_line import named_paths, sources_in
from domain.learning.contradiction import contradict, same_state
from domain.learning.effects import NetChange, NetEffect
from domain.learning.lint import is_semantic
from domain.learning.naming import listed
from domain.learning.operations import (
    BUILD,
    COMMIT,
    DELETE,
    MOVE,
    PREPARE,
    RUN,
    TEST,
    VERIFY,
    WRITE,
    Operation,
    operation_of,
)
from domain.learning.page_outcomes import PageOutcome, page_outcomes
from domain.learning.states import may_be_shown, shown_path, state_of
from domain.learning.steps import DemonstratedStep, total_effects

MAX_CHECKPOINTS = 20
"""More would be a list of actions again; the last ones say the most."""

FILES_NAMED = 3
"""The most files one condition names."""

_WITHOUT_FILE = {
    COMMIT.key: "The newest commit holds the change",
    TEST.key: "The test run reports no failure",
    BUILD.key: "The build output is present and newer than its sources",
}


@dataclass(frozen=True)
class _Draft:
    goal: str
    condition: str


def checkpoints_for(steps: Sequence[DemonstratedStep]) -> tuple[Checkpoint, ...]:
    """One checkpoint for each step that left a lasting state, at least one in all.

    What was only there in between (a file that a later step removes) is no checkpoint. Wordings that the lint
    would refuse, a file name that looks like a selector say, give way to neutral ones.
    """
    lasting: defaultdict[str, list[NetEffect]] = defaultdict(list)
    for effect in total_effects(steps):
        if effect.change is not NetChange.TRANSIENT:
            lasting[effect.event_id].append(effect)
    drafts: list[_Draft] = []
    pages = page_outcomes(steps)
    for number, step in reversed(list(enumerate(steps, start=1))):
        effects = [effect for event in step.events for effect in lasting[event.event_id]]
        draft = _draft(step, effects, number, pages[number - 1])
        if draft is not None and not _clashes(draft, drafts):
            drafts.insert(0, draft)
        if len(drafts) == MAX_CHECKPOINTS:
            break
    if not drafts:
        drafts = [
            _Draft("The work is complete", "The result that was asked for is there and can be looked at")
        ]
    return tuple(
        Checkpoint(checkpoint_id=f"cp-{n:02d}", goal=d.goal, success_condition=d.condition, order_hint=n)
        for n, d in enumerate(_with_distinct_goals(drafts), start=1)
    )


def main_operation(step: DemonstratedStep) -> Operation:
    """What the step as a whole does: the last command that made a file speaks for it, else the last one."""
    telling = _telling(step)
    return operation_of(telling.command) if telling else RUN


def existence(effect: NetEffect) -> str | None:
    """The plain statement of one file's effect, or ``None`` where its name may not be shown."""
    if not may_be_shown(effect.path):
        return None
    verb = "exists" if effect.survives else "no longer exists"
    return f"The file {shown_path(effect.path)} {verb}"


def _draft(
    step: DemonstratedStep, effects: Sequence[NetEffect], number: int, page: PageOutcome | None
) -> _Draft | None:
    operation = main_operation(step)
    state = state_of(step.label) if step.marked or not _terminal(step) else None
    if page is not None and not effects:
        return _Draft(state if step.marked and state else page.goal, page.statement)
    if effects:
        wordings = (
            _condition(operation, effects, _sources(step, effects)),
            _condition(operation, effects, ()),
            f"The result of part {number} exists",
        )
        condition = next(w for w in wordings if is_semantic(w) or w is wordings[-1])
        goal = state or _goal(operation, effects)
        return _Draft(goal if is_semantic(goal) else f"Part {number} of the work is complete", condition)
    condition = _condition_without_file(step, operation)
    if condition is not None and is_semantic(condition):
        return _Draft(state or operation.goal, condition)
    if state is not None:
        return _Draft(state, state)
    if step.marked:
        quoted = f"The outcome of “{clipped(step.label, 160)}” is visible"
        neutral = f"The outcome of part {number} is visible"
        wording = quoted if is_semantic(quoted) else neutral
        return _Draft(wording, wording)
    return None


def _telling(step: DemonstratedStep) -> TerminalObservation | None:
    """The command that speaks for the step; moving or clearing away what another one made does not."""
    terminals = [e.terminal for e in step.events if e.terminal]
    telling = [t for t in terminals if t.produced_files] or terminals
    making = [t for t in telling if operation_of(t.command) not in (MOVE, DELETE, PREPARE)]
    found = making or telling
    return found[-1] if found else None


def _terminal(step: DemonstratedStep) -> bool:
    return any(e.terminal for e in step.events)


def _goal(operation: Operation, effects: Sequence[NetEffect]) -> str:
    if all(not e.survives for e in effects):
        return DELETE.goal
    if operation is WRITE and all(e.change is NetChange.MODIFIED for e in effects):
        return "The file is up to date"
    return RUN.goal if operation is DELETE else operation.goal


def _sources(step: DemonstratedStep, effects: Sequence[NetEffect]) -> tuple[str, ...]:
    telling = _telling(step)
    results = {f.path for e in step.events if e.terminal for f in e.terminal.produced_files}
    results |= {e.path for e in effects}
    found = sources_in(telling.command, telling.working_folder) if telling else ()
    return tuple(shown_path(p) for p in found if p not in results and may_be_shown(p))[:FILES_NAMED]


def _condition(operation: Operation, effects: Sequence[NetEffect], sources: Sequence[str]) -> str:
    there = [shown_path(e.path) for e in effects if e.survives]
    gone = [shown_path(e.path) for e in effects if not e.survives]
    if not there:
        return _several(gone, "no longer exists", "no longer exist")
    if len(there) > 1:
        return _several(there, "exists", "exist")
    if operation is MOVE and gone:
        return clipped(f"The file {there[0]} exists and {gone[0]} is no longer there", 240)
    outcome = operation.outcome if operation is not DELETE else RUN.outcome
    if sources and operation.outcome_from:
        outcome = operation.outcome_from.format(listed(sources))
    if operation is WRITE and effects[0].change is NetChange.MODIFIED:
        outcome = "holds the new content"
    empty = any(e.survives and e.is_empty for e in effects)
    return clipped(f"The file {there[0]} exists" + ("" if empty else f" and {outcome}"), 240)


def _several(paths: Sequence[str], one: str, many: str) -> str:
    if len(paths) == 1:
        return f"The file {paths[0]} {one}"
    short = [clipped(p, 50) for p in paths[:FILES_NAMED]]
    rest = len(paths) - len(short)
    return f"The files {listed([*short, *([f'{rest} more'] if rest else [])])} {many}"


def _condition_without_file(step: DemonstratedStep, operation: Operation) -> str | None:
    if operation is not VERIFY:
        return _WITHOUT_FILE.get(operation.key)
    last = step.events[-1].terminal
    paths = named_paths(last.command, last.working_folder) if last else ()
    subject = listed([shown_path(p) for p in paths[:FILES_NAMED] if may_be_shown(p)]) or "the results"
    return f"The check of {subject} passes"


def _clashes(draft: _Draft, others: Sequence[_Draft]) -> bool:
    return contradict(draft.goal, draft.condition) or any(
        same_state(draft.condition, o.condition) or contradict(draft.condition, o.condition) for o in others
    )


def _with_distinct_goals(drafts: Sequence[_Draft]) -> list[_Draft]:
    goals = [d.goal for d in drafts]
    numbered: list[_Draft] = []
    for position, draft in enumerate(drafts):
        nth = goals[: position + 1].count(draft.goal)
        numbered.append(draft if nth == 1 else _Draft(clipped(f"{draft.goal} ({nth})", 240), draft.condition))
    return numbered
