"""Conditions of success that prove nothing lower the confidence, and are asked about with their reason."""

from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import uuid4

import pytest

from contracts.learning.evidence import (
    ConditionProof,
    ConditionVerdict,
    JudgedCondition,
    LessonEvidence,
    ProofCondition,
)
from contracts.learning.questions import QuestionField
from domain.learning.conditions.condition_reading import read_condition
from domain.learning.conditions.stated_conditions import StatedConditions
from domain.learning.interpretation.interpretation import interpret
from domain.learning.interpretation.questions import questions_for
from domain.learning.proof.hollow import Verdicts, hollow_conditions, with_unproved_success, with_verdicts

WORK, OTHER = str(uuid4()), str(uuid4())


def reading(words: str) -> ProofCondition:
    found = read_condition(words)
    assert found is not None
    return found


STOCK, TOP = reading("The file stock.csv exists"), reading("The file top.csv holds “a”")


def evidence(**fields: Any) -> LessonEvidence:
    values = {"state_id": str(uuid4()), "reproduced": True, "kept": (WORK,), "made_at": datetime.now(UTC)}
    return LessonEvidence.model_validate({**values, "judged_with": (WORK,), **fields})


def judged(
    condition: ProofCondition, verdict: ConditionVerdict, reason: str = "it was so"
) -> JudgedCondition:
    return JudgedCondition(condition=condition, verdict=verdict, reason=reason)


VACUOUS = judged(STOCK, ConditionVerdict.VACUOUS, "it was so before the first command")


def test_a_verdict_is_known_in_whatever_words_the_condition_is_stated() -> None:
    found = Verdicts(evidence(judged=(VACUOUS,)), [WORK])
    said = reading("stock.csv is there")
    assert [one.condition.statement for one in found.hollow([said, TOP])] == ["stock.csv is there"]


def test_a_proven_condition_proves_something_whatever_was_thought_of_it() -> None:
    proofs = (ConditionProof(condition=STOCK, told_apart_by=(1,)),)
    assert Verdicts(evidence(judged=(VACUOUS,), proofs=proofs), [WORK]).hollow([STOCK]) == ()


@pytest.mark.parametrize(
    ("found", "commands"),
    [
        (evidence(judged=(VACUOUS,)), [WORK, OTHER]),
        (evidence(judged=(VACUOUS,), reproduced=False), [WORK]),
        (None, [WORK]),
    ],
)
def test_the_replay_of_other_commands_says_nothing(found: LessonEvidence | None, commands: list[str]) -> None:
    assert Verdicts(found, commands).on(STOCK) is None


def test_a_newer_verdict_replaces_an_older_one_and_those_on_other_commands_go() -> None:
    newer = judged(STOCK, ConditionVerdict.COINCIDENCE)
    of_top = judged(TOP, ConditionVerdict.TOLD_APART)
    found = with_verdicts(evidence(judged=(VACUOUS, of_top)), [newer], [WORK])
    assert found.judged == (newer, of_top)
    assert with_verdicts(found, [VACUOUS], [OTHER]).judged == (VACUOUS,)


@pytest.mark.parametrize(
    ("stated", "verdicts", "confidence"),
    [
        (StatedConditions((STOCK,)), (VACUOUS,), 0.5),
        (StatedConditions((STOCK,)), (judged(STOCK, ConditionVerdict.COINCIDENCE),), 0.5),
        (StatedConditions(()), (), 0.5),
        (StatedConditions((STOCK, TOP)), (VACUOUS, judged(TOP, ConditionVerdict.TOLD_APART)), 0.8),
        (StatedConditions((STOCK, TOP)), (VACUOUS,), 0.8),
        (StatedConditions((STOCK,), ("It looks good",)), (VACUOUS,), 0.8),
    ],
)
def test_success_is_unsure_where_the_replay_proved_none_of_its_conditions(
    teach: Any, stated: StatedConditions, verdicts: tuple[JudgedCondition, ...], confidence: float
) -> None:
    shown = interpret(teach.source(teach.reports()))
    found = with_unproved_success(shown, stated, Verdicts(evidence(judged=verdicts), [WORK]))
    known = {one.field: one.confidence for one in found.confidences}
    assert known[QuestionField.SUCCESS_CONDITION] == confidence
    assert with_unproved_success(shown, stated, Verdicts(None, [WORK])) == shown


def ask(teach: Any, *stated: str, found: LessonEvidence) -> list[str]:
    shown = interpret(teach.source(teach.reports(), edits={"success_conditions": list(stated)}))
    verdicts = Verdicts(found, [WORK])
    doubts = hollow_conditions(shown, [*map(reading, stated)], verdicts)
    numbers = count(7000)
    asked = questions_for(shown, doubts=doubts, new_id=lambda: teach.id(next(numbers)), now=teach.now)
    assert len(asked) <= 5
    return [one.prompt for one in asked if one.field is QuestionField.SUCCESS_CONDITION]


def test_a_condition_that_proves_nothing_is_asked_about_until_another_takes_its_place(teach: Any) -> None:
    found = evidence(judged=(VACUOUS,))
    assert ask(teach, "The file stock.csv exists", found=found) == [
        "“The file stock.csv exists” holds whatever is done: it was so before the first command."
        " What else shows that it worked?"
    ]
    assert ask(teach, "The file top.csv holds “a”", found=found) == []
    assert ask(teach, "The file stock.csv exists", found=evidence()) == []
