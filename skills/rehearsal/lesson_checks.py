"""Finds the checks of a lesson: commands that end otherwise without the work, or on damaged files."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.learning.evidence import CommandUse, ConditionProof
from contracts.learning.proposal import RehearsalCommand
from domain.learning.proof.checks import PossibleCheck, check_proof, damaging, possible_checks
from skills.rehearsal.replay import Replayer, Run


@dataclass(frozen=True)
class FoundCheck:
    """A command that checks the work, as it is repeated, and what showed that it does."""

    command: RehearsalCommand
    possible: PossibleCheck
    shown_by: str

    def proof(self, *, held_for: int) -> ConditionProof:
        """What it proves; ``held_for`` counts the variations of the input on which it passed."""
        return check_proof(self.possible, self.shown_by, held_for=held_for)


class CheckFinder:
    """Tries the commands of one lesson that may be checks; used by several threads at once."""

    def __init__(
        self,
        replayer: Replayer,
        every: Sequence[RehearsalCommand],
        kept: Sequence[RehearsalCommand],
        uses: Sequence[CommandUse],
        whole: Run,
        *,
        asked: bool,
    ) -> None:
        """``whole`` is the replay of ``every`` command, ``asked`` whether the goal asks for a check."""
        self._replayer = replayer
        self._every = every
        self._kept = kept
        self._whole = whole
        self._working = {use.event_id for use in uses if use.written or use.removed}
        statuses = [result.status for result in whole.session.results]
        ids = {c.event_id for c in kept}
        found = possible_checks([c.command for c in every], uses, statuses, ids, asked=asked)
        self._possible = [*found.items()]

    @property
    def places(self) -> range:
        """The numbers that ``check_at`` takes."""
        return range(len(self._possible))

    def check_at(self, number: int) -> FoundCheck | None:
        """The check, where an experiment shows it to be one."""
        event_id, one = self._possible[number]
        place = next(n for n, c in enumerate(self._every) if c.event_id == event_id)
        earlier = {c.event_id for c in self._every[:place]}
        before = [c for c in self._kept if c.event_id in earlier]
        check = self._every[place].changed(may_fail=True)
        shown_by = "without the work before it"
        settings = [c.changed(may_fail=True) for c in before if c.event_id not in self._working]
        status = self._status((*settings, check), "the check without the work")
        is_told = one.is_told_by(status, self._whole.before.paths())
        if not is_told and one.is_asked:
            shown_by = f"with bytes of {one.about[0]} changed"
            damage = check.changed(command=damaging(one.about), working_folder=".")
            is_told = bool(self._status((*before, damage, check), "the check on damaged files"))
        return FoundCheck(check.changed(command=one.repeated), one, shown_by) if is_told else None

    def _status(self, commands: Sequence[RehearsalCommand], label: str) -> int | None:
        """How the last of the commands ends; ``None`` where it is not reached."""
        if self._replayer.is_over:
            return None
        return self._replayer.replay(commands, label).session.results[-1].status
