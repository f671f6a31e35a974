"""Separate intended actions from noise in a capture (DOC3 §0A.12, rows SL-13)."""

import re
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

from contracts.learning.observation import ExitClass, ObservedActionEvent, TerminalObservation
from domain.learning.commands.command_line import Part, appends, name_set, parts_of
from domain.learning.commands.command_safety import holds_masked_secret
from domain.learning.commands.typing_programs import EDITORS
from domain.learning.interpretation.meaningful import went_wrong

SIMILAR_FROM = 0.6
"""Two command lines this alike (0..1, by matching characters) are attempts at the same thing."""

RETRY_WITHIN = 20
"""How many events after a failure its second attempt is looked for."""

_LOOKING = EDITORS | name_set(
    """ls ll la cat bat pwd head tail tree stat file wc df du whoami id date type which whereis history
    clear echo printf help info env printenv true sleep watch top htop ps jobs tput reset exit logout
    grep rg find sort uniq cut awk sed jq nl column basename dirname realpath hexdump xxd od strings"""
)
_GIT_LOOKING = frozenset({"status", "log", "diff", "show", "branch", "blame", "remote"})
_MOVES_ABOUT = frozenset({"cd", "pushd", "popd"})


def without_noise(events: Sequence[ObservedActionEvent]) -> tuple[ObservedActionEvent, ...]:
    """The events that belong to what was shown, in their order.

    Left out: failed commands that were tried again or changed nothing, corrected slips, looking around,
    editors that wrote nothing, repetitions, and a change of folder that nothing follows. Where looking is all
    there was (a demonstration of how to inspect something), the looking stays.
    """
    tried = [e for i, e in enumerate(events) if not _gave_up(e, events[i + 1 : i + 1 + RETRY_WITHIN])]
    acting = [e for e in tried if not is_looking(e)]
    kept = _without_repeats(_without_corrections(acting if any(map(_acts, acting)) else tried))
    while kept and _only_moves_about(kept[-1]):
        kept.pop()
    return tuple(kept)


def waits_for_a_person(command: str) -> bool:
    """Whether the command opens something interactive, which no rehearsal can replay."""
    return any(c.program in EDITORS for c in parts_of(command))


def can_be_replayed(event: ObservedActionEvent) -> bool:
    """Whether a rehearsal can repeat the event: a command that is neither interactive nor masked."""
    if event.terminal is None or waits_for_a_person(event.terminal.command):
        return False
    return not holds_masked_secret(event.terminal.command) and not event.terminal.command.startswith(
        "sha256:"
    )


def _gave_up(event: ObservedActionEvent, later: Sequence[ObservedActionEvent]) -> bool:
    terminal = event.terminal
    if terminal is None:
        return went_wrong(event)
    return failed_in_vain(event) or (terminal.exit_class is not ExitClass.OK and is_made_good(event, later))


def failed_in_vain(event: ObservedActionEvent) -> bool:
    """Whether the event is a command that failed and changed no file."""
    terminal = event.terminal
    return terminal is not None and terminal.exit_class is not ExitClass.OK and not terminal.produced_files


def is_made_good(event: ObservedActionEvent, later: Sequence[ObservedActionEvent]) -> bool:
    """Whether a later command does what this one was to do."""
    return event.terminal is not None and any(
        e.terminal is not None
        and e.terminal.exit_class is ExitClass.OK
        and _alike(event.terminal, e.terminal)
        for e in later
    )


def _alike(first: TerminalObservation, second: TerminalObservation) -> bool:
    same_files = {f.path for f in first.produced_files} & {f.path for f in second.produced_files}
    ratio = SequenceMatcher(None, first.command, second.command, autojunk=False).ratio()
    return bool(same_files) or ratio >= SIMILAR_FROM


def is_looking(event: ObservedActionEvent) -> bool:
    """Whether the event is a command that only shows something, and changed no file."""
    terminal = event.terminal
    if terminal is None or terminal.produced_files or event.caused_state_change:
        return False
    return looks_around(terminal.command)


def looks_around(command: str) -> bool:
    """Whether every program of the command only shows something, and none writes a file."""
    return all(not c.writes and _looks(c) for c in parts_of(command))


def _looks(command: Part) -> bool:
    if {"--help", "--version"} & set(command.arguments):
        return True
    first = command.arguments[0] if command.arguments else ""
    if command.program == "git":
        return first in _GIT_LOOKING
    if command.program == "tar":
        return first.lstrip("-").startswith("t")
    if command.program in ("find", "sed", "sort"):
        return not {"-delete", "-exec", "-i", "-o"} & set(command.arguments)
    return command.program in _LOOKING


def _acts(event: ObservedActionEvent) -> bool:
    return not _only_moves_about(event)


def _only_moves_about(event: ObservedActionEvent) -> bool:
    if event.terminal is None or event.terminal.produced_files:
        return False
    return all(c.program in _MOVES_ABOUT for c in parts_of(event.terminal.command))


def _without_repeats(events: Sequence[ObservedActionEvent]) -> list[ObservedActionEvent]:
    kept: list[ObservedActionEvent] = []
    seen: set[Hashable] = set()
    previous: Hashable = None
    for event in events:
        deed, terminal = _deed(event), event.terminal
        repeats = deed == previous
        if terminal is not None:
            idle = deed in seen and not terminal.produced_files and not _only_moves_about(event)
            repeats = (repeats or idle) and not appends(terminal.command)
        if not repeats:
            kept.append(event)
            seen.add(deed)
            previous = deed
    return kept


def _deed(event: ObservedActionEvent) -> Hashable:
    """What makes two events the same deed."""
    if event.terminal is not None:
        return (" ".join(event.terminal.command.split()), event.terminal.working_folder)
    shown = event.browser.outcome if event.browser else None
    return (event.adapter_kind, event.action_label, event.target_ref, event.after_state_ref, shown)


def _without_corrections(events: Sequence[ObservedActionEvent]) -> list[ObservedActionEvent]:
    """Leaves out a thing made by a slip and taken back before anything used it."""
    removed = {name: i for i, e in enumerate(events) if (name := _only_thing_removed(e)) is not None}
    dropped: set[int] = set()
    for made_at, made in enumerate(events):
        name = _only_thing_made(made)
        gone_at = removed.get(name, -1) if name is not None else -1
        if name is None or gone_at < made_at:
            continue
        mention = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)")
        others = (e for i, e in enumerate(events) if i > made_at and i != gone_at and e.terminal)
        if not any(mention.search(e.terminal.command) for e in others if e.terminal):
            dropped |= {made_at, gone_at}
    return [e for i, e in enumerate(events) if i not in dropped]


def _only_thing_made(event: ObservedActionEvent) -> str | None:
    """The one new file or folder that this command made, if that is all it did."""
    commands = parts_of(event.terminal.command) if event.terminal else ()
    if event.terminal is None or len(commands) != 1:
        return None
    produced = event.terminal.produced_files
    if len(produced) == 1 and produced[0].change == "created":
        return produced[0].path
    is_folder = commands[0].program == "mkdir" and not produced and len(commands[0].operands) == 1
    return commands[0].operands[0].rstrip("/") if is_folder else None


def _only_thing_removed(event: ObservedActionEvent) -> str | None:
    """The one file or folder that this command removed, if that is all it did."""
    commands = parts_of(event.terminal.command) if event.terminal else ()
    if len(commands) != 1 or commands[0].program not in ("rm", "rmdir", "unlink"):
        return None
    return commands[0].operands[0].rstrip("/") if len(commands[0].operands) == 1 else None
