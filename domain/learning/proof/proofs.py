"""Proofs of conditions, from the trials that break them and the variations that they hold for."""

from collections.abc import Sequence

from contracts.learning.evidence import ConditionKind, ConditionProof, ProofCondition
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import FolderContents
from domain.learning.conditions.path_patterns import matching
from domain.learning.conditions.typed_orders import typed_order
from domain.learning.proof.vacuity import Effect, Trial, counts_for

MOST_WORDS = 6
"""Parts of commands that are named for one condition."""


def one_order_each(
    numbers: Sequence[int],
    wanted: Sequence[ProofCondition],
    trials: Sequence[Trial],
    commands: Sequence[str],
) -> list[int]:
    """Of several orders that a file is in the one that most omissions break, of equals the first.

    One that no command typed may be a coincidence of what was shown, so a variation has to have shown it too.
    """

    def breaks(number: int) -> int:
        return sum(1 for trial in trials if trial.effects[number] is not Effect.HOLDS)

    best: dict[str, int] = {}
    for number in numbers:
        one = wanted[number]
        if one.kind is ConditionKind.SORTED and (
            typed_order(one.path, commands) is not None or any(counts_for(one, trial) for trial in trials)
        ):
            best[one.path] = max(best.get(one.path, number), number, key=lambda n: (breaks(n), -n))
    return [n for n in numbers if wanted[n].kind is not ConditionKind.SORTED or n in best.values()]


def with_presence(wanted: Sequence[ProofCondition], before: FolderContents) -> tuple[ProofCondition, ...]:
    """The conditions, and beside each that a file is not empty the one that it is there: empty may be right."""

    def is_new(path: str) -> bool:
        return path not in before.paths() and not matching(path, before.paths())

    there = (
        condition(ConditionKind.EXISTS, one.path, is_new=is_new(one.path))
        for one in wanted
        if one.kind is ConditionKind.NOT_EMPTY
    )
    return (*wanted, *there)


def without_presence(numbers: Sequence[int], wanted: Sequence[ProofCondition]) -> list[int]:
    """Without those that a file is there of which is proven that it is not empty."""
    filled = {wanted[n].path for n in numbers if wanted[n].kind is ConditionKind.NOT_EMPTY}
    return [n for n in numbers if wanted[n].kind is not ConditionKind.EXISTS or wanted[n].path not in filled]


def proof_of(proven: ProofCondition, number: int, trials: Sequence[Trial]) -> ConditionProof:
    """What proves a condition, whose place in the effects of the trials is ``number``."""
    varied = [trial for trial in trials if counts_for(proven, trial)]
    broken = [
        trial for trial in trials if not trial.is_variation and trial.effects[number] is not Effect.HOLDS
    ]
    words = (t.reduced for t in broken if t.reduced and t.effects[number] is Effect.BROKEN)
    return ConditionProof(
        condition=proven,
        told_apart_by=tuple(sorted(trial.command for trial in broken if trial.command is not None)),
        told_apart_in_words=tuple(one[:240] for one in words)[:MOST_WORDS],
        holds_for=sum(1 for trial in varied if trial.effects[number] is Effect.HOLDS),
        tried=len(varied),
    )
