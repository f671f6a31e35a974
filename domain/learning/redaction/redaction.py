"""Redaction of secrets in observed events, texts and argument lists (DOC3 §0C.22 "Privacy and retention", §0A.10).

Pure and idempotent: redacting a redacted text or event changes nothing, so both the recorder and the ingest
route do it. Files, commits, UUIDs, dates, versions and words stay readable, as the interpretation of a
demonstration needs them.

Fast path: one automaton over all texts of an event looks for the preconditions of every rule (a trigger word, a
run long enough to look random, the digits of a card number). Without a match ``redact_event`` would change
nothing; with one the text may still be harmless.

Argument lists are redacted before they are joined to a command line, while the limits of the words are known: a
value after a secret's option or behind ``=`` is masked whole, even with blanks and quotes in it; every other word
goes through the rules for text.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from pydantic_core import SchemaValidator, core_schema

from contracts.base import clipped
from contracts.learning.observation import (
    BrowserObservation,
    LessonFolder,
    ObservationAdapterKind,
    ObservedActionEvent,
    PageSummary,
    ProducedFile,
    RedactionMode,
    TerminalObservation,
    WrittenText,
)
from domain.learning.adapters import ADAPTERS
from domain.learning.redaction.secret_names import MASK, names_secret
from domain.learning.redaction.secret_shapes import FILE_RULES, MIN_LENGTH, RULES, secret_runs

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
    """``observed`` redacted; with ``hashed``, names are hashed and the content of the page is removed."""
    changes: dict[str, object] = {}
    for name, limit in _TEXTS:
        if text := getattr(observed, name):
            settled = settle(text, limit)
            changes[name] = hashed(settled) if hashed and name in _HASHED else settled
    if observed.outcome is not None:
        changes["outcome"] = PageSummary() if hashed else _summary(observed.outcome, settle)
    changes = {name: value for name, value in changes.items() if value != getattr(observed, name)}
    return observed.changed(**changes) if changes else observed


def _summary(summary: PageSummary, settle: Settle) -> PageSummary:
    return summary.changed(
        **{name: tuple(settle(t, limit) for t in getattr(summary, name)) for name, limit in _SUMMARY_TEXTS}
    )


_FEWEST_CARD_DIGITS = 13
# Compared by identity: an enumeration's hash, and its members looked up by name, cost more than the question.
_HASH_ONLY = RedactionMode.HASH_ONLY
_PAYLOAD_KINDS = tuple(kind for kind, rule in ADAPTERS.items() if rule.payload_in_label)
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


_WINDOW = 1_000
_OVERLAP = 300
_TRIGGERS = SchemaValidator(
    core_schema.str_schema(
        pattern="|".join(
            dict.fromkeys(
                re.escape(word).replace(r"\-", "-") for rule in FILE_RULES for word in rule.triggers
            )
        )
    )
)
_LONG_PIECE = re.compile(r"[A-Za-z0-9_+-]{12,}|\d(?:[ -]?\d){12}")
"""Without such a piece no run of a text looks random, and none is the number of a card."""


def holds_secret(text: str) -> bool:
    """Whether a text of any length, such as a file, holds something that ``redact`` would mask.

    Files hold digests and columns of numbers, which a command line does not: a run of hexadecimal digits is none
    where nothing names it so, nor are numbers that are not grouped as those of a card. Looked at in overlapping
    pieces of lines, as the rules take quadratic time over a long text.
    """
    return any(
        _by_rules(piece)
        or (
            _LONG_PIECE.search(piece) is not None
            and any(not _DATA.fullmatch(piece[start:end]) for start, end in secret_runs(piece))
        )
        for piece in _pieces(text)
    )


_DATA = re.compile(
    r"(?:pack-)?[0-9a-f]{32,}|[0-9A-F]{32,}"
    r"|(?!\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}$|\d{4}([ -])\d{6}\2\d{5}$)\d+(?:[ .,-]+\d+)+"
)
"""A run that is data in a file: hexadecimal digits, a pack of git, or numbers in other groups than a card's."""


def holds_known_secret(text: str) -> bool:
    """Whether a text of any length holds a secret by the rules; random-looking runs do not count."""
    return any(map(_by_rules, _pieces(text)))


def _by_rules(piece: str) -> bool:
    lower = piece.lower()
    if not _TRIGGERS.isinstance_python(lower):
        return False
    return any(
        rule.mask(piece) != piece for rule in FILE_RULES if any(trigger in lower for trigger in rule.triggers)
    )


def _pieces(text: str) -> Iterator[str]:
    """Pieces that end with a line where there is one, each beginning with the end of the piece before."""
    start = 0
    while start < len(text):
        end = start + _WINDOW
        if end < len(text):
            line_end = text.rfind("\n", start + _OVERLAP, end)
            end = line_end + 1 if line_end > 0 else end
        yield text[max(0, start - _OVERLAP) : end]
        start = end


def may_need_redaction(event: ObservedActionEvent) -> bool:
    """Whether ``redact_event`` could change ``event``; false is certain, true is not."""
    return always_redacted(event) or may_hold_secret(joined(texts_of(event)))


