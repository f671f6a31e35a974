"""The checkpoint lint, CKP-001 to CKP-007 (decisions "Checkpoints"; DOC3 §0C.9A rule 6, §0C.25 R11.2-22…27).

Checkpoints state what is true when a part of the work is done. A draft with an error may not become
``ready_for_review``; every finding says what to write instead.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import CheckpointLintReport, LintFinding, LintSeverity, SkillDraft
from domain.learning import lint_patterns
from domain.learning.contradiction import contradict, same_state

_FILE_NAME = "SKILL.md"
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$")


@dataclass(frozen=True)
class _Rule:
    rule: str
    detect: lint_patterns.Detector
    message: str
    suggestion: str


_TEXT_RULES = (
    _Rule(
        "CKP-001",
        lint_patterns.selector_in,
        "{found!r} is a selector; it says nothing to a person and breaks when the page changes.",
        "Name what can be seen: “The export dialog is open”, “The order appears in the list”.",
    ),
    _Rule(
        "CKP-002",
        lint_patterns.coordinates_in,
        "{found!r} is a place on one screen; it means something else on any other.",
        "Describe the result: “The PDF format is selected”, not where its control was.",
    ),
    _Rule(
        "CKP-003",
        lint_patterns.gesture_in,
        "{found!r} is a click or keystroke; a checkpoint leaves the way to its state open.",
        "State what is true afterwards: “The document is saved”, “The export is confirmed”.",
    ),
    _Rule(
        "CKP-005",
        lint_patterns.personal_value_in,
        "The text holds {found}; it would be copied into the skill and shared with it.",
        "Name the kind of value: “the client's address”, “the account's key”; ask for it at run time.",
    ),
    _Rule(
        "CKP-007",
        lint_patterns.fixed_wait_in,
        "{found!r} waits for a time; it is too short one day and too long the next.",
        "Name the state that ends the wait: “The report has finished loading”.",
    ),
)
_NO_OUTCOME = _Rule(
    "CKP-004",
    lint_patterns.no_outcome_in,
    "{found!r} leaves no outcome that can be observed: it is an action or says too little.",
    "Say what exists, shows or holds once it is done: “The file report.pdf exists and is not empty”.",
)


def lint(
    interpretation: SemanticWorkflowInterpretation, draft: SkillDraft | None = None
) -> CheckpointLintReport:
    """Lints the checkpoints and success conditions, and the Checkpoints section of the draft's SKILL.md.

    ``passed`` is false when at least one finding is an error.
    """
    findings = [
        *_checkpoint_findings(interpretation),
        *_relation_findings(interpretation),
        *(_markdown_findings(draft) if draft is not None else ()),
    ]
    return CheckpointLintReport(
        passed=all(f.severity is not LintSeverity.ERROR for f in findings), findings=tuple(findings)
    )


def is_semantic(text: str) -> bool:
    """Whether ``text`` could stand as a checkpoint's condition without a finding."""
    return not any(rule.detect(text) for rule in (*_TEXT_RULES, _NO_OUTCOME))


def _checkpoint_findings(interpretation: SemanticWorkflowInterpretation) -> Iterator[LintFinding]:
    if not interpretation.checkpoints:
        yield _finding(_NO_OUTCOME, "checkpoints", "no checkpoint")
    for checkpoint in interpretation.checkpoints:
        base = f"checkpoints/{checkpoint.checkpoint_id}"
        yield from _text_findings(checkpoint.goal, f"{base}/goal", LintSeverity.WARNING)
        yield from _text_findings(checkpoint.success_condition, f"{base}/success_condition")
    for position, condition in enumerate(interpretation.success_conditions):
        yield from _text_findings(condition, f"success_conditions/{position}")


def _text_findings(
    text: str, location: str, no_outcome: LintSeverity = LintSeverity.ERROR
) -> Iterator[LintFinding]:
    yield from _rule_findings(text, location)
    if found := _NO_OUTCOME.detect(text):
        yield _finding(_NO_OUTCOME, location, found, no_outcome)


def _rule_findings(text: str, location: str) -> Iterator[LintFinding]:
    for rule in _TEXT_RULES:
        if found := rule.detect(text):
            yield _finding(rule, location, found)


def _relation_findings(interpretation: SemanticWorkflowInterpretation) -> Iterator[LintFinding]:
    checkpoints = interpretation.checkpoints
    for position, checkpoint in enumerate(checkpoints):
        location = f"checkpoints/{checkpoint.checkpoint_id}"
        for earlier in checkpoints[:position]:
            if earlier.checkpoint_id == checkpoint.checkpoint_id or same_state(
                earlier.success_condition, checkpoint.success_condition
            ):
                yield _relation(location, f"repeats {earlier.checkpoint_id}")
            elif contradict(earlier.success_condition, checkpoint.success_condition):
                yield _relation(location, f"contradicts {earlier.checkpoint_id}")
        if contradict(checkpoint.goal, checkpoint.success_condition):
            yield _relation(location, "has a goal and a success condition that contradict each other")
    conditions = interpretation.success_conditions
    for position, condition in enumerate(conditions):
        for other in range(position):
            if same_state(conditions[other], condition):
                yield _relation(f"success_conditions/{position}", f"repeats success_conditions/{other}")
            elif contradict(conditions[other], condition, antonyms=True):
                yield _relation(f"success_conditions/{position}", f"contradicts success_conditions/{other}")


def _relation(location: str, what: str) -> LintFinding:
    return LintFinding(
        rule="CKP-006",
        severity=LintSeverity.ERROR,
        location=location,
        message=f"This one {what}.",
        suggestion="Keep one of them, or say what sets them apart; leave out a state that does not last.",
    )


def _markdown_findings(draft: SkillDraft) -> Iterator[LintFinding]:
    text = next((f.content for f in draft.files if f.path == _FILE_NAME), "")
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        heading = _HEADING.match(line)
        if heading:
            inside = heading.group(1).casefold() == "checkpoints"
        elif inside and line.strip():
            yield from _rule_findings(line, f"{_FILE_NAME}:{number}")


def _finding(
    rule: _Rule, location: str, found: str, severity: LintSeverity = LintSeverity.ERROR
) -> LintFinding:
    return LintFinding(
        rule=rule.rule,
        severity=severity,
        location=location,
        message=clipped(rule.message.format(found=clipped(found, 80)), 240),
        suggestion=rule.suggestion,
    )
