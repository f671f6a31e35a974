"""What the success conditions of practice leave unexamined: files of which only the making is checked."""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.practice.practice import PracticeCondition, PracticeConditionKind
from domain.learning.interpretation.naming import listed


def unread_results(conditions: Sequence[PracticeCondition]) -> tuple[str, ...]:
    """The files that have to be made while nothing looks at what is in them.

    A check command may look at any of them.
    """
    kinds = PracticeConditionKind
    if any(one.kind is kinds.COMMAND_EXITS for one in conditions):
        return ()
    read = {one.path for one in conditions if one.kind is kinds.FILE_CONTAINS}
    made = (one.path for one in conditions if one.kind is kinds.FILE_EXISTS)
    return tuple(dict.fromkeys(path for path in made if path is not None and path not in read))


def unread_note(conditions: Sequence[PracticeCondition]) -> str:
    """A sentence on :func:`unread_results`; empty where there are none."""
    unread = unread_results(conditions)
    if not unread:
        return ""
    them = "it holds" if len(unread) == 1 else "they hold"
    return f"Only that {clipped(listed(unread), 120)} came to be was checked, not what {them}."
