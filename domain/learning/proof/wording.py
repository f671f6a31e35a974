"""Words of proven conditions for people: what a skill states as success, and what its checkpoints look at."""

from contracts.learning.evidence import ConditionKind, LessonEvidence, ProofCondition
from domain.learning.checkpoints.checkpoint_lint import contradict, is_semantic, same_state
from domain.learning.interpretation.lasting_names import ProvenFiles

CONDITIONS_SHOWN = 20
"""The most conditions that a skill states."""

_TELLING = (
    ConditionKind.CHECK_PASSES,
    ConditionKind.COMPARES,
    ConditionKind.SELECTS,
    ConditionKind.SORTED,
    ConditionKind.SAME_CONTENT,
    ConditionKind.MEMBERS_OF,
    ConditionKind.FILE_COUNT,
    ConditionKind.STATE,
    ConditionKind.LINE_COUNT,
    ConditionKind.LACKS_TEXT,
    ConditionKind.LACKS_WORD,
    ConditionKind.DISTINCT_LINES,
    ConditionKind.LINES_OF,
    ConditionKind.COLUMNS,
    ConditionKind.MODE,
    ConditionKind.HEADER_OF,
    ConditionKind.VALID_JSON,
    ConditionKind.HOLDS_TEXT,
    ConditionKind.ABSENT,
    ConditionKind.NOT_EMPTY,
    ConditionKind.EXISTS,
)
"""Kinds of condition, those that say most first."""


def proven_statements(evidence: LessonEvidence | None) -> tuple[str, ...]:
    """The statements that a skill makes about success, the most telling first: all that is tested, none twice."""
    found: list[str] = []
    for condition in _ranked(evidence):
        text = condition.statement
        if is_semantic(text) and not any(same_state(text, o) or contradict(text, o) for o in found):
            found.append(text)
    return tuple(found[:CONDITIONS_SHOWN])


def proven_files(evidence: LessonEvidence | None) -> ProvenFiles | None:
    """The most telling thing that was proven of each file or pattern; ``None`` without a replay."""
    if evidence is None:
        return None
    found = ProvenFiles({}, {}, {}, frozenset(use.event_id for use in evidence.uses))
    said = {
        ConditionKind.ABSENT: found.gone,
        ConditionKind.STATE: None,
        ConditionKind.CHECK_PASSES: found.checks,
    }
    for condition in _ranked(evidence):
        by = condition.argument if condition.kind is ConditionKind.CHECK_PASSES else condition.path
        known = said.get(condition.kind, found.there)
        if known is not None and is_semantic(condition.statement):
            known.setdefault(by, condition.statement)
    return found


def _ranked(evidence: LessonEvidence | None) -> list[ProofCondition]:
    conditions = evidence.conditions if evidence else ()
    return sorted(conditions, key=lambda one: _TELLING.index(one.kind))
