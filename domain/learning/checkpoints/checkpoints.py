"""Derive checkpoints from steps: the states worth verifying, in order (decisions "Checkpoints", DOC3 §0C.9A).

Numbers, dates and personal values in a page's message change from run to run and are left open ("…"); a text that
the lint refuses is replaced by a neutral wording.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.interpretation import Checkpoint
from contracts.learning.observation import BrowserAction, BrowserObservation, PageSummary, TerminalObservation
from domain.learning.checkpoints.checkpoint_lint import contradict, is_semantic, same_state
from domain.learning.checkpoints.checkpoint_titles import named_title, title_of
from domain.learning.commands.command_line import named_paths, sources_in
from domain.learning.commands.operations import (
    BUILD,
    COMMIT,
    DELETE,
    MOVE,
    PREPARE,
    RUN,
    TEST,
    VERIFY,
    WRITE,
    NetChange,
    NetEffect,
    Operation,
    operation_of,
)
from domain.learning.interpretation.browser import is_refused, signs_in, submits
from domain.learning.interpretation.label_states import state_of
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.naming import listed, plain
from domain.learning.interpretation.steps import DemonstratedStep, total_effects
from domain.learning.redaction.redaction import MASK, redact

MAX_CHECKPOINTS = 20
"""More would be a list of actions again; the last ones say the most."""

FILES_NAMED = 3
"""The most files one condition names."""

PATH_SHOWN = 80
"""The most characters of a path in a sentence; a longer one is shown by its end."""

_OPEN = "…"

_CHANGING = re.compile(rf"\S*\d\S*|{re.escape(MASK)}")

_DIGITS = re.compile(r"\d(?:[\d._:-]*\d)?")

_OPEN_RUN = re.compile(rf"{_OPEN}(?:[\s,;:.]*{_OPEN})+")

_WITHOUT_FILE = {
    COMMIT.key: "The newest commit holds the change",
    TEST.key: "The test run reports no failure",
    BUILD.key: "The build output is present and newer than its sources",
}


@dataclass(frozen=True)
class PageOutcome:
    """What was true in the browser after a step; ``kind`` is an observed effect's."""

    kind: str
    subject: str
    goal: str
    statement: str
    event_id: str
    shows_work: bool
    """Whether something was submitted or downloaded, rather than only opened or signed in to."""


@dataclass(frozen=True)
class _Draft:
    goal: str
    condition: str
    named: str = ""
    """A goal that names the files, for where another checkpoint has the same."""


def checkpoints_for(
    steps: Sequence[DemonstratedStep], names: LastingNames | None = None
) -> tuple[Checkpoint, ...]:
    """One checkpoint for each step that left a lasting state, at least one in all.

    What was only there in between (a file that a later step removes) is no checkpoint, and neither is a file that a
    replay found to end as it began. Of files that something was proven of, that is said. Wordings that the lint would
    refuse, a file name that looks like a selector say, give way to neutral ones.
    """
    names = names or LastingNames(steps)
    lasting: defaultdict[str, list[NetEffect]] = defaultdict(list)
    for effect in total_effects(steps):
        if effect.change is not NetChange.TRANSIENT and names.lasts(effect):
            lasting[effect.event_id].append(effect)
    drafts: list[_Draft] = []
    pages = page_outcomes(steps)
    for number, step in reversed(list(enumerate(steps, start=1))):
        effects = [effect for event in step.events for effect in lasting[event.event_id]]
        draft = _draft(step, effects, number, pages[number - 1], names)
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


def existence(effect: NetEffect, names: LastingNames) -> str | None:
    """The plain statement of one file's effect, or ``None`` where its name may not be shown."""
    if not may_be_shown(effect.path):
        return None
    verb = "exists" if effect.survives else "no longer exists"
    return f"The file {shown_path(names.of(effect.path))} {verb}"


