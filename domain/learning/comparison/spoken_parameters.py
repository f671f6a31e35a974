"""Texts with placeholders as a person says them: "for the warehouse in {warehouse}" is "for another warehouse"."""

import re
from collections.abc import Sequence

from contracts.learning.interpretation import ParameterType, SkillParameter
from domain.learning.commands.command_line import name_set
from domain.learning.interpretation.naming import is_verb, underscored

_MARK = re.compile(r"\{(\w+)\}")
_THE = r"(?:the|a|an|this|that|these|those|our|my|your|its)"
_LINK = r"(?:in|at|of|on|for|from|by|called|named|is|number|no\.?)"
"""What may stand between a noun and its value: "the warehouse in Linz", "the branch called prices"."""

_BEFORE = name_set(
    """of in into for from to by on onto at with about without within via using per than before after under over
    between against and or then"""
)
_BEHIND = _BEFORE | name_set("is are was were be as that which who where when until so but instead")
"""Words that go on after a noun; any other word behind a value is what the value tells more of: "{count} pages"."""

_NO_NOUNS = name_set("value option called named new old same other another only")


def as_asked(text: str, parameters: Sequence[SkillParameter]) -> str | None:
    """``text`` with "another warehouse" where it has ``{warehouse}``; None where that is nothing that a person says."""
    known = {parameter.name: parameter for parameter in parameters}
    while mark := _MARK.search(text):
        parameter = known.get(mark[1])
        said = another(parameter) if parameter else None
        if parameter is None or said is None or not _stands_alone(text[mark.end() :]):
            return None
        before = _before(text[: mark.start()], parameter)
        if before is None:
            return None
        text = f"{before}{said}{text[mark.end() :]}"
    return text


def another(parameter: SkillParameter) -> str | None:
    """The parameter with other than its shown value, as it is asked for: "another deliveries file", "other prices".

    None where its name is no noun, one that only counts on (``guests_file_2``), its value ("another south"), or what
    takes another's place (``new_room``).
    """
    words = parameter.name.split("_")
    if any(underscored(value).endswith(parameter.name) for value in parameter.examples):
        return None
    if words[-1].isdigit() or words[-1].endswith("ed") or {words[0], words[-1]} & _NO_NOUNS:
        return None
    noun = " ".join(words)
    if not _is_plural(words[-1]):
        return f"another {noun}"
    return f"another number of {noun}" if parameter.type is ParameterType.NUMBER else f"other {noun}"


def without_doubled(text: str, parameter: SkillParameter) -> str:
    """``text`` without the placeholder of ``parameter`` where the noun stands before it: "the warehouse in …"."""
    doubled = rf"(?i)\b({_noun(parameter)})(?:\s+{_LINK})?\s+{{{parameter.name}}}(?![\w.-]*\w)"
    return re.sub(doubled, r"\1", text)


def _before(before: str, parameter: SkillParameter) -> str | None:
    """What stands before the value, without the noun and the article that "another" stands for."""
    named = re.search(
        rf"(?i)(?:(?<=\s)|^)(?:{_THE}\s+)?{_noun(parameter)}(?:\s+{_LINK})?\s+$", before
    ) or re.search(rf"(?i)(?:(?<=\s)|^){_THE}\s+$", before)
    kept = before[: named.start()] if named else before
    if kept and not kept.endswith(" "):
        return None
    last = kept.split()[-1].lower() if kept.split() else ""
    opens = not last or last in _BEFORE or is_verb(last) or last.endswith((",", ":", ";"))
    return kept if opens else None


def _stands_alone(behind: str) -> bool:
    """Whether a value is neither a part of a longer name nor tells more of the word behind it."""
    end = re.match(r"[.,;:!?]?(?:\s+|$)", behind)
    if end is None:
        return False
    following = re.match(r"[\w'’-]+", behind[end.end() :])
    return bool(end[0].strip()) or following is None or following[0].lower() in _BEHIND


def _noun(parameter: SkillParameter) -> str:
    """A pattern of the parameter's name as a noun, in one or in several."""
    return rf"{re.escape(parameter.name.replace('_', ' '))}s?"


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))
