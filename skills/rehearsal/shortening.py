"""Shortens a demonstration to the commands that its end depends on, by replaying it without others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from contracts.learning.evidence import CommandUse, LeftOutCommand
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.typed_lines import shorter_forms
from domain.learning.interpretation.put_right import put_right
from domain.learning.interpretation.slicing import contributing, removers, transients, undone
from domain.learning.proof.outcomes import changed_paths, trees_in
from skills.rehearsal.replay import Replayer, Run

MOST_TYPED_ABLATIONS = 60
"""Lines typed at prompts that are left out in turn."""

_MOST_UNDONE = 12
"""Groups of commands that may have changed something back that are left out in turn."""

_USELESS = "Leaving it out changes nothing in the result of the demonstration."
_UNDONE = "What it made was removed again by a later command; without both of them the result is the same."
_UNDOES = "It only removed what an earlier command had made; without both of them the result is the same."
_CHANGED_BACK = "What it changed was changed back by a later command; without both the result is the same."
_CHANGES_BACK = (
    "It only changed back what an earlier command had changed; without both the result is the same."
)


@dataclass(frozen=True)
class Shortened:
    """The commands that are kept, those that are left out, and a replay of the former that ended like the whole."""

    kept: tuple[RehearsalCommand, ...]
    left_out: tuple[LeftOutCommand, ...]
    run: Run


class Shortening:
    """Leaves commands out, as long as the time allows, where the demonstration ends the same without them."""

    def __init__(self, replayer: Replayer, is_same: Callable[[Run, Run], bool]) -> None:
        """``is_same``: whether the second of two replays ended like the first."""
        self._replayer = replayer
        self._is_same = is_same

    def slice_of(
        self, commands: Sequence[RehearsalCommand], whole: Run, uses: Sequence[CommandUse]
    ) -> Shortened:
        """The commands that contribute, with those that clean up where the end takes them; else every command."""
        every = _as_shown(commands, whole)
        found = contributing([c.command for c in every], uses, changed_paths(whole.before, whole.after))
        ids = set(found.kept)
        for extra, label in (
            ((), "the commands that contribute"),
            (removers(uses, ids, whole.after.paths()), "with the commands that clean up"),
        ):
            if label.startswith("with") and set(extra) <= ids:
                continue
            ids |= set(extra)
            kept = tuple(c for c in every if c.event_id in ids)
            run = self._replayer.replay(kept, label)
            if self._is_same(whole, run):
                return Shortened(kept, tuple(one for one in found.left_out if one.event_id not in ids), run)
            if self._replayer.is_over:
                break
        return Shortened(every, (), whole)

    def without_undone(self, found: Shortened, uses: Sequence[CommandUse]) -> Shortened:
        """Without the commands that make, change or set something and those that undo it."""
        ids = {c.event_id for c in found.kept}
        own = [use for use in uses if use.event_id in ids]
        for chain, done, undoing in _chains(own, found.run):
            rest = tuple(c for c in found.kept if c.event_id not in chain)
            if self._replayer.is_over or len(rest) + len(chain) != len(found.kept):
                continue
            run = self._replayer.replay(rest, "without what was undone again")
            if self._is_same(found.run, run):
                reasons = [*[done] * (len(chain) - 1), undoing]
                left_out = map(_left_out, chain, reasons)
                found = Shortened(rest, (*found.left_out, *left_out), run)
        return found

    def without_lines(self, found: Shortened) -> Shortened:
        """Without the lines typed at prompts that change nothing: mistakes, looking around, leaving the program."""
        kept: tuple[RehearsalCommand, ...] = found.kept
        run, left = found.run, MOST_TYPED_ABLATIONS
        for place, command in enumerate(kept):
            forms = shorter_forms(command.command)
            shorter = next(forms, None)
            while shorter is not None and left and not self._replayer.is_over:
                left -= 1
                commands = tuple(c.changed(command=shorter) if n == place else c for n, c in enumerate(kept))
                other = self._replayer.replay(commands, "without a line that was typed")
                is_enough = self._is_same(run, other)
                if is_enough:
                    kept, run = commands, other
                try:
                    shorter = forms.send(is_enough)
                except StopIteration:
                    break
        return Shortened(kept, found.left_out, run)

    def put_right(self, found: Shortened, uses: Sequence[CommandUse]) -> Shortened:
        """With what was put right by a later command done right at once."""
        used = {use.event_id: use for use in uses}
        tried: set[tuple[int, str]] = set()
        while True:
            kept = found.kept
            possible = put_right(kept, [used[c.event_id] for c in kept], found.run.after.text)
            one = next((each for each in possible if (each.place, each.command) not in tried), None)
            if one is None or self._replayer.is_over:
                return found
            tried.add((one.place, one.command))
            shorter = tuple(
                c.changed(command=one.command) if n == one.place else c
                for n, c in enumerate(kept)
                if n not in one.left_out
            )
            run = self._replayer.replay(shorter, "with what was put right done right at once")
            if self._is_same(found.run, run):
                left_out = (_left_out(kept[n].event_id, one.reason) for n in one.left_out)
                found = Shortened(shorter, (*found.left_out, *left_out), run)

    def without_useless(self, found: Shortened, useless: Sequence[int]) -> Shortened:
        """Without those of the commands at these places that can be left out together: all, or one after the other."""
        for groups in ([list(useless)], [[place] for place in useless]):
            shorter = found
            for group in groups:
                ids = {found.kept[place].event_id for place in group}
                rest = tuple(c for c in shorter.kept if c.event_id not in ids)
                if not rest or self._replayer.is_over:
                    break
                run = self._replayer.replay(rest, "without what changes nothing")
                if self._is_same(found.run, run):
                    left_out = (_left_out(found.kept[place].event_id, _USELESS) for place in group)
                    shorter = Shortened(rest, (*shorter.left_out, *left_out), run)
            if shorter is not found:
                return shorter
        return found


def _chains(uses: Sequence[CommandUse], run: Run) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Commands that may come to nothing together, with the reason for those before the last one and for that."""
    made = transients(uses, {*run.before.paths()} - {*run.after.paths()})
    yield from ((chain, _UNDONE, _UNDOES) for chain in made)
    changed = undone(uses, changed_paths(run.before, run.after), trees_in(run.before, run.after))[
        :_MOST_UNDONE
    ]
    yield from ((chain, _CHANGED_BACK, _CHANGES_BACK) for chain in changed if chain not in made)
    # What one of them sets in the shell another may take back.
    in_shell = tuple(use.event_id for use in uses if not (use.written or use.removed))
    if len(in_shell) > 1:
        yield in_shell, _USELESS, _USELESS


def _left_out(event_id: str, reason: str) -> LeftOutCommand:
    return LeftOutCommand(event_id=event_id, reason=reason)


def _as_shown(commands: Sequence[RehearsalCommand], whole: Run) -> tuple[RehearsalCommand, ...]:
    """The commands; those that failed in the whole replay may fail again: what they did counts."""
    return tuple(
        command if result.status == 0 else command.changed(may_fail=True)
        for command, result in zip(commands, whole.session.results, strict=True)
    )
