"""How texts name the files of a demonstration so that it is true on another day, and what was proven of them."""

import posixpath
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from domain.learning.commands.operations import NetChange, NetEffect
from domain.learning.conditions.made_dates import makes_date, without_date
from domain.learning.conditions.path_patterns import captured, is_pattern
from domain.learning.interpretation.steps import DemonstratedStep, all_events

_ANY_FOLDER = "**/"


@dataclass(frozen=True)
class ProvenFiles:
    """What a replay proved of files, by their path or the pattern that names them."""

    there: dict[str, str] = field(default_factory=dict[str, str])
    gone: dict[str, str] = field(default_factory=dict[str, str])
    checks: dict[str, str] = field(default_factory=dict[str, str])
    """What checks prove, by their command lines."""
    replayed: Collection[str] = ()
    """The ids of the commands that were replayed."""

    def __bool__(self) -> bool:
        return bool(self.there or self.gone)


class LastingNames:
    """Names files by the pattern of a proven condition, or without the date that a command put into their name."""

    def __init__(self, steps: Sequence[DemonstratedStep] = (), proven: ProvenFiles | None = None) -> None:
        """``proven`` is ``None`` where nothing was replayed."""
        self.proven = proven
        commands = "\n".join(e.terminal.command for e in all_events(steps) if e.terminal)
        self._commands = commands if makes_date(commands) else ""

    def of(self, path: str) -> str:
        """The name of one file: its path where that lasts, else a pattern, with its folder where there are several."""
        pattern = self._proven_as(path)
        if (found := captured(pattern, path)) and pattern.startswith(_ANY_FOLDER):
            return pattern.replace(_ANY_FOLDER, found[0], 1)
        return pattern if pattern != path else without_date(path, self._commands)

    def _proven_as(self, path: str) -> str:
        """The path or the pattern that something was proven of; the path where nothing was."""
        known = [*self.proven.there, *self.proven.gone] if self.proven else []
        if path in known:
            return path
        return next((name for name in known if is_pattern(name) and captured(name, path) is not None), path)

    def of_all(self, paths: Iterable[str]) -> list[str]:
        """The names of several files, each once."""
        return list(dict.fromkeys(map(self.of, paths)))

    def spoken_of(self, paths: Iterable[str]) -> list[str]:
        """What a request may name the files by: the file, else the folder of those that no one name lasts for."""
        found: dict[str, None] = {}
        for name in self.of_all(paths):
            folder = posixpath.dirname(name)
            if not is_pattern(name):
                found[name] = None
            elif folder and not is_pattern(folder):
                found[f"the files in {folder}"] = None
        return list(found)

    def lasts(self, effect: NetEffect) -> bool:
        """Whether the effect is one to look at: a file that was there before counts where a change of it was proven."""
        if not self.proven or effect.change is not NetChange.MODIFIED:
            return True
        return (
            effect.event_id not in self.proven.replayed or self._proven_as(effect.path) in self.proven.there
        )

    def statement(self, effects: Sequence[NetEffect]) -> str | None:
        """What was proven of the files, where one name stands for all that are left, or for all that are gone."""
        if not self.proven:
            return None
        there = {self._proven_as(e.path) for e in effects if e.survives}
        named = there or {self._proven_as(e.path) for e in effects}
        said = self.proven.there if there else self.proven.gone
        return said.get(named.pop()) if len(named) == 1 else None

    def check(self, step: DemonstratedStep) -> str | None:
        """What a check proves, where the step is one."""
        checks = self.proven.checks if self.proven else {}
        return next(
            (checks[e.terminal.command] for e in step.events if e.terminal and e.terminal.command in checks),
            None,
        )
