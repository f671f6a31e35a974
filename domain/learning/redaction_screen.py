"""Telling quickly that an observation holds nothing to redact, so that most of them skip the rules.

One pass of an automaton over all its texts looks for what every rule needs before it can change anything:
one of its trigger words, a run long enough to look random, or as many digits as a card number has. What it
lets through is exactly as it would leave ``redact_event``; what it stops may still be harmless.
"""

import re
from operator import attrgetter

from pydantic_core import SchemaValidator, core_schema

from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent, RedactionMode
from domain.learning.random_tokens import MIN_LENGTH
from domain.learning.secret_shapes import RULES

_FEWEST_CARD_DIGITS = 13
_PAYLOAD_KINDS = frozenset({ObservationAdapterKind.TEXT_ENTRY, ObservationAdapterKind.CLIPBOARD})
# No rule's run crosses it, and it is no end of line, which an expression could take for the end of a text.
_SEPARATOR = "\0"


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


def may_need_redaction(event: ObservedActionEvent) -> bool:
    """Whether ``redact_event`` could change ``event``; false is certain, true is not."""
    if event.adapter_kind in _PAYLOAD_KINDS or event.redaction_mode is RedactionMode.HASH_ONLY:
        return True
    return _SUSPICIOUS.isinstance_python(_SEPARATOR.join(_texts(event)).lower())


_OWN_TEXTS = attrgetter(
    "action_label",
    "app_family",
    "window_title",
    "target_ref",
    "before_state_ref",
    "after_state_ref",
    "bundle_id",
)
_COMMAND_TEXTS = attrgetter("command", "working_folder")
_PATH = attrgetter("path")


def _texts(event: ObservedActionEvent) -> list[str]:
    texts: list[str] = list(filter(None, _OWN_TEXTS(event)))
    if event.terminal is not None:
        texts += _COMMAND_TEXTS(event.terminal)
        texts += map(_PATH, event.terminal.produced_files)
    return texts
