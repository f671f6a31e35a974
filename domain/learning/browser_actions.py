"""Putting what was done in a browser into words: by role and name, as a person would tell it."""

from contracts.learning.browser_observation import BrowserAction, BrowserObservation
from contracts.learning.observation import ObservedActionEvent

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


def browser_of(event: ObservedActionEvent) -> BrowserObservation | None:
    """The browser's part of an event, unless its meaning was hashed away."""
    return event.browser


def is_refused(observed: BrowserObservation) -> bool:
    """Whether a page summary shows that what was entered was not taken."""
    seen = observed.outcome
    return seen is not None and bool(seen.invalid_fields or (seen.alerts and not seen.messages))
