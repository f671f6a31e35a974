"""Judges conditions by what replays showed: broken, vacuous, a coincidence, or told apart (mutation testing).

A condition proves something only where leaving out a part of the work breaks it. What holds whatever is done is
vacuous, and so is what its kind or its file makes true: a single line is in every order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts.base import clipped
from contracts.learning.evidence import ConditionKind, ConditionVerdict, JudgedCondition, ProofCondition
from domain.learning.conditions.conditions import (
    FolderContents,
    finds_nothing,
    is_there,
    lines_of,
    links_made,
    members_wanted,
    objection,
    text_of,
    touched_by,
    was_left_alone,
)
from domain.learning.conditions.path_patterns import captured, filled, is_pattern
from domain.learning.conditions.sort_orders import order_of

_ORDINARY_MODES = frozenset({"644", "664", "600"})
_SHAPES = frozenset(
    {ConditionKind.SORTED, ConditionKind.LINE_COUNT, ConditionKind.DISTINCT_LINES, ConditionKind.FILE_COUNT}
)
"""Statements that rows can fulfil by chance, so that a replay has to have shown that they need not hold."""

_LACKING = frozenset({ConditionKind.LACKS_TEXT, ConditionKind.LACKS_WORD})
"""Statements that nearly every file fulfils, so that a replay has to have broken them with the file being there."""

_PRESENCE = frozenset({ConditionKind.EXISTS, ConditionKind.NOT_EMPTY})

_FEWEST_LINES = 2


class Effect(StrEnum):
    """What a trial did to a condition."""

    HOLDS = "holds"
    BROKEN = "broken"
    GONE = "gone"
    """Broken because there is no file that it can be about."""


@dataclass(frozen=True)
class Trial:
    """A replay with something left out or other input, and what it did to each condition, in their order."""

    effects: tuple[Effect, ...]
    command: int | None = None
    """The command that was left out, counted from 1."""
    reduced: str = ""
    """The part of a command that was left out, in words."""
    is_variation: bool = False
    has_repeated_rows: bool = False


def effect_on(
    condition: ProofCondition, before: FolderContents, after: FolderContents, *, is_omission: bool
) -> Effect:
    """What a trial did to the condition, by the folder before and after it.

    An omission that leaves so little that the condition says nothing has broken it as well.
    """
    if objection(condition, before, after) is None:
        is_empty = is_omission and says_nothing(condition, before, after) is not None
        return Effect.GONE if is_empty else Effect.HOLDS
    return Effect.BROKEN if is_there(condition, before, after) else Effect.GONE


def judged(
    condition: ProofCondition,
    number: int,
    before: FolderContents,
    after: FolderContents,
    trials: Sequence[Trial],
) -> JudgedCondition:
    """The verdict on a condition. ``number`` is its place in the effects of the trials."""

    def verdict(kind: ConditionVerdict, reason: str) -> JudgedCondition:
        return JudgedCondition(condition=condition, verdict=kind, reason=clipped(reason, 240))

    against = objection(condition, before, after)
    empty = says_nothing(condition, before, after)
    if against is not None and not (empty and condition.kind in _PRESENCE):
        return verdict(ConditionVerdict.BROKEN, f"it does not hold on the demonstration: {against}")
    if empty is not None:
        return verdict(ConditionVerdict.VACUOUS, empty)
    for trial in trials:
        if counts_for(condition, trial) and trial.effects[number] is not Effect.HOLDS:
            return verdict(
                ConditionVerdict.COINCIDENCE,
                "it does not hold on changed input, on which the commands succeed",
            )
    apart = [
        trial for trial in trials if not trial.is_variation and trial.effects[number] is not Effect.HOLDS
    ]
    if not apart:
        return verdict(ConditionVerdict.VACUOUS, "leaving out no part of the work breaks it")
    shown = any(trial.effects[number] is Effect.BROKEN for trial in apart)
    if condition.kind in _SHAPES:
        shown = shown or any(trial.is_variation for trial in trials)
    if condition.kind in _SHAPES | _LACKING and not shown:
        return verdict(
            ConditionVerdict.VACUOUS,
            "nothing that was left out or changed could break it but its file missing",
        )
    return verdict(ConditionVerdict.TOLD_APART, "leaving out a part of the work breaks it")


def counts_for(condition: ProofCondition, trial: Trial) -> bool:
    """Whether a variation says anything about the condition: rows that come twice may name the same file."""
    return trial.is_variation and not (trial.has_repeated_rows and condition.kind is ConditionKind.FILE_COUNT)


def says_nothing(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    """Why the condition is true without any work; ``None`` where it is not."""
    if condition.kind is not ConditionKind.CHECK_PASSES and condition.other == condition.path:
        return "it compares a file with itself"
    if condition.kind is ConditionKind.CHECK_PASSES:
        return None if condition.argument else "no check is named"
    if condition.kind is ConditionKind.STATE:
        same = before.facts().get(condition.path) == after.facts().get(condition.path)
        same = same and not (condition.argument and links_made(condition, before, after))
        return "it was so before the first command" if same else None
    if condition.kind is ConditionKind.MEMBERS_OF and not members_wanted(condition.other or "", before):
        return f"there is no file in {condition.other}"
    paths = touched_by(condition.path, before, after) if is_pattern(condition.path) else [condition.path]
    if condition.kind in (ConditionKind.ABSENT, ConditionKind.FILE_COUNT) or not paths:
        return None
    if condition.path in before.paths() and _was_so(condition, before, after):
        return "it was so before the first command"
    reasons = [_empty_for(condition, path, before, after) for path in paths]
    return reasons[0] if all(reasons) else None


def _was_so(condition: ProofCondition, before: FolderContents, after: FolderContents) -> bool:
    if condition.kind in _PRESENCE:
        return was_left_alone(condition.path, before, after)
    return objection(condition, before, before) is None


def _empty_for(
    condition: ProofCondition, path: str, before: FolderContents, after: FolderContents
) -> str | None:
    """Why the condition says nothing of one file."""
    text = after.text(path) or ""
    if condition.other:
        return _empty_against_source(condition, path, before, after)
    match condition.kind:
        case ConditionKind.LINE_COUNT if _never_more(int(condition.argument), before):
            return f"no file that was there has more than {condition.argument} lines"
        case ConditionKind.HOLDS_TEXT if not condition.argument.strip():
            return "every text holds it"
        case ConditionKind.LACKS_TEXT | ConditionKind.LACKS_WORD if not _was_anywhere(
            condition.argument, before
        ):
            return "no file that was there held it"
        case ConditionKind.MODE if path not in before.paths() and condition.argument in _ORDINARY_MODES:
            return "every new file has these permissions"
        case ConditionKind.SORTED | ConditionKind.DISTINCT_LINES | ConditionKind.COLUMNS:
            return _too_short(condition, path, lines_of(text))
        case _:
            return None


def _too_short(condition: ProofCondition, path: str, lines: Sequence[str]) -> str | None:
    if condition.kind is ConditionKind.SORTED:
        few = order_of(condition.argument).different_keys(lines) < _FEWEST_LINES
        return f"{path} has too few different lines to be out of order" if few else None
    return f"{path} has one line" if len(lines) < _FEWEST_LINES else None


def _empty_against_source(
    condition: ProofCondition, path: str, before: FolderContents, after: FolderContents
) -> str | None:
    text = after.text(path)
    source, name = _source_of(condition, path, before, after)
    match condition.kind:
        case ConditionKind.SAME_CONTENT:
            return f"{path} is empty" if text == "" else None
        case ConditionKind.HEADER_OF | ConditionKind.LINES_OF | ConditionKind.LINE_COUNT if text == source:
            return f"{path} is a whole copy of {name}"
        case ConditionKind.HEADER_OF if not "".join(lines_of(text or "")[:1]).strip():
            return f"{path} has no first line"
        case ConditionKind.LINES_OF if not text:
            return f"{path} is empty"
        case ConditionKind.COMPARES | ConditionKind.SELECTS if finds_nothing(condition, before, after):
            return "there was nothing to find"
        case _:
            return None


def _source_of(
    condition: ProofCondition, path: str, before: FolderContents, after: FolderContents
) -> tuple[str, str]:
    name = condition.other or ""
    if is_pattern(name):
        name = filled(name, captured(condition.path, path) or ()) or name
    return text_of(name, before, after), name


def _never_more(most: int, before: FolderContents) -> bool:
    texts = [before.text(path) for path in before.paths()]
    return all(text is not None and len(lines_of(text)) <= most for text in texts)


def _was_anywhere(text: str, before: FolderContents) -> bool:
    return bool(text) and any(text in (before.text(path) or "") for path in before.paths())
