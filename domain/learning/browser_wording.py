"""What a skill learned in a browser asks for and must not do: sites, fields by name, and care with what is sent."""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.learning.browser_observation import BrowserAction
from domain.learning.browser_steps import PASSWORD, submits
from domain.learning.inference import sites_of
from domain.learning.lint import is_semantic
from domain.learning.naming import listed
from domain.learning.steps import DemonstratedStep, all_events

_MOST_NAMED = 12


def browser_inputs(steps: Sequence[DemonstratedStep]) -> list[str]:
    """What to ask for before working on the sites of the demonstration; empty where none was worked on."""
    sites = sites_of(steps)
    if not sites:
        return []
    found = [f"The site to work on; in the demonstration it was {listed(sites[:_MOST_NAMED])}"]
    if fields := _entered(steps, is_secret=False)[:_MOST_NAMED]:
        found.append(
            clipped(f"The values for {listed([f'“{name}”' for name in fields])}; none was kept", 400)
        )
    if _entered(steps, is_secret=True):
        found.append("A signed-in session: the person signs in; this skill holds no password")
    return found


def browser_safety(steps: Sequence[DemonstratedStep]) -> list[str]:
    """What to be careful of where the work sends something to a site."""
    if not any(submits(s.events) for s in steps):
        return []
    return ["It sends what is entered to a site: show the values, and get a yes before each form is sent"]


def _entered(steps: Sequence[DemonstratedStep], *, is_secret: bool) -> list[str]:
    """The names of the fields that were filled in, each once, those of a sign-in among the secret ones."""
    names: dict[str, None] = {}
    sign_ins = {
        (e.browser.page_path, e.browser.form_name)
        for e in all_events(steps)
        if e.browser is not None and e.browser.value is not None and e.browser.value.kind == PASSWORD
    }
    for event in all_events(steps):
        observed = event.browser
        if observed is None or observed.action not in (BrowserAction.INPUT, BrowserAction.SELECT):
            continue
        secret = (observed.page_path, observed.form_name) in sign_ins
        name = observed.accessible_name or ""
        if secret is is_secret and name and is_semantic(f"The field {name} is filled in"):
            names[name] = None
    return list(names)