def _draft(
    step: DemonstratedStep,
    effects: Sequence[NetEffect],
    number: int,
    page: PageOutcome | None,
    names: LastingNames,
) -> _Draft | None:
    operation = main_operation(step)
    state = state_of(step.label) if step.marked or not _terminal(step) else None
    if page is not None and not effects:
        return _Draft(state if step.marked and state else page.goal, page.statement)
    if effects:
        wordings = (*_conditions(step, operation, effects, names), f"The result of part {number} exists")
        condition = next(w for w in wordings if is_semantic(w) or w is wordings[-1])
        commands = [(e.event_id, e.terminal.command) for e in step.events if e.terminal]
        files = _subject(effects, names)
        goal = state or title_of(commands, operation, effects, files)
        named = named_title([e for e in effects if e.survives] or effects, files)
        goals = [one for one in (goal, named) if is_semantic(one)]
        neutral = f"Part {number} of the work is complete"
        return _Draft(goals[0] if goals else neutral, condition, goals[-1] if goals else "")
    if said := names.check(step):
        return _Draft(state or VERIFY.goal, said)
    condition = _condition_without_file(step, operation)
    if condition is not None and is_semantic(condition):
        return _Draft(state or operation.goal, condition)
    if state is not None:
        return _Draft(state, state)
    if step.marked or step.kept:
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


def _subject(effects: Sequence[NetEffect], names: LastingNames) -> str:
    """The files that are left as the subject of a sentence."""
    there = [e.path for e in effects if e.survives] or [e.path for e in effects]
    shown = [shown_path(name) for name in names.of_all(there)]
    return f"The files {shown[0]}" if len(there) > len(shown) == 1 else _several(shown, "", "").rstrip()


def _sources(step: DemonstratedStep, effects: Sequence[NetEffect]) -> tuple[str, ...]:
    telling = _telling(step)
    results = {f.path for e in step.events if e.terminal for f in e.terminal.produced_files}
    results |= {e.path for e in effects}
    found = sources_in(telling.command, telling.working_folder) if telling else ()
    return tuple(shown_path(p) for p in found if p not in results and may_be_shown(p))[:FILES_NAMED]


def _conditions(
    step: DemonstratedStep, operation: Operation, effects: Sequence[NetEffect], names: LastingNames
) -> tuple[str, ...]:
    """What can be said of the effects, the most first; after a replay only what it proved."""
    if names.proven is not None:
        said = names.statement(effects)
        return (*((said,) if said else ()), _presence(effects, names))
    return (
        _condition(operation, effects, _sources(step, effects), names),
        _condition(operation, effects, (), names),
    )


def _presence(effects: Sequence[NetEffect], names: LastingNames) -> str:
    """That files are there or gone; of such as were there before, that they were changed."""
    there = [e for e in effects if e.survives]
    shown = [shown_path(name) for name in names.of_all(e.path for e in there or effects)]
    if not there:
        return _several(shown, "no longer exists", "no longer exist")
    if all(e.change is NetChange.MODIFIED for e in there):
        return _several(shown, "has been changed", "have been changed")
    return _several(shown, "exists", "exist")


def _condition(
    operation: Operation, effects: Sequence[NetEffect], sources: Sequence[str], names: LastingNames
) -> str:
    there = [shown_path(name) for name in names.of_all(e.path for e in effects if e.survives)]
    gone = [shown_path(name) for name in names.of_all(e.path for e in effects if not e.survives)]
    if len(there) != 1:
        return _presence(effects, names)
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
    # One file more takes no more room than saying so.
    shown = len(paths) if len(paths) <= FILES_NAMED + 1 else FILES_NAMED
    short = [clipped(p, 50) for p in paths[:shown]]
    rest = len(paths) - len(short)
    return f"The files {listed([*short, *([f'{rest} others'] if rest else [])])} {many}"


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
        goal = draft.goal
        if nth > 1:
            goal = draft.named if draft.named not in ("", *goals) else clipped(f"{goal} ({nth})", 240)
        numbered.append(_Draft(goal, draft.condition))
    return numbered


def shown_path(path: str) -> str:
    """``path`` as it may stand in a sentence: on one line, the start of a long one left out."""
    line = plain(path)
    return line if len(line) <= PATH_SHOWN else f"…{line[1 - PATH_SHOWN :]}"


def may_be_shown(path: str) -> bool:
    """Whether a file's name can stand in a skill: it reads as a name and holds nothing personal."""
    return bool(plain(path)) and is_semantic(f"The file {shown_path(path)} exists")


