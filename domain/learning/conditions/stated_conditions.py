"""What is tested of the conditions of success: those that were proven, and a person's where they can be read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.evidence import MAX_CONDITIONS, ConditionKind, ProofCondition
from contracts.learning.interpretation import SemanticWorkflowInterpretation, SkillParameter
from domain.learning.checkpoints.checkpoint_lint import same_state
from domain.learning.comparison.parameters import ParameterWording, placeholder
from domain.learning.conditions.condition_reading import THERE, read_condition
from domain.learning.conditions.path_patterns import matching

NOT_TESTED = "not tested: a person looks"
"""Said of a condition that no rehearsal and no trial can check."""


@dataclass(frozen=True)
class WhyUntested:
    """Why nothing tests a condition, and what a person can do about it."""

    reason: str
    next_step: str

    def about(self, step: int, said: str) -> "WhyUntested":
        """The same of a checkpoint, whose words the next step repeats."""
        spoken = clipped(said.replace("`", "").rstrip("."), 150)
        return WhyUntested(self.reason, self.next_step.format(step=step, said=spoken))


_UNREHEARSED = WhyUntested(
    "No command of the lesson can be repeated here, so no rehearsal looks at it.",
    "Look at it yourself whenever the ability is used, or teach the work by commands.",
)
_UNPROVED = WhyUntested(
    "It can be tested, but the replay of the lesson has not proved it.",
    "Revise with “add the condition: {said}”: a validation tests it then.",
)
_UNREADABLE = WhyUntested(
    "Its words name nothing that a rehearsal can look up in the folder.",
    "Revise with “change the condition of step {step} to: The file NAME holds “TEXT””, or look yourself.",
)


@dataclass(frozen=True)
class StatedConditions:
    """The conditions that are tested, and the statements that only a person can judge."""

    tested: tuple[ProofCondition, ...]
    untested: tuple[str, ...] = ()
    tests_files: bool = True
    """Whether a rehearsal looks which of the observed files are there; not where no command can be repeated."""


def stated_conditions(
    stated: Sequence[str],
    proven: Sequence[ProofCondition],
    shown_before: Sequence[str],
    parameters: Sequence[SkillParameter],
    *,
    tests_files: bool = True,
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
        condition = read_condition(with_values(words, parameters), [*subjects, "git"])
        if condition is None:
            untested.append(words)
        elif not any(_is_same(condition, one) for one in tested):
            tested.append(condition)
    return StatedConditions(tuple(tested[:MAX_CONDITIONS]), tuple(untested), tests_files)


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


def untested_checkpoints(
    interpretation: SemanticWorkflowInterpretation,
    tested: Sequence[ProofCondition],
    *,
    tests_files: bool = True,
) -> frozenset[str]:
    """The ids of the checkpoints whose condition nothing tests."""
    return frozenset(why_untested(interpretation, tested, tests_files=tests_files))


def why_untested(
    interpretation: SemanticWorkflowInterpretation,
    tested: Sequence[ProofCondition],
    *,
    tests_files: bool = True,
) -> dict[str, WhyUntested]:
    """The checkpoints whose condition nothing tests, by their ids, each with its reason.

    One is tested where it says what a condition says, or that observed files are there or gone: a rehearsal looks at
    them, with ``tests_files``.
    """
    formal = _Formal(interpretation.parameters)
    statements = [formal(one.statement) for one in tested]
    files = interpretation.observed_effects if tests_files else ()
    there = {one.path for one in files if one.kind == "file_exists"}
    gone = {one.path for one in files if one.kind == "file_absent"}
    subjects = [one.path.partition(": ")[0] for one in tested if one.path.startswith("git in ")]

    def why_not(said: str) -> WhyUntested | None:
        if any(same_state(formal(said), one) for one in statements):
            return None
        words = with_values(said, interpretation.parameters)
        if files := _PRESENCE.fullmatch(words.rstrip(".")):
            known = gone if files["gone"] else there
            seen = all(matching(name, known) for name in _names(files["names"]))
            return None if seen else _UNPROVED if tests_files else _UNREHEARSED
        condition = read_condition(words, [*subjects, "git"])
        if condition is None:
            return _UNREADABLE if tests_files else _UNREHEARSED
        known = {(ConditionKind.EXISTS, THERE): there, (ConditionKind.ABSENT, ""): gone}.get(
            (condition.kind, condition.argument), set()
        )
        if matching(condition.path, known) or any(_is_same(condition, one) for one in tested):
            return None
        return _UNPROVED if tests_files else _UNREHEARSED

    found = [(one, why_not(one.success_condition)) for one in interpretation.checkpoints]
    return {
        one.checkpoint_id: why.about(step, one.success_condition)
        for step, (one, why) in enumerate(found, start=1)
        if why is not None
    }


_PRESENCE = re.compile(r"The files? (?P<names>.+?) (?:exists?|(?P<gone>no longer exists?))")
_OTHERS = re.compile(r"\d+ others")


def _names(listed: str) -> list[str]:
    """The names in "a.txt, b.txt and 3 others"."""
    return [one for one in re.split(r", | and ", listed) if not _OTHERS.fullmatch(one)]


class _Formal:
    """Statements as a skill states them: with the names of parameters, at most 240 characters."""

    def __init__(self, parameters: Sequence[SkillParameter]) -> None:
        self._wording = ParameterWording(parameters)

    def __call__(self, statement: str) -> str:
        return clipped(self._wording.formal(statement), 240)


def with_values(statement: str, parameters: Sequence[SkillParameter]) -> str:
    """The statement with the values of the demonstration, on which it is tested."""
    for parameter in parameters:
        statement = statement.replace(placeholder(parameter), parameter.examples[0])
    return statement


def _is_same(one: ProofCondition, other: ProofCondition) -> bool:
    return one.changed(statement="") == other.changed(statement="")