def always_redacted(event: ObservedActionEvent) -> bool:
    """Whether ``redact_event`` changes ``event`` whatever its texts hold."""
    return event.redaction_mode is _HASH_ONLY or event.adapter_kind in _PAYLOAD_KINDS


def texts_of(event: ObservedActionEvent) -> list[str | None]:
    """The texts in which an event can hold a secret."""
    texts: list[str | None] = [*_OWN_TEXTS(vars(event))]
    if (terminal := event.terminal) is not None:
        texts += _COMMAND_TEXTS(vars(terminal))
        for file in terminal.produced_files:
            texts += (file.path, file.inside)
        for written in terminal.written:
            texts += (written.path, written.text, written.patch)
    if (browser := event.browser) is not None:
        texts += browser_texts(browser)
    return texts


def joined(texts: Iterable[str | None]) -> str:
    """Texts, of any number of events, for one call of ``may_hold_secret``."""
    return _SEPARATOR.join(filter(None, texts))


__all__ = ["MASK", "Redacted", "mask_by_rules", "redact", "redact_event"]

_MAX_PASSES = 40
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DIGEST = re.compile(r"sha256:[0-9a-f]{16}")
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
    """The slow path of ``redact``: applies every rule."""
    # One mask can bring another secret into the shape of a rule: passes go on until nothing changes.
    for _ in range(_MAX_PASSES):
        masked = _one_pass(text, personal)
        if masked == text:
            break
        text = masked
    return text


def redact_event(event: ObservedActionEvent) -> ObservedActionEvent:
    """``event`` with every text redacted and clipped to the contract's lengths.

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
    return event.changed(**changes) if changes else event


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
    hashes = mode is RedactionMode.HASH_ONLY
    if hashes:
        command = _hashed(command)
    folder = _settled(observed.working_folder, 400)
    files = tuple(_produced(file, hashes=hashes) for file in observed.produced_files)
    # What was written says what was done, word for word.
    written = () if hashes else tuple(map(_written, observed.written))
    folders = tuple(map(_lesson_folder, observed.folders))
    known = (
        observed.command,
        observed.working_folder,
        observed.produced_files,
        observed.written,
        observed.folders,
    )
    if (command, folder, files, written, folders) == known:
        return observed
    return observed.changed(
        command=command, working_folder=folder, produced_files=files, written=written, folders=folders
    )


def _lesson_folder(folder: LessonFolder) -> LessonFolder:
    redacted = folder.changed(
        name=_settled(folder.name, 400), places=tuple(_settled(place, 400) for place in folder.places)
    )
    return folder if redacted == folder else redacted


def _written(file: WrittenText) -> WrittenText:
    path = _settled(file.path, 240)
    if any(text is not None and holds_secret(text) for text in (file.text, file.patch)):
        return WrittenText(path=path, masked=True)
    return file if path == file.path else file.changed(path=path)


def _produced(file: ProducedFile, *, hashes: bool) -> ProducedFile:
    path = _settled(file.path, 240)
    inside = None if hashes or file.inside is None else _settled(file.inside, 240)
    return file if (path, inside) == (file.path, file.inside) else file.changed(path=path, inside=inside)


def _hashed(text: str) -> str:
    if _DIGEST.fullmatch(text):
        return text
    return f"sha256:{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}"


LONGEST_WORD = 8_000
"""The most characters of one word; the rest is dropped."""

_OPTION = re.compile(r"--?([A-Za-z][\w.-]*)")
_ASSIGNED = re.compile(r"(-{0,2})([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_ANOTHER_OPTION = re.compile(r"--[A-Za-z].*|-[A-Za-z]", re.DOTALL)


@dataclass(frozen=True)
class MaskedArgument:
    """One word of a command line; a masked one is written as it is, so that its mask stays readable."""

    text: str
    is_masked: bool = False


def masked_arguments(arguments: Sequence[str]) -> Iterator[MaskedArgument]:
    """The words with their secrets masked, in their order.

    What follows ``--password`` is its value, unless it reads as another option: ``--auth --verbose``.
    """
    is_value = False
    for word in arguments:
        if is_value and not _ANOTHER_OPTION.fullmatch(word):
            is_value = False
            yield MaskedArgument(MASK, is_masked=True)
            continue
        option = _OPTION.fullmatch(word)
        is_value = option is not None and names_secret(option.group(1))
        yield _masked(word)


def _masked(word: str) -> MaskedArgument:
    assigned = _ASSIGNED.fullmatch(word)
    if assigned is not None and names_secret(assigned.group(2)):
        return MaskedArgument(f"{assigned.group(1)}{assigned.group(2)}={MASK}", is_masked=True)
    if len(word) > LONGEST_WORD:
        # Cut between words: half a secret no longer looks like one.
        word = word[:LONGEST_WORD].rsplit(None, 1)[0]
    # In quotes a rule knows where the word ends, as for a header with blanks in it.
    quote = "'" if '"' in word else '"'
    quoted = redact(f"{quote}{word}{quote}").text
    return MaskedArgument(redact(quoted.removeprefix(quote).removesuffix(quote)).text)
