"""Masking secrets before anything observed is kept or sent (DOC3 §0C.22 "Privacy and retention", §0A.10).

Pure and idempotent: redacting a redacted text or event changes nothing, so that the recorder and the ingest
route can both do it. Files, commits, UUIDs, dates, versions and words stay readable: the interpretation
of a demonstration lives on them.
"""

import hashlib
import re
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.observation import (
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    RedactionMode,
    TerminalObservation,
)
from domain.learning.browser_redaction import redact_browser
from domain.learning.named_secrets import MASK
from domain.learning.random_tokens import secret_runs
from domain.learning.redaction_screen import may_hold_secret
from domain.learning.secret_shapes import RULES

__all__ = ["MASK", "Redacted", "mask_by_rules", "redact", "redact_event"]

_MAX_PASSES = 40
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DIGEST = re.compile(r"sha256:[0-9a-f]{16}")
_PAYLOAD_KINDS = frozenset({ObservationAdapterKind.TEXT_ENTRY, ObservationAdapterKind.CLIPBOARD})
_INPUT_CLASS_NAMES = (
    "copy cut paste clear select type typed text_entry clipboard enter delete undo redo submit"
)
_INPUT_CLASSES = frozenset(_INPUT_CLASS_NAMES.split())


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with its secrets masked, and how many masks this call set."""

    text: str
    masked_count: int


def redact(text: str, *, personal: bool = False) -> Redacted:
    """``text`` with every secret replaced by ``[MASKED]``.

    Found by rule (headers, options, assignments, addresses, the key formats of common services, private key
    blocks, card numbers) and by looking random. A value that is only a variable (``$TOKEN``) is no secret and
    stays. With ``personal`` e-mail addresses are masked as well.
    """
    if not may_hold_secret(text) and not (personal and "@" in text):
        return Redacted(text, 0)
    masked = mask_by_rules(text, personal=personal)
    return Redacted(masked, max(0, masked.count(MASK) - text.count(MASK)))


def mask_by_rules(text: str, *, personal: bool = False) -> str:
    """What ``redact`` makes of a text that may hold a secret; the same for every other, only slower."""
    # One mask can bring another secret into the shape of a rule: passes go on until nothing changes.
    for _ in range(_MAX_PASSES):
        masked = _one_pass(text, personal)
        if masked == text:
            break
        text = masked
    return text


def redact_event(event: ObservedActionEvent) -> ObservedActionEvent:
    """``event`` as it may be stored: every text redacted and within the contract's lengths.

    ``mask_text`` and ``none`` apply the rules (consent to raw text is never consent to stored secrets);
    ``hash_only`` also replaces what was done (label and command line) by ``sha256:`` and 16 hex digits of the
    already redacted text, so that a guess cannot be confirmed by its hash; of a page the names are hashed and what
    it showed is left out. Of typed and copied text only the
    class of event is kept in any mode (DOC3 §0C.22 privacy rules 4 and 5).
    """
    changes: dict[str, object] = {}
    for name, limit in _TEXT_FIELDS:
        value: str | None = getattr(event, name)
        if value:
            changes[name] = _settled(value, limit)
    label = _label(event)
    if label != event.action_label:
        changes["action_label"] = label
    if event.terminal is not None:
        changes["terminal"] = _terminal(event.terminal, event.redaction_mode, clean=label)
    if event.browser is not None:
        hashes = event.redaction_mode is RedactionMode.HASH_ONLY
        changes["browser"] = redact_browser(event.browser, _settled, _hashed if hashes else None)
        if hashes and event.target_ref:
            changes["target_ref"] = _hashed(_settled(event.target_ref, 240))
    changes = {name: value for name, value in changes.items() if value != getattr(event, name)}
    return event.model_copy(update=changes) if changes else event


_TEXT_FIELDS = (
    ("app_family", 80),
    ("window_title", 200),
    ("target_ref", 240),
    ("before_state_ref", 240),
    ("after_state_ref", 240),
    ("bundle_id", 160),
)


def _one_pass(text: str, personal: bool) -> str:
    lower = text.lower()
    for rule in RULES:
        for trigger in rule.triggers:
            if trigger in lower:
                text = rule.mask(text)
                break
    runs = secret_runs(text)
    for start, end in reversed(runs):
        text = f"{text[:start]}{MASK}{text[end:]}"
    return _EMAIL.sub(MASK, text) if personal and "@" in text else text


def _settled(text: str, limit: int) -> str:
    """Redacted and clipped until both agree: the cut can leave a tail that now looks like a secret."""
    for _ in range(_MAX_PASSES):
        settled = clipped(redact(text).text, limit)
        if settled == text:
            break
        text = settled
    return text


def _label(event: ObservedActionEvent) -> str:
    label = event.action_label
    if event.adapter_kind in _PAYLOAD_KINDS:
        label = _input_class(label, event.adapter_kind)
    label = _settled(label, 240)
    return _hashed(label) if event.redaction_mode is RedactionMode.HASH_ONLY else label


def _input_class(label: str, kind: ObservationAdapterKind) -> str:
    """The class of an input event without what was typed or copied."""
    if _DIGEST.fullmatch(label):
        return label
    head, colon, payload = label.partition(":")
    known = head.strip().lower()
    if known not in _INPUT_CLASSES:
        return f"{kind.value}: {MASK}"
    return f"{known}: {MASK}" if colon and payload.strip() else known


def _terminal(observed: TerminalObservation, mode: RedactionMode, *, clean: str) -> TerminalObservation:
    # A short command is its event's label as well, and that is redacted already.
    command = observed.command if observed.command == clean else _settled(observed.command, 2000)
    if mode is RedactionMode.HASH_ONLY:
        command = _hashed(command)
    folder = _settled(observed.working_folder, 400)
    files = tuple(map(_produced, observed.produced_files))
    if (command, folder, files) == (observed.command, observed.working_folder, observed.produced_files):
        return observed
    return observed.model_copy(update={"command": command, "working_folder": folder, "produced_files": files})


def _produced(file: ProducedFile) -> ProducedFile:
    path = _settled(file.path, 240)
    return file if path == file.path else file.model_copy(update={"path": path})


def _hashed(text: str) -> str:
    if _DIGEST.fullmatch(text):
        return text
    return f"sha256:{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}"
