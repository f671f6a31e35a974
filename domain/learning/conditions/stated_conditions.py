"""What is tested of the conditions of success: those that were proven, and a person's where they can be read."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.evidence import MAX_CONDITIONS, ProofCondition
from contracts.learning.interpretation import SkillParameter
from domain.learning.checkpoints.checkpoint_lint import same_state
from domain.learning.comparison.parameters import ParameterWording, placeholder
from domain.learning.conditions.condition_reading import read_condition

NOT_TESTED = "not tested: a person looks"
"""Said of a condition that no rehearsal and no trial can check."""


@dataclass(frozen=True)
class StatedConditions:
    """The conditions that are tested, and the statements that only a person can judge."""

    tested: tuple[ProofCondition, ...]
    untested: tuple[str, ...] = ()


def stated_conditions(
    stated: Sequence[str],
    proven: Sequence[ProofCondition],
    shown_before: Sequence[str],
    parameters: Sequence[SkillParameter],
) -> StatedConditions:
    """What is tested where a person states the conditions of success.

    ``shown_before`` are the statements that were offered: one of the proven conditions among them that is not stated
    any more was taken out, and is tested no longer.
    """
    formal = _Formal(parameters)
    by_statement = {formal(one.statement): one for one in proven}
    offered = {*map(formal, shown_before)}
    said = {formal(one): one for one in stated}
    tested = [one for statement, one in by_statement.items() if statement in said or statement not in offered]
    subjects = [one.path.partition(": ")[0] for one in proven if one.path.startswith("git in ")]
    untested: list[str] = []
    for statement, words in said.items():
        if statement in by_statement:
            continue
        condition = read_condition(_with_values(words, parameters), [*subjects, "git"])
        if condition is None:
            untested.append(words)
        elif not any(_is_same(condition, one) for one in tested):
            tested.append(condition)
    return StatedConditions(tuple(tested[:MAX_CONDITIONS]), tuple(untested))


def also_tested(
    tested: Sequence[ProofCondition], stated: Sequence[str], parameters: Sequence[SkillParameter]
) -> tuple[str, ...]:
    """The statements of what is tested and not among those that are ``stated``."""
    formal = _Formal(parameters)
    said = [formal(one) for one in stated]
    every = dict.fromkeys(formal(one.statement) for one in tested)
    return tuple(one for one in every if not any(same_state(one, other) for other in said))


def marked(statements: Sequence[str], untested: Sequence[str]) -> tuple[str, ...]:
    """The statements, those that nothing tests saying so."""
    return tuple(f"{one} ({NOT_TESTED})" if one in untested else one for one in statements)


class _Formal:
    """Statements as a skill states them: with the names of parameters, at most 240 characters."""

    def __init__(self, parameters: Sequence[SkillParameter]) -> None:
        self._wording = ParameterWording(parameters)

    def __call__(self, statement: str) -> str:
        return clipped(self._wording.formal(statement), 240)


def _with_values(statement: str, parameters: Sequence[SkillParameter]) -> str:
    """The statement with the values of the demonstration, on which it is tested."""
    for parameter in parameters:
        statement = statement.replace(placeholder(parameter), parameter.examples[0])
    return statement


def _is_same(one: ProofCondition, other: ProofCondition) -> bool:
    return one.changed(statement="") == other.changed(statement="")
