"""Calendars in files: each ``NAME.ics`` beside the primary one is the calendar NAME (AM-39).

A file is changed by one writer at a time, under a lock, and replaced in one step: whoever reads it, and whoever is
killed, sees the old file or the new one.
"""

import re
from collections.abc import Callable
from pathlib import Path

from host.atomic_file import only_writer, replace_file

MAX_BYTES = 16_777_216
"""The longest file that is read: 16 MiB."""

_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,119}")


class CalendarFileFailed(Exception):
    """The file cannot be read or written; the text says why."""


class UnknownCalendar(Exception):
    """There is no calendar of this name; the text names those there are."""


class CalendarFiles:
    """The primary calendar and those beside it. Safe to share between threads and processes."""

    def __init__(self, primary: Path) -> None:
        self._primary = primary

    def names(self) -> tuple[str, ...]:
        """Every calendar, the primary one first."""
        beside = (path.stem for path in sorted(self._primary.parent.glob("*.ics")))
        return (self._primary.stem, *(name for name in beside if name != self._primary.stem))

    def read(self, name: str | None) -> str | None:
        """The text of a calendar; None where the primary one has not been made yet.

        Raises:
            UnknownCalendar, CalendarFileFailed
        """
        path = self._path(name)
        try:
            if path.stat().st_size > MAX_BYTES:
                raise CalendarFileFailed(f"{path.name} is longer than 16 MiB")
            return path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise CalendarFileFailed(f"{path.name} is no UTF-8 text") from None
        except OSError as error:
            raise CalendarFileFailed(f"{path.name} cannot be read ({error.strerror})") from None

    def change(self, name: str | None, change: Callable[[str | None], str | None]) -> bool:
        """Replaces a calendar's text by what ``change`` makes of it; None leaves it as it is. Whether it was changed.

        Raises:
            UnknownCalendar, CalendarFileFailed
        """
        path = self._path(name)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with only_writer(path):
                text = change(self.read(name))
                if text is None:
                    return False
                replace_file(path, text.encode())
                return True
        except OSError as error:
            raise CalendarFileFailed(f"{path.name} cannot be written ({error.strerror})") from None

    def _path(self, name: str | None) -> Path:
        if name is None or name == self._primary.stem:
            return self._primary
        path = self._primary.parent / f"{name}.ics"
        if not _NAME.fullmatch(name) or not path.is_file():
            raise UnknownCalendar(f"calendar: there is {', '.join(self.names())[:400]}")
        return path
