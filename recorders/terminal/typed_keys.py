"""The lines that a person types while a command runs, from the keys that were pressed.

Nothing is known of a command's lines where a key was pressed whose effect cannot be told from the keys alone (a line
of the history, a completed word), where anything was typed invisibly, or where too much was typed.
"""

import re
from collections.abc import Callable

MAX_TYPED_BYTES = 16 * 1024
"""What one command may be given; of more nothing is kept."""

_KEY = re.compile(r"\x1b(?:\[[0-9;]*[~A-Za-z]|O[A-Za-z])|[\s\S]")
_END_OF_INPUT = "\x04"


def _without_word(text: str) -> str:
    return re.sub(r"\S*\s*$", "", text)


_Edit = Callable[[str, str], tuple[str, str]]
_EDITS_BY_KEYS: tuple[tuple[tuple[str, ...], _Edit], ...] = (
    # Around what is pasted.
    (("\x1b[200~", "\x1b[201~"), lambda before, after: (before, after)),
    (("\x7f", "\b"), lambda before, after: (before[:-1], after)),
    (("\x1b[3~",), lambda before, after: (before, after[1:])),
    (("\x15",), lambda _before, after: ("", after)),
    (("\x0b",), lambda before, _after: (before, "")),
    (("\x17",), lambda before, after: (_without_word(before), after)),
    (("\x1b[D", "\x1bOD", "\x02"), lambda before, after: (before[:-1], before[-1:] + after)),
    (("\x1b[C", "\x1bOC", "\x06"), lambda before, after: (before + after[:1], after[1:])),
    (("\x1b[H", "\x1bOH", "\x1b[1~", "\x01"), lambda before, after: ("", before + after)),
    (("\x1b[F", "\x1bOF", "\x1b[4~", "\x05"), lambda before, after: (before + after, "")),
)
_EDITS = {key: edit for keys, edit in _EDITS_BY_KEYS for key in keys}
"""What a key does to the text before and after the cursor."""


class TypedKeys:
    """The keys of one terminal since the last prompt of its shell."""

    def __init__(self) -> None:
        self._forget()

    def note(self, keys: bytes, *, hidden: bool, completes: bool) -> None:
        """Takes in what was typed; ``hidden`` where it does not appear on the screen, such as a password.

        ``completes`` says that a tab may stand for something else.
        """
        if hidden or (completes and b"\t" in keys) or len(self._keys) + len(keys) > MAX_TYPED_BYTES:
            self._is_unknown = True
            self._keys.clear()
        elif not self._is_unknown:
            self._keys += keys

    def begin(self) -> None:
        """Notes that the shell has read a command: what is typed from now on is for that one."""
        self._for_shell = bytes(self._keys) if not self._is_unknown else b""
        self._keys.clear()
        self._is_unknown = False

    def take(self, command: str) -> tuple[str, ...] | None:
        """What was typed for ``command``, which has ended; ``None`` where that is not known."""
        is_unknown, ahead, typed = self._is_unknown, lines_of(self._for_shell), lines_of(bytes(self._keys))
        self._forget()
        if is_unknown or typed is None:
            return None
        shown = command.splitlines()
        if ahead and list(ahead[: len(shown)]) == shown:
            # Typed before the shell had read its command to the end.
            return (*ahead[len(shown) :], *typed)
        return typed

    def _forget(self) -> None:
        self._keys = bytearray()
        self._for_shell = b""
        self._is_unknown = False


def lines_of(keys: bytes) -> tuple[str, ...] | None:
    """The lines that the keys made, an unfinished one left out; ``None`` where that cannot be told."""
    try:
        pressed: list[str] = _KEY.findall(keys.decode())
    except UnicodeDecodeError:
        return None
    lines: list[str] = []
    before, after = "", ""
    for key in pressed:
        if key in "\r\n":
            lines.append(before + after)
            before, after = "", ""
        elif key in _EDITS:
            before, after = _EDITS[key](before, after)
        elif key == _END_OF_INPUT and not before + after:
            break
        elif len(key) == 1 and (key == "\t" or key >= " "):
            before += key
        else:
            return None
    return tuple(lines)