def page_outcomes(steps: Sequence[DemonstratedStep]) -> tuple[PageOutcome | None, ...]:
    """For each step what its page showed at its end; ``None`` where nothing in a browser tells."""
    found: list[PageOutcome | None] = []
    before = PageSummary()
    for number, step in enumerate(steps, start=1):
        outcome, before = _outcome(step, before, number)
        found.append(outcome)
    return tuple(found)


def telling_outcomes(steps: Sequence[DemonstratedStep]) -> tuple[PageOutcome, ...]:
    """The outcomes that show the work done: what was submitted or downloaded, else the last page.

    What signing in led to counts only as the last page.
    """
    outcomes = [o for o in page_outcomes(steps) if o is not None]
    return tuple(o for o in outcomes if o.shows_work) or tuple(outcomes[-1:])


def _outcome(
    step: DemonstratedStep, before: PageSummary, number: int
) -> tuple[PageOutcome | None, PageSummary]:
    snapshots = [(e.event_id, e.browser) for e in step.events if e.browser and e.browser.outcome]
    after = snapshots[-1][1].outcome if snapshots else None
    downloads = [
        (e.event_id, e.browser)
        for e in step.events
        if e.browser and e.browser.action is BrowserAction.DOWNLOAD
    ]
    if downloads:
        event_id, observed = downloads[-1]
        return _downloaded(observed, event_id, number), after or before
    if not snapshots or after is None or is_refused(snapshots[-1][1]):
        return None, after or before
    event_id, observed = snapshots[-1]
    statement = next(
        (s for s in _statements(observed, after, before) if is_semantic(s)),
        f"The outcome of part {number} is visible on the page",
    )
    shows_work = submits(step.events) and not signs_in(step.events)
    goal = _page_goal(step, observed, number)
    return PageOutcome("page_shows", statement, goal, statement, event_id, shows_work), after


def _downloaded(observed: BrowserObservation, event_id: str, number: int) -> PageOutcome:
    name = _DIGITS.sub(_OPEN, redact(plain(observed.file_name or ""), personal=True).text)
    goal, statement = f"The download of {name} is complete", f"The file {name} is downloaded and is not empty"
    if not name or not is_semantic(goal) or not is_semantic(statement):
        goal, statement = (
            "The download is complete",
            f"The file of part {number} is downloaded and is not empty",
        )
    return PageOutcome("file_downloaded", name or "download", goal, statement, event_id, True)


def _statements(observed: BrowserObservation, after: PageSummary, before: PageSummary) -> list[str]:
    title = _lasting(observed.page_title)
    page = f"The page “{title}”" if title else "The page"
    found: list[str] = []
    for message in reversed([m for m in after.messages if m not in before.messages] or after.messages):
        if text := _lasting(message):
            found.append(clipped(f"{page} shows the message “{text}”", 240))
    for dialog in after.dialogs:
        found.append(clipped(f"The dialog “{_lasting(dialog)}” is open on {page[0].lower()}{page[1:]}", 240))
    new = [h for h in after.headings if h not in before.headings] or after.headings
    heading = _lasting(new[0]) if new else ""
    if heading and heading.casefold() != title.casefold():
        found.append(clipped(f"{page} is open and shows the heading “{heading}”", 240))
    return [*found, f"{page} is open"]


def _page_goal(step: DemonstratedStep, observed: BrowserObservation, number: int) -> str:
    sent = [e.browser for e in step.events if e.browser and e.browser.action is BrowserAction.SUBMIT]
    title = _lasting(observed.page_title)
    name = _lasting(sent[-1].form_name or sent[-1].accessible_name or "") if sent else ""
    wordings = [
        f"The form “{name}” is accepted" if name else "",
        "The form is accepted" if sent else "",
        f"The page “{title}” is open" if title else "",
        f"Part {number} of the work is complete",
    ]
    return next(w for w in wordings if w and is_semantic(w))


def _lasting(text: str) -> str:
    """``text`` with what changes from run to run left open."""
    opened = _CHANGING.sub(_OPEN, redact(plain(text), personal=True).text)
    shown = _OPEN_RUN.sub(_OPEN, opened).strip()
    return "" if shown == _OPEN else shown.replace("“", "‘").replace("”", "’")
