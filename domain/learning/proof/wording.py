"""Words of proven conditions for people: what a skill states as success, and what its checkpoints look at."""

import re
from collections.abc import Sequence

from contracts.learning.evidence import ConditionKind, LessonEvidence, ProofCondition
from contracts.learning.interpretation import Checkpoint
from domain.learning.interpretation.checkpoint_lint import contradict, is_semantic, same_state

CONDITIONS_SHOWN = 8
"""The most conditions that a skill states; the others are checked all the same."""

_TELLING = (
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
    ConditionKind.CHECK_PASSES,
)
"""Kinds of condition, those that say most first."""

_OF_FILE = re.compile(r"The file (?P<path>.+?) (?:exists|holds|is|has)\b")


def proven_statements(evidence: LessonEvidence | None) -> tuple[str, ...]:
    """The statements that a skill makes about success: of each file the most telling two, none twice."""
    found: list[str] = []
    shown: dict[str, int] = {}
    for condition in _ranked(evidence):
        text = condition.statement
        taken = shown.get(condition.path, 0)
        if (
            taken < 2
            and is_semantic(text)
            and not any(same_state(text, o) or contradict(text, o) for o in found)
        ):
            found.append(text)
            shown[condition.path] = taken + 1
    return tuple(found[:CONDITIONS_SHOWN])


def checked_checkpoints(
    checkpoints: Sequence[Checkpoint], evidence: LessonEvidence | None
) -> tuple[Checkpoint, ...]:
    """The checkpoints, what each says of a file replaced by what was proven of it; else only that it exists."""
    if evidence is None:
        return tuple(checkpoints)
    by_path: dict[str, str] = {}
    for condition in _ranked(evidence):
        if is_semantic(condition.statement):
            by_path.setdefault(condition.path, condition.statement)
    found: list[Checkpoint] = []
    for checkpoint in checkpoints:
        named = _OF_FILE.match(checkpoint.success_condition)
        if named is None or "no longer" in checkpoint.success_condition:
            found.append(checkpoint)
            continue
        plain = f"The file {named['path']} exists"
        found.append(checkpoint.changed(success_condition=by_path.get(named["path"], plain)))
    return tuple(found)


def _ranked(evidence: LessonEvidence | None) -> list[ProofCondition]:
    conditions = evidence.conditions if evidence else ()
    return sorted(conditions, key=lambda one: _TELLING.index(one.kind))
