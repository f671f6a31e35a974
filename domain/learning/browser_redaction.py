"""Redacting the browser's part of an event: the same rules as for every other text."""

from collections.abc import Callable, Iterator

from contracts.learning.browser_observation import BrowserObservation, PageSummary

_TEXTS = (
    ("site", 200),
    ("page_path", 200),
    ("page_title", 200),
    ("role", 80),
    ("accessible_name", 160),
    ("form_name", 160),
    ("file_name", 160),
)
_SUMMARY_TEXTS = (
    ("headings", 120),
    ("landmarks", 120),
    ("fields", 120),
    ("messages", 160),
    ("alerts", 160),
    ("dialogs", 120),
    ("invalid_fields", 120),
)
_HASHED = frozenset({"accessible_name", "form_name", "file_name"})

Settle = Callable[[str, int], str]
"""Redacts a text and bounds its length."""


def browser_texts(observed: BrowserObservation) -> Iterator[str]:
    """The texts in which a browser observation can hold a secret."""
    for name, _ in _TEXTS:
        if text := getattr(observed, name):
            yield text
    if observed.outcome is not None:
        for name, _ in _SUMMARY_TEXTS:
            yield from getattr(observed.outcome, name)


def redact_browser(
    observed: BrowserObservation, settle: Settle, hashed: Callable[[str], str] | None
) -> BrowserObservation:
    """``observed`` as it may be stored; with ``hashed``, names are hashed and what a page showed is left out."""
    changes: dict[str, object] = {}
    for name, limit in _TEXTS:
        if text := getattr(observed, name):
            settled = settle(text, limit)
            changes[name] = hashed(settled) if hashed and name in _HASHED else settled
    if observed.outcome is not None:
        changes["outcome"] = PageSummary() if hashed else _summary(observed.outcome, settle)
    changes = {name: value for name, value in changes.items() if value != getattr(observed, name)}
    return observed.model_copy(update=changes) if changes else observed


def _summary(summary: PageSummary, settle: Settle) -> PageSummary:
    return summary.model_copy(
        update={
            name: tuple(settle(t, limit) for t in getattr(summary, name)) for name, limit in _SUMMARY_TEXTS
        }
    )
