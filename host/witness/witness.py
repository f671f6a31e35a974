"""Observation of the state behind the files of a folder by all witnesses, and the differences between two."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from contracts.learning.witness import MAX_FACTS, MAX_STATE_CHANGES, StateChange, StateFact, StateObservation
from host.witness.bounded_folder import BoundedFolder, LimitReached, Limits
from host.witness.git import GitWitness
from host.witness.links import LinkWitness
from host.witness.packages import PackageWitness
from host.witness.sqlite import SqliteWitness


class Witness(Protocol):
    """Reads one kind of state from a folder. Nothing found there is run, and nothing is written there."""

    @property
    def name(self) -> str:
        """The kind of state, for the list of what is partial."""
        ...

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of ``folder``, given one by one, so that those before a limit stand.

        Raises:
            LimitReached: the budget of the folder is spent.
        """
        ...


WITNESSES: tuple[Witness, ...] = (
    GitWitness(),
    SqliteWitness(),
    PackageWitness(),
    LinkWitness(),
)


def observe_all(
    folder: Path, limits: Limits | None = None, witnesses: Sequence[Witness] = WITNESSES
) -> StateObservation:
    """The state of ``folder`` as its witnesses see it; each of them has the whole budget of ``limits``.

    At most `MAX_FACTS` facts, by subject and aspect; ``partial`` names the witnesses that a limit stopped, and
    ``folder`` where not every entry was listed.

    Raises:
        OSError: the folder cannot be opened.
    """
    facts: dict[tuple[str, str], StateFact] = {}
    partial: list[str] = []
    with BoundedFolder(folder, limits) as bounded:
        _ = bounded.entries
        for witness in witnesses:
            bounded.renew_budget()
            try:
                for fact in witness.observe(bounded):
                    facts[fact.key] = fact
                    if len(facts) >= MAX_FACTS:
                        raise LimitReached("too many facts")
            except LimitReached:
                partial.append(witness.name)
        if bounded.is_partial:
            partial.append("folder")
    return StateObservation(facts=tuple(facts[key] for key in sorted(facts)), partial=tuple(partial))


def differences(before: StateObservation, after: StateObservation) -> tuple[StateChange, ...]:
    """What changed between two observations of a folder, by subject and aspect, at most `MAX_STATE_CHANGES`.

    Facts that only one of them has are left out where a limit stopped their witness in one of them, so that a limit is
    never reported as a change.
    """
    old, new = before.by_key, after.by_key
    partial = {*before.partial, *after.partial}
    changes: list[StateChange] = []
    for key in sorted(old.keys() | new.keys()):
        subject, aspect = key
        was, now = old.get(key), new.get(key)
        if was == now or ((was is None or now is None) and _is_uncertain(was or now, partial)):
            continue
        changes.append(
            StateChange(
                subject=subject,
                aspect=aspect,
                before=None if was is None else was.value,
                after=None if now is None else now.value,
            )
        )
    return tuple(changes[:MAX_STATE_CHANGES])


def _is_uncertain(fact: StateFact | None, partial: set[str]) -> bool:
    # Where not every entry is listed, any witness but that of a repository's own files may have missed one.
    return fact is not None and (fact.witness in partial or ("folder" in partial and fact.witness != "git"))
