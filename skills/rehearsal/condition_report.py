"""What the replays of a draft showed of each of its conditions: reports of ablation and variation (DOC3 §0A.18).

A rehearsal shows only that a condition holds; what replays showed to prove nothing is not counted there either.
"""

from collections.abc import Sequence
from dataclasses import replace

from contracts.base import clipped
from contracts.learning.evidence import (
    ConditionProof,
    ConditionVerdict,
    JudgedCondition,
    LessonEvidence,
    ProofCondition,
)
from contracts.learning.proposal import SkillDraft
from contracts.learning.validation import StepResult, ValidationRunKind
from domain.learning.proof.hollow import Verdicts, why_hollow, without_words
from skills.rehearsal.report import NO_PROOF, CheckReport, CheckStep

_PASSED, _FAILED, _SKIPPED = StepResult.PASSED, StepResult.FAILED, StepResult.SKIPPED
_REVISE = "`apprentice learn revise … --set success_conditions='[…]'` states another one."
NO_CONDITION = (
    "not applicable: the draft has no condition that a replay could check; teach it with `apprentice record terminal`"
    " in the folder that it works on"
)
NO_STARTING_STATE = (
    "not applicable: the folder that the lesson began with is no longer kept; `apprentice learn validate"
    " --check rehearsal` still proves its commands"
)


def is_of(evidence: LessonEvidence | None, draft: SkillDraft) -> bool:
    """Whether the evidence speaks of every condition of the draft, as it follows from the commands it has now."""
    if evidence is None or not {one.event_id for one in draft.rehearsal} <= {*evidence.kept}:
        return False
    verdicts = Verdicts(evidence, [one.event_id for one in draft.rehearsal])
    return all(verdicts.on(one) is not None for one in draft.conditions)


def not_tried(check: ValidationRunKind, reason: str) -> CheckReport:
    """The report where there is nothing to leave out or to vary."""
    step = CheckStep(f"{check.value}/conditions", "The conditions are told apart", _SKIPPED, reason, False)
    return CheckReport(steps=(step,))


def without_hollow(
    report: CheckReport, conditions: Sequence[ProofCondition], hollow: Sequence[JudgedCondition]
) -> CheckReport:
    """The report of a rehearsal whose ``hollow`` conditions hold and count for nothing, each with why.

    Where no other is left, nothing proves the result: that is not proved, and a person accepts it or states another.
    """
    if not hollow:
        return report
    why = {one.condition: f"{why_hollow(one)}. It is not counted as proof. {_REVISE}" for one in hollow}
    cases = {f"condition-{n:02d}": one for n, one in enumerate(conditions, start=1) if one in why}

    def counted(step: CheckStep) -> CheckStep:
        condition = cases.get(step.test_case_id.rpartition("/")[2])
        if condition is None or not step.applies:
            return step
        said = clipped(f"not applicable: {why[condition]}", 1000)
        case = f"{NO_PROOF}{conditions.index(condition) + 1:02d}"
        return replace(step, test_case_id=case, result=_SKIPPED, details=said, applies=False)

    steps = [*map(counted, report.steps)]
    if len(cases) == len(conditions):
        said = "; ".join(f"“{clipped(one.condition.statement, 80)}” {why_hollow(one)}" for one in hollow)
        said = f"not applicable: {clipped(said, 200)}. {_REVISE}"
        steps.append(
            CheckStep("rehearsal/success", "A condition of success proves the result", _SKIPPED, said, False)
        )
    return replace(report, steps=tuple(steps))


def condition_report(
    check: ValidationRunKind, conditions: Sequence[ProofCondition], evidence: LessonEvidence
) -> CheckReport:
    """A case for each condition: what tells it apart (ablation), or how many variations it holds for."""
    proofs = {without_words(one.condition): one for one in evidence.proofs}
    verdicts = {without_words(one.condition): one for one in reversed(evidence.judged)}
    steps: list[CheckStep] = []
    for number, condition in enumerate(conditions, start=1):
        said = without_words(condition)
        proof, verdict = proofs.get(said), verdicts.get(said)
        if proof is not None:
            found = _told_apart(proof) if check is ValidationRunKind.ABLATION else _varied(proof)
        elif verdict is not None:
            found = _judged(check, verdict.verdict, verdict.reason)
        else:
            found = _SKIPPED, f"it was not reached: {evidence.note or 'the time for the replays was used up'}"
        case = f"{check.value}/condition-{number:02d}"
        label = clipped(condition.statement, 240)
        steps.append(CheckStep(case, label, found[0], clipped(found[1], 1000), found[0] is not _SKIPPED))
    return CheckReport(steps=tuple(steps))


def _told_apart(proof: ConditionProof) -> tuple[StepResult, str]:
    omitted = [f"step {number}" for number in proof.told_apart_by]
    parts = [f"leaving out {', '.join(omitted)}"] if omitted else []
    parts += proof.told_apart_in_words
    if not parts:
        return _FAILED, f"It holds whatever is left out, so it proves nothing. {_REVISE}"
    return _PASSED, f"told apart by {'; '.join(parts)}"


def _varied(proof: ConditionProof) -> tuple[StepResult, str]:
    if not proof.tried:
        return _SKIPPED, "not applicable: no input was found that could be varied for it"
    held = f"holds for {proof.holds_for} of {proof.tried} variations of the input"
    return (_PASSED, held) if proof.holds_for == proof.tried else (_FAILED, f"It {held}. {_REVISE}")


def _judged(check: ValidationRunKind, verdict: ConditionVerdict, reason: str) -> tuple[StepResult, str]:
    if verdict is ConditionVerdict.TOLD_APART:
        return _PASSED, reason
    if verdict is ConditionVerdict.COINCIDENCE and check is ValidationRunKind.ABLATION:
        return _SKIPPED, f"not applicable: {reason}"
    return _FAILED, f"{reason} {_REVISE}"
