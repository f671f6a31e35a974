"""Looks at the real files of a rehearsal to see whether the taught effects came about."""

import posixpath
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from contracts.learning.interpretation import ObservedEffect


class _Fingerprint(NamedTuple):
    inode: int
    size: int
    mode: int
    modified_ns: int


class EffectWitness:
    """Watches the paths of the effects from before the first command until after the last.

    An effect's path is relative to the demonstration's folder, as recorders name produced files. What was
    there from the start proves nothing, and neither does the absence of what never was.
    """

    def __init__(self, root: Path, effects: Sequence[ObservedEffect]) -> None:
        self._root = root.resolve()
        self._before = {effect.path: self._look(effect.path) for effect in effects}
        self._seen = {path for path, found in self._before.items() if found is not None}

    def note(self) -> None:
        """To be called after each command: remembers which paths have been there at some time."""
        self._seen |= {path for path in self._before if self._look(path) is not None}

    def objection(self, effect: ObservedEffect) -> str | None:
        """Why the effect did not come about, for people; None when it did."""
        found = self._look(effect.path)
        if self._inside(effect.path) is None:
            return f"{effect.path} lies outside the rehearsal folder; effects are named inside it"
        if effect.kind == "file_absent":
            if found is not None:
                return f"{effect.path} is still there"
            if effect.path not in self._seen:
                return (
                    f"{effect.path} was never there, so its absence proves nothing; add it as a safe target"
                )
            return None
        if found is None:
            return f"{effect.path} is not there"
        if found == self._before[effect.path]:
            return f"{effect.path} was there before the first command and has not changed since"
        return None

    def _look(self, path: str) -> _Fingerprint | None:
        place = self._inside(path)
        if place is None:
            return None
        try:
            found = place.stat()
        except OSError:
            return None
        return _Fingerprint(found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns)

    def _inside(self, path: str) -> Path | None:
        """The place in the rehearsal folder that ``path`` means, links followed; None when they lead out."""
        if posixpath.isabs(path) or posixpath.normpath(path).split("/")[0] == "..":
            return None
        try:
            place = (self._root / path).resolve()
        except (OSError, RuntimeError):
            return None
        return place if place.is_relative_to(self._root) else None
