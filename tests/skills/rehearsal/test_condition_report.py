"""Ablation and variation say for each condition what tells it apart, and for how many variations it holds."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from contracts.learning.evidence import (
    ConditionKind,
    ConditionProof,
    ConditionVerdict,
    JudgedCondition,
    LessonEvidence,
    ProofCondition,
)
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.validation import StepResult
from contracts.learning.validation import ValidationRunKind as Check
from skills.rehearsal.condition_report import condition_report, is_of, not_tried, without_hollow
from skills.rehearsal.report import CheckReport, CheckStep

PASSED, FAILED, SKIPPED = StepResult.PASSED, StepResult.FAILED, StepResult.SKIPPED
SORTED = ProofCondition(kind=ConditionKind.SORTED, path="top.csv", statement="top.csv is sorted")
COMMAND = RehearsalCommand(event_id=str(uuid4()), command="sort a > top.csv", working_folder=".")


def evidence(*proofs: ConditionProof, judged: tuple[JudgedCondition, ...] = ()) -> LessonEvidence:
    return LessonEvidence(
        state_id=str(uuid4()),
        reproduced=True,
        kept=(COMMAND.event_id,),
        proofs=proofs,
        judged=judged,
        made_at=datetime.now(UTC),
    )


def draft(**fields: Any) -> SkillDraft:
    return SkillDraft(
        title="Sort",
        slug="sort",
        description="Sorts.",
        trigger_phrases=(),
        negative_triggers=(),
        files=(),
        rehearsal=(COMMAND,),
        capability_id="learned.sort",
        **{"conditions": (SORTED,), **fields},
    )


TOLD = {"told_apart_by": (2, 3), "told_apart_in_words": ("without -r in command 2",)}


@pytest.mark.parametrize(
    ("check", "proof", "result", "said"),
    [
        (Check.ABLATION, TOLD, PASSED, "leaving out step 2, step 3; without -r in command 2"),
        (Check.ABLATION, {}, FAILED, "holds whatever is left out"),
        (Check.VARIATION, {"holds_for": 4, "tried": 4}, PASSED, "holds for 4 of 4 variations"),
        (Check.VARIATION, {"holds_for": 1, "tried": 4}, FAILED, "holds for 1 of 4 variations"),
        (Check.VARIATION, {}, SKIPPED, "no input was found"),
    ],
)
def test_a_proof_is_reported_for_the_kind_that_was_asked(
    check: Check, proof: dict[str, Any], result: StepResult, said: str
) -> None:
    report = condition_report(check, (SORTED,), evidence(ConditionProof(condition=SORTED, **proof)))
    (step,) = report.steps
    assert (step.test_case_id, step.label) == (f"{check.value}/condition-01", SORTED.statement)
    assert step.result is result
    assert said in (step.details or "")
    assert report.passed is (result is PASSED)
    assert (report.not_applicable is None) is (result is not SKIPPED)


@pytest.mark.parametrize(
    ("verdict", "by_ablation", "by_variation"),
    [
        (ConditionVerdict.TOLD_APART, PASSED, PASSED),
        (ConditionVerdict.VACUOUS, FAILED, FAILED),
        (ConditionVerdict.BROKEN, FAILED, FAILED),
        (ConditionVerdict.COINCIDENCE, SKIPPED, FAILED),
    ],
)
def test_a_condition_that_was_only_judged_is_reported_by_its_verdict(
    verdict: ConditionVerdict, by_ablation: StepResult, by_variation: StepResult
) -> None:
    found = evidence(judged=(JudgedCondition(condition=SORTED, verdict=verdict, reason="so it was"),))
    results = {
        check: condition_report(check, (SORTED,), found).steps[0].result
        for check in (Check.ABLATION, Check.VARIATION)
    }
    assert results == {Check.ABLATION: by_ablation, Check.VARIATION: by_variation}


def test_evidence_is_used_again_only_for_the_commands_and_conditions_it_is_of() -> None:
    found = evidence(ConditionProof(condition=SORTED, told_apart_by=(1,)))
    assert is_of(found, draft())
    assert not is_of(None, draft())
    assert not is_of(found, draft(conditions=(SORTED, SORTED.changed(path="other.csv"))))
    other = COMMAND.changed(event_id=str(uuid4()))
    assert not is_of(found, draft().changed(rehearsal=(COMMAND, other)))


def test_where_nothing_can_be_tried_the_check_does_not_apply() -> None:
    report = not_tried(Check.ABLATION, "not applicable: nothing to leave out")
    assert not report.passed
    assert report.not_applicable == "not applicable: nothing to leave out"


COPY = SORTED.changed(path="copy.csv", statement="copy.csv is sorted")


def rehearsed(*conditions: ProofCondition) -> CheckReport:
    """The report of a rehearsal in which the conditions hold."""
    cases = (
        CheckStep(f"rehearsal/condition-{n:02d}", one.statement, PASSED)
        for n, one in enumerate(conditions, 1)
    )
    return CheckReport(steps=(CheckStep("rehearsal/command-01", "run: sort a", PASSED), *cases))


def vacuous(condition: ProofCondition) -> JudgedCondition:
    return JudgedCondition(
        condition=condition,
        verdict=ConditionVerdict.VACUOUS,
        reason="leaving out no part of the work breaks it",
    )


def test_a_condition_that_holds_whatever_is_done_is_named_and_counts_for_nothing() -> None:
    report = without_hollow(rehearsed(SORTED, COPY), (SORTED, COPY), [vacuous(COPY)])

    _, kept, hollow = report.steps
    assert (kept.test_case_id, kept.result) == ("rehearsal/condition-01", PASSED)
    assert (hollow.test_case_id, hollow.result) == ("rehearsal/no-proof-02", SKIPPED)
    assert hollow.details is not None
    assert "holds whatever is done: leaving out no part of the work breaks it" in hollow.details
    assert "`apprentice learn revise" in hollow.details
    assert report.passed
    assert report.unproved == ()


def test_where_every_condition_holds_whatever_is_done_success_is_not_proved() -> None:
    report = without_hollow(rehearsed(COPY), (COPY,), [vacuous(COPY)])

    assert [step.result for step in report.steps] == [PASSED, SKIPPED, SKIPPED]
    assert [one.step for one in report.unproved] == ["A condition of success proves the result"]
    assert "“copy.csv is sorted” holds whatever is done" in report.unproved[0].reason


def test_with_several_demonstrations_the_conditions_of_the_first_are_named() -> None:
    steps = (CheckStep("rehearsal/demonstration-1/condition-01", SORTED.statement, PASSED),)
    report = without_hollow(CheckReport(steps=steps), (SORTED, COPY), [vacuous(SORTED)])
    assert [one.test_case_id for one in report.steps] == ["rehearsal/no-proof-01"]
