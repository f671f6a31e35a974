"""Conditions of success that prove nothing: what the replays showed of them, and what a person is asked instead."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.evidence import (
    MAX_JUDGED,
    ConditionVerdict,
    JudgedCondition,
    LessonEvidence,
    ProofCondition,
)
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.questions import QuestionField
from domain.learning.conditions.condition_reading import read_condition
from domain.learning.conditions.stated_conditions import StatedConditions, with_values

MOST_ASKED = 2
"""The most such conditions that are asked about."""

UNPROVED_SUCCESS = 0.5
"""The confidence in what success is where the replay proved none of its conditions."""


class Verdicts:
    """What the replays of a lesson showed of conditions, compared without their wording."""

    def __init__(self, evidence: LessonEvidence | None, commands: Collection[str]) -> None:
        """``commands`` are the event ids of those of the draft: what others were judged with says nothing of it."""
        usable = evidence if evidence is not None and evidence.reproduced else None
        known = usable.judged if usable and {*usable.judged_with} == {*commands} else ()
        self.is_replayed = usable is not None
        self._proven = frozenset(without_words(one.condition) for one in (usable.proofs if usable else ()))
        self._judged = {without_words(one.condition): one for one in reversed(known)}

    def on(self, condition: ProofCondition) -> JudgedCondition | None:
        """The verdict; ``None`` where no replay has looked at it."""
        if without_words(condition) in self._proven:
            reason = "leaving out a part of the work breaks it"
            return JudgedCondition(condition=condition, verdict=ConditionVerdict.TOLD_APART, reason=reason)
        found = self._judged.get(without_words(condition))
        return found and found.changed(condition=condition)

    def hollow(self, conditions: Sequence[ProofCondition]) -> tuple[JudgedCondition, ...]:
        """Those of the conditions that prove nothing."""
        found = (self.on(one) for one in conditions)
        return tuple(one for one in found if one and one.verdict is not ConditionVerdict.TOLD_APART)


def with_verdicts(
    evidence: LessonEvidence, judged: Sequence[JudgedCondition], commands: Sequence[str]
) -> LessonEvidence:
    """The evidence with newer verdicts, which replays of ``commands`` gave; those on other commands go."""
    known = evidence.judged if {*evidence.judged_with} == {*commands} else ()
    newer = {without_words(one.condition): one for one in reversed((*judged, *known))}
    return evidence.changed(judged=[*reversed(newer.values())][:MAX_JUDGED], judged_with=tuple(commands))


def why_hollow(judged: JudgedCondition) -> str:
    """Why the condition proves nothing, as it is said behind its words."""
    reason = judged.reason.rstrip(".")
    if judged.verdict is ConditionVerdict.VACUOUS:
        return f"holds whatever is done: {reason}"
    return f"held by chance: {reason}" if judged.verdict is ConditionVerdict.COINCIDENCE else reason


NEXT_STEP = "Revise with “change the condition NUMBER to: The file NAME holds “TEXT””, or leave it: it proves nothing."
"""What a person can do about such a condition."""


@dataclass(frozen=True)
class HollowCondition:
    """A condition of success that proves nothing, as a question about a better one."""

    judged: JudgedCondition
    field = QuestionField.SUCCESS_CONDITION

    @property
    def about(self) -> str:
        """Its words."""
        return self.judged.condition.statement

    @property
    def reason(self) -> str:
        """Why it proves nothing."""
        return why_hollow(self.judged)

    @property
    def prompt(self) -> str:
        """What a person is asked."""
        said = clipped(self.about.replace("`", "").rstrip("."), 140)
        return f"“{said}” {clipped(self.reason, 170)}. What else shows that it worked?"

    @property
    def suggestion(self) -> str:
        """What holds where nobody answers: the condition as it is."""
        return self.about

    @property
    def event_ids(self) -> tuple[str, ...]:
        """No command breaks it."""
        return ()


def hollow_conditions(
    interpretation: SemanticWorkflowInterpretation, tested: Sequence[ProofCondition], verdicts: Verdicts
) -> tuple[HollowCondition, ...]:
    """The conditions of success that prove nothing: of those that are ``tested``, else of those stated in words."""
    read = (
        (statement, read_condition(with_values(statement, interpretation.parameters)))
        for statement in interpretation.success_conditions
    )
    conditions = tested or [one.changed(statement=clipped(words, 240)) for words, one in read if one]
    return tuple(map(HollowCondition, verdicts.hollow(conditions)))


def with_unproved_success(
    interpretation: SemanticWorkflowInterpretation, stated: StatedConditions, verdicts: Verdicts
) -> SemanticWorkflowInterpretation:
    """With a low confidence in what success is where the lesson was replayed and none of its conditions is proved.

    What no replay has looked at yet, and what only a person can judge, is in no doubt.
    """
    is_proved = len(verdicts.hollow(stated.tested)) < len(stated.tested)
    if not verdicts.is_replayed or is_proved or stated.untested:
        return interpretation
    return interpretation.changed(
        confidences=tuple(
            one.changed(confidence=min(one.confidence, UNPROVED_SUCCESS))
            if one.field is QuestionField.SUCCESS_CONDITION
            else one
            for one in interpretation.confidences
        )
    )


def without_words(condition: ProofCondition) -> ProofCondition:
    """The condition as it is compared with others: whatever it is said in."""
    return condition.changed(statement="")
