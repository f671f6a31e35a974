"""Texts that a person writes by hand while a command runs: the file afterwards, and its difference from before.

Small texts of the demonstration's folder are kept in memory, bounded, so that there is something to compare with.
Nothing here is redacted yet: what is put into an event is, before it is spooled.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from contracts.learning.observation import MAX_WRITTEN_CHARS, ProducedFile, WrittenText
from domain.learning.interpretation.by_hand import written_by_hand
from domain.learning.lesson_folders import placed
from domain.learning.redaction.kept_files import reason_by_name
from host.folder_capture import read_file
from host.folder_snapshot import FileMark
from recorders.starting_state import TakenState

MAX_REMEMBERED_BYTES = 16 * 1024 * 1024
"""What all remembered texts take together; the oldest go first."""

MAX_TEXT_BYTES = 64 * 1024
"""The largest file that is read as a text."""

MAX_FILES_AN_EVENT = 10

_MOST_LINES = 3_000
_CLOCK_SLACK_US = 2


@dataclass(frozen=True)
class _Remembered:
    """A text, and the version of its file that it was read from."""

    text: str
    modified_us: int
    size_bytes: int

    def is_of(self, mark: FileMark) -> bool:
        same_time = abs(mark.modified_ns // 1_000 - self.modified_us) <= _CLOCK_SLACK_US
        return same_time and mark.size_bytes == self.size_bytes


class WrittenTexts:
    """The texts of one demonstration's folder."""

    def __init__(self, folder: Path, taken: TakenState | None) -> None:
        """Begins with the texts of the starting state, where one was taken."""
        self._folder = folder
        self._texts: OrderedDict[str, _Remembered] = OrderedDict()
        self._size = 0
        if taken is not None:
            for entry in taken.clean.state.entries:
                if entry.kept and entry.sha256 is not None and entry.size_bytes <= MAX_TEXT_BYTES:
                    text = _as_text(taken.clean.contents[entry.sha256])
                    modified_us = round(entry.modified_at.timestamp() * 1_000_000)
                    self._remember(entry.path, text, modified_us, entry.size_bytes)

    def moved(self, root: Path, prefix: str, further: TakenState | None) -> "WrittenTexts":
        """The texts as seen from a root in which the folder is ``prefix``, with those of a further state of the root.

        A text that was read since is newer than that of the state.
        """
        found = WrittenTexts(root, further)
        for path, known in self._texts.items():
            found._forget(placed(prefix, path))
            found._remember(placed(prefix, path), known.text, known.modified_us, known.size_bytes)
        return found

    def take(
        self,
        command: str,
        produced: Sequence[ProducedFile],
        before: Mapping[str, FileMark],
        after: Mapping[str, FileMark],
    ) -> tuple[WrittenText, ...]:
        """What was written by hand during ``command``, by path; the texts of all changed files are remembered.

        ``before`` and ``after`` are the folder's files around the command: a text of which another version is
        remembered than stood there before has no difference.
        """
        by_hand = written_by_hand(command)
        written: list[WrittenText] = []
        for file in produced:
            known = self._forget(file.path)
            mark = after.get(file.path)
            if file.change == "deleted" or mark is None or mark.size_bytes > MAX_TEXT_BYTES:
                continue
            if reason_by_name(file.path) is not None:
                if by_hand:
                    written.append(WrittenText(path=file.path, masked=True))
                continue
            text = _as_text(read_file(self._folder, file.path, MAX_TEXT_BYTES))
            self._remember(file.path, text, mark.modified_ns // 1_000, mark.size_bytes)
            if by_hand and text is not None:
                earlier = before.get(file.path)
                is_known = known is not None and earlier is not None and known.is_of(earlier)
                written.append(_written(file.path, text, known.text if known and is_known else None))
        return tuple(written[:MAX_FILES_AN_EVENT])

    def _remember(self, path: str, text: str | None, modified_us: int, size_bytes: int) -> None:
        if text is None:
            return
        self._texts[path] = _Remembered(text, modified_us, size_bytes)
        self._size += size_bytes
        while self._size > MAX_REMEMBERED_BYTES:
            _, oldest = self._texts.popitem(last=False)
            self._size -= oldest.size_bytes

    def _forget(self, path: str) -> _Remembered | None:
        known = self._texts.pop(path, None)
        if known is not None:
            self._size -= known.size_bytes
        return known


def _written(path: str, text: str, before: str | None) -> WrittenText:
    patch = None
    if before is not None and max(text.count("\n"), before.count("\n")) <= _MOST_LINES:
        lines = unified_diff(before.splitlines(keepends=True), text.splitlines(keepends=True), path, path)
        patch = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    return WrittenText(
        path=path,
        text=text if len(text) <= MAX_WRITTEN_CHARS else None,
        patch=patch if patch is not None and len(patch) <= MAX_WRITTEN_CHARS else None,
    )


def _as_text(content: bytes | None) -> str | None:
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
