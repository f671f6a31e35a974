"""What pages showed after a step, put into statements that hold the next time as well.

Numbers, dates and personal values in a message change from run to run and are left open ("…"); the lint's rules
decide what may be said at all, and a neutral wording stands in where a page's own words may not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.browser_observation import BrowserAction, BrowserObservation, PageSummary
from domain.learning.browser_actions import is_refused
from domain.learning.browser_steps import signs_in, submits
from domain.learning.lint import is_semantic
from domain.learning.naming import plain
from domain.learning.redaction import MASK, redact
from domain.learning.steps import DemonstratedStep

_OPEN = "…"
_CHANGING = re.compile(rf"\S*\d\S*|{re.escape(MASK)}")
_DIGITS = re.compile(r"\d(?:[\d._:-]*\d)?")
_OPEN_RUN = re.compile(rf"{_OPEN}(?:[\s,;:.]*{_OPEN})+")


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
    goal = _goal(step, observed, number)
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


def _goal(step: DemonstratedStep, observed: BrowserObservation, number: int) -> str:
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
