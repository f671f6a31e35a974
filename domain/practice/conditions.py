"""What the success conditions of practice leave unexamined: files that are only made, or only hold some text."""

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


def partly_read(conditions: Sequence[PracticeCondition]) -> tuple[str, ...]:
    """The files of which only a text is looked for: a copy of the input may hold it as well as the wanted result.

    A check command may look at all of any of them.
    """
    kinds = PracticeConditionKind
    if any(one.kind is kinds.COMMAND_EXITS for one in conditions):
        return ()
    read = (one.path for one in conditions if one.kind is kinds.FILE_CONTAINS)
    return tuple(dict.fromkeys(path for path in read if path is not None))


def unread_note(conditions: Sequence[PracticeCondition]) -> str:
    """What of the results nothing looked at; empty where a check command may have looked at all of them."""
    said: list[str] = []
    if unread := unread_results(conditions):
        them = "it holds" if len(unread) == 1 else "they hold"
        said.append(f"Only that {clipped(listed(unread), 100)} came to be was checked, not what {them}.")
    if partly := partly_read(conditions):
        said.append(
            f"Of {clipped(listed(partly), 60)} only the given text was looked for, not what else is in there."
        )
    return " ".join(said)
