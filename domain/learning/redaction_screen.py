"""Telling quickly that an observation holds nothing to redact, so that most of them skip the rules.

One pass of an automaton over all its texts looks for what every rule needs before it can change anything:
one of its trigger words, a run long enough to look random, or as many digits as a card number has. What it
lets through is exactly as it would leave ``redact_event``; what it stops may still be harmless.
"""

import re
from collections.abc import Iterable
from operator import itemgetter

from pydantic_core import SchemaValidator, core_schema

from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.browser_redaction import browser_texts
from domain.learning.random_tokens import MIN_LENGTH
from domain.learning.secret_shapes import RULES

_FEWEST_CARD_DIGITS = 13
# Compared by identity: an enumeration's hash, and its members looked up by name, cost more than the question.
_HASH_ONLY = RedactionMode.HASH_ONLY
_TEXT_ENTRY = ObservationAdapterKind.TEXT_ENTRY
_CLIPBOARD = ObservationAdapterKind.CLIPBOARD
# No rule's run crosses it, and it is no end of line, which an expression could take for the end of a text.
_SEPARATOR = "\0"

# Of the values themselves: an attribute is looked for in a model's classes first.
_OWN_TEXTS = itemgetter(
    "action_label",
    "app_family",
    "window_title",
    "target_ref",
    "before_state_ref",
    "after_state_ref",
    "bundle_id",
)
_COMMAND_TEXTS = itemgetter("command", "working_folder")


def _suspicious() -> SchemaValidator:
    # The automaton of pydantic's engine takes all words at once; the standard library's tries one by one.
    words = (re.escape(word) for rule in RULES for word in rule.triggers)
    alternatives = [
        *dict.fromkeys(word.replace(r"\-", "-") for word in words),
        rf"[a-z0-9+/_=~.-]{{{MIN_LENGTH}}}",
        rf"\d(?:[ -]?\d){{{_FEWEST_CARD_DIGITS - 1}}}",
    ]
    return SchemaValidator(core_schema.str_schema(pattern="|".join(alternatives)))


_SUSPICIOUS = _suspicious()


def may_hold_secret(text: str) -> bool:
    """Whether a rule could change ``text``, or a run in it look random; false is certain, true is not."""
    return _SUSPICIOUS.isinstance_python(text.lower())


def may_need_redaction(event: ObservedActionEvent) -> bool:
    """Whether ``redact_event`` could change ``event``; false is certain, true is not."""
    return always_redacted(event) or may_hold_secret(joined(texts_of(event)))


def always_redacted(event: ObservedActionEvent) -> bool:
    """Whether ``redact_event`` changes ``event`` whatever its texts hold."""
    kind = event.adapter_kind
    return event.redaction_mode is _HASH_ONLY or kind is _TEXT_ENTRY or kind is _CLIPBOARD


def texts_of(event: ObservedActionEvent) -> list[str | None]:
    """The texts in which an event can hold a secret."""
    texts: list[str | None] = [*_OWN_TEXTS(vars(event))]
    if (terminal := event.terminal) is not None:
        texts += _COMMAND_TEXTS(vars(terminal))
        for file in terminal.produced_files:
            texts.append(file.path)
    if (browser := event.browser) is not None:
        texts += browser_texts(browser)
    return texts


def joined(texts: Iterable[str | None]) -> str:
    """Texts, of any number of events, for one call of ``may_hold_secret``."""
    return _SEPARATOR.join(filter(None, texts))
