"""Group browser actions into steps, and describe them by role and name.

A step ends with what the page then showed.
"""

from collections.abc import Sequence

from contracts.learning.observation import BrowserAction, BrowserObservation, ObservedActionEvent
from domain.learning.interpretation.naming import starts_with_verb

PASSWORD = "password"  # noqa: S105 - the kind of a field
"""The kind of value that a field for secrets takes."""

_ROLE_WORDS = {
    "textbox": "field",
    "searchbox": "field",
    "spinbutton": "field",
    "combobox": "list",
    "listbox": "list",
    "menuitem": "menu entry",
    "menuitemcheckbox": "menu entry",
    "menuitemradio": "menu entry",
    "treeitem": "tree entry",
    "radio": "choice",
}

_TELLING = (BrowserAction.DOWNLOAD, BrowserAction.SUBMIT)


def continues_page_step(group: Sequence[ObservedActionEvent], event: ObservedActionEvent) -> bool:
    """Whether ``event`` belongs to the step of ``group``.

    What a page shows belongs to what was done before it. A further action belongs to the step until the page has
    shown an outcome; a page that refused what was entered has not.
    """
    observed = event.browser
    if observed is None or not group or group[-1].browser is None:
        return False
    if observed.outcome is not None or observed.action is BrowserAction.DOWNLOAD:
        return True
    return not is_closed(group)


def is_closed(group: Sequence[ObservedActionEvent]) -> bool:
    """Whether the step has come to an outcome."""
    last = group[-1].browser
    if last is None or last.action is BrowserAction.DOWNLOAD:
        return True
    return last.outcome is not None and not is_refused(last)


def page_step_label(group: Sequence[ObservedActionEvent]) -> str | None:
    """What the step did, by its most telling action; ``None`` where none of it was in a browser."""
    actions = [e.browser for e in group if e.browser is not None]
    if not actions:
        return None
    telling = next((a for kind in _TELLING for a in reversed(actions) if a.action is kind), None)
    if telling is not None:
        return (
            _submit_label(telling)
            if telling.action is BrowserAction.SUBMIT
            else f"Download {telling.file_name}"
        )
    clicks = [a for a in actions if a.action is BrowserAction.CLICK]
    if clicks and (name := clicks[-1].accessible_name) and starts_with_verb(name):
        return name
    opened = [a for a in actions if a.action is BrowserAction.NAVIGATE]
    if opened:
        return f"Open {page_name(opened[-1])}"
    done = [e for e in group if e.browser is not None and e.browser.outcome is None]
    return (done or list(group))[-1].action_label


def _submit_label(observed: BrowserObservation) -> str:
    if observed.accessible_name and starts_with_verb(observed.accessible_name):
        return observed.accessible_name
    name = observed.form_name or observed.accessible_name
    return f"Submit the form “{name}”" if name else "Submit the form"


def submits(group: Sequence[ObservedActionEvent]) -> bool:
    """Whether something was sent to the site in this step."""
    return any(e.browser is not None and e.browser.action is BrowserAction.SUBMIT for e in group)


def sends_or_fetches(group: Sequence[ObservedActionEvent]) -> bool:
    """Whether the step did more than look around: something was submitted or downloaded."""
    return any(e.browser is not None and e.browser.action in _TELLING for e in group)


def signs_in(group: Sequence[ObservedActionEvent]) -> bool:
    """Whether a password was entered in this step: the way in, not the work."""
    values = [e.browser.value for e in group if e.browser is not None]
    return any(value is not None and value.kind == PASSWORD for value in values)


def action_label(observed: BrowserObservation) -> str:
    """One line that says what was done, without any value."""
    match observed.action:
        case BrowserAction.NAVIGATE:
            return f"Open {page_name(observed)}"
        case BrowserAction.CLICK:
            return f"Choose {target_of(observed)}"
        case BrowserAction.INPUT:
            is_file = observed.value is not None and observed.value.kind == "file"
            return f"{'Attach a file to' if is_file else 'Fill in'} {target_of(observed)}"
        case BrowserAction.SELECT:
            return f"Select in {target_of(observed)}"
        case BrowserAction.SUBMIT:
            return f"Submit {target_of(observed)}"
        case BrowserAction.DOWNLOAD:
            return f"Download {observed.file_name or 'a file'}"
        case BrowserAction.SNAPSHOT:
            return f"See {page_name(observed)}"


def target_of(observed: BrowserObservation) -> str:
    """What was acted on, by role and name: the button “Save”."""
    if observed.action is BrowserAction.SUBMIT:
        name = observed.form_name or observed.accessible_name
        return f"the form “{name}”" if name else "the form"
    if observed.action in (BrowserAction.NAVIGATE, BrowserAction.SNAPSHOT):
        return page_name(observed)
    if observed.action is BrowserAction.DOWNLOAD:
        return observed.file_name or ""
    role = _ROLE_WORDS.get(observed.role or "", observed.role or "control")
    return f"the {role} “{observed.accessible_name}”" if observed.accessible_name else f"a {role}"


def page_name(observed: BrowserObservation) -> str:
    """The page by its title, else by its site."""
    return f"the page “{observed.page_title}”" if observed.page_title else f"a page of {observed.site}"


def is_refused(observed: BrowserObservation) -> bool:
    """Whether a page summary shows that what was entered was not taken."""
    seen = observed.outcome
    return seen is not None and bool(seen.invalid_fields or (seen.alerts and not seen.messages))
