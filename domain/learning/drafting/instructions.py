"""Read a revision's words as edits, by rules: DOC3 §0C.16A revise, without a model.

What names a checkpoint, a condition, a parameter or an order is carried out; numbers are those of the draft as it is
shown. Everything else is left over, for a model or to be told to the person.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import SkillDraft
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.instruction_rules import RULES
from domain.learning.drafting.put_back import LeftCommands
from domain.learning.drafting.revised_draft import Revision
from domain.learning.drafting.revision import check_edits


@dataclass(frozen=True)
class ReadInstructions:
    """The edits that the words ask for, by field, and the sentences that no rule understands."""

    edits: dict[str, object] = field(default_factory=dict[str, object])
    not_understood: tuple[str, ...] = ()


def read_instructions(
    text: str,
    interpretation: SemanticWorkflowInterpretation,
    draft: SkillDraft,
    edited: Collection[str] = (),
    commands: Commands | None = None,
    left_out: LeftCommands | None = None,
) -> ReadInstructions:
    """What ``text`` asks to change about a draft; words about a field that is ``edited`` beside them are left over.

    ``commands`` are those of the draft, where some may be left out, ``left_out`` those that were.

    Raises:
        Refusal: ``REVISION_INVALID`` where it is understood and cannot be done: there is no such step or parameter,
            or the result would be no valid edit, or others use what a command makes that is to be left out.
    """
    revision = Revision(
        interpretation, draft, commands=commands or Commands(), left=left_out or LeftCommands()
    )
    left: list[str] = []
    for sentence in _sentences(text):
        after = _carried_out(sentence, revision)
        if after is None or not (after.edits().keys() - revision.edits().keys()).isdisjoint(edited):
            left.append(sentence)
        else:
            revision = after
    revision.commands.check(revision.left_out)
    return ReadInstructions(check_edits(revision.edits()), tuple(left))


# Sentences


_POLITE = re.compile(
    r"^(?:(?:please|also|then|now|and|ok|could you|can you|you should|I want you to|let's)[, ]+)*",
    re.IGNORECASE,
)
_CUT = re.compile(r"\s*;\s*|,?\s+(?:and then|and also|and|then)\s+|,\s+", re.IGNORECASE)
_END = re.compile(r"\n+|(?<=[.!?])\s+(?=\S)")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|`[^`]*`|«[^»]*»|(?<!\w)'[^']*'(?!\w)")


def _sentences(text: str) -> list[str]:
    """The sentences and lines; a full stop inside quotation marks ends none."""
    lines = re.sub(r"(?m)^\s*(?:[-*•]|\d{1,2}[.)])\s+", "", text)
    return [one.strip() for one in _cut(lines, _END) if one.strip(" .!?")]


def _cut(text: str, pattern: re.Pattern[str]) -> list[str]:
    found: list[str] = []
    low = 0
    for start, end in _cuts(text, pattern):
        found.append(text[low:start])
        low = end
    return [*found, text[low:]]


def _cuts(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    inside = [match.span() for match in _QUOTED.finditer(text)]
    return [
        match.span()
        for match in pattern.finditer(text)
        if not any(low <= match.start() < high for low, high in inside)
    ]


def _carried_out(sentence: str, revision: Revision) -> Revision | None:
    """The revision after a sentence of one or several instructions; ``None`` where a part is not understood."""
    for start, end in _cuts(sentence, _CUT):
        # What follows must be an instruction of its own: "swap 2 and 3" and a title with "and" are not cut.
        before = _by_a_rule(sentence[:start], revision)
        after = before and _carried_out(sentence[end:], before)
        if after:
            return after
    return _by_a_rule(sentence, revision)


def _by_a_rule(said: str, revision: Revision) -> Revision | None:
    text = _POLITE.sub("", said.strip()).strip().rstrip("!")
    text = text if text.endswith("..") else text.removesuffix(".")
    for pattern, rule in RULES:
        match = pattern.fullmatch(text)
        after = rule(revision, match) if match else None
        if after is not None:
            return after
    return None
