"""Find what a revision's words point at: checkpoints, conditions and parameters, by number, order or wording."""

import re
from collections.abc import Sequence

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import SkillParameter
from domain.learning.commands.command_line import name_set
from domain.learning.interpretation.naming import listed, underscored

QUOTES = "“”„\"'`«»‘’"

_NUMBERS = {
    name: number
    for number, name in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
}
_ORDINALS = {
    name: number
    for number, name in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
        start=1,
    )
}
_N = rf"(?:#?\d{{1,3}}|cp-\d{{2,3}}|{'|'.join(_NUMBERS)})"
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th)|last)"
_AND = r"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*|-|–|to\s+|through\s+)\s*"
_RANGE = re.compile(rf"({_N})\s*(?:-|–|to\s|through\s)\s*({_N})")
_LITTLE = name_set("a an and are as at be by for from in into is it its of on or that the this to with")
_STEM = 5


class Places:
    """The places of one list, as a person counts them: ``noun`` is a regular expression of what they are called."""

    def __init__(self, noun: str, texts: Sequence[str], ids: Sequence[str] = ()) -> None:
        self._noun = noun
        self._texts = tuple(texts)
        self._ids = tuple(ids)
        self._by_number = re.compile(
            rf"(?:the\s+)?(?:{noun})s?\s*(?:no\.?\s*|number\s+|nr\.?\s*)?({_N}(?:{_AND}{_N})*)", re.IGNORECASE
        )
        self._bare = re.compile(rf"{_N}(?:{_AND}{_N})*", re.IGNORECASE)
        self._by_order = re.compile(
            rf"(?:the\s+)?({_ORDINAL}(?:{_AND}(?:the\s+)?{_ORDINAL})*)\s+(?:{noun})s?", re.IGNORECASE
        )
        self._by_words = re.compile(
            rf"(?:the\s+)?(?:{noun})\s+(?:(?:about|on|with|for|where|called|named|that\s+(?:says|reads|is about))\s+)?"
            r"(.+)",
            re.IGNORECASE | re.DOTALL,
        )

    def named(self, said: str, *, bare: bool = False) -> tuple[int, ...] | None:
        """The positions (from 0) that ``said`` names; ``None`` where it names no place of this list.

        With ``bare`` a number without a noun counts.

        Raises:
            Refusal: ``REVISION_INVALID`` for a place that there is not, or words that fit none or several.
        """
        text = said.strip()
        if match := self._by_number.fullmatch(text):
            return self._numbered(match.group(1))
        if (bare or text.lower() in self._ids) and self._bare.fullmatch(text):
            return self._numbered(text)
        if match := self._by_order.fullmatch(text):
            return tuple(self._ordinal(one) for one in re.findall(_ORDINAL, match.group(1).lower()))
        if match := self._by_words.fullmatch(text):
            return (self.worded(match.group(1)),)
        return None

    def worded(self, said: str) -> int:
        """The one position whose text holds these words.

        Raises:
            Refusal: ``REVISION_INVALID`` where none or several do.
        """
        words = unquoted(said)
        folded = words.casefold()
        found = [n for n, text in enumerate(self._texts) if folded in text.casefold()]
        if not found:
            wanted = _stems(words)
            found = [n for n, text in enumerate(self._texts) if wanted and wanted <= _stems(text)]
        if len(found) != 1:
            how = "fits several" if found else "fits none"
            raise refused(f"“{clipped(words, 60)}” {how} of: {self._listed()}")
        return found[0]

    def _numbered(self, text: str) -> tuple[int, ...]:
        lowered = text.lower()
        if match := _RANGE.fullmatch(lowered.strip()):
            low, high = self._number(match.group(1)), self._number(match.group(2))
            return tuple(range(low, high + 1))
        return tuple(dict.fromkeys(self._number(one) for one in re.findall(_N, lowered)))

    def _number(self, text: str) -> int:
        if text in self._ids:
            return self._ids.index(text)
        digits = re.sub(r"\D", "", text)
        return self._checked(int(digits) if digits else _NUMBERS[text])

    def _ordinal(self, text: str) -> int:
        if text == "last":
            return self._checked(len(self._texts))
        digits = re.sub(r"\D", "", text)
        return self._checked(int(digits) if digits else _ORDINALS[text])

    def _checked(self, number: int) -> int:
        if not 1 <= number <= len(self._texts):
            raise refused(f"there is no number {number}; there are {len(self._texts)}: {self._listed()}")
        return number - 1

    def _listed(self) -> str:
        return "; ".join(f"{n}. {clipped(text, 40)}" for n, text in enumerate(self._texts, start=1)) or "none"


def refused(what: str) -> Refusal:
    """What a revision's words ask for and cannot be done."""
    return Refusal(
        ErrorCode.REVISION_INVALID,
        clipped(f"revision_instructions: {what}", 240),
        fields=["revision_instructions"],
    )


def unquoted(said: str) -> str:
    """The text itself: without quotation marks around it, outer space and a full stop at the end."""
    text = " ".join(said.split())
    text = text if text.endswith("..") else text.removesuffix(".")
    if len(text) > 1 and text[0] in QUOTES and text[-1] in QUOTES:
        text = text[1:-1].strip()
    return text


def parameter_named(said: str, parameters: Sequence[SkillParameter]) -> SkillParameter | None:
    """The parameter that is called so or has this value."""
    text = unquoted(re.sub(r"(?i)^(?:the\s+)?(?:parameters?\s+)?", "", said.strip()))
    text = re.sub(r"(?i)\s+parameter$", "", text)
    name = underscored(text)
    by_name = next((one for one in parameters if one.name == name), None)
    return by_name or next((one for one in parameters if text in one.examples), None)


def parameter_name(said: str) -> str:
    """What is said as the name of a parameter.

    Raises:
        Refusal: ``REVISION_INVALID`` where no name can be made of it.
    """
    name = underscored(unquoted(said))
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise refused(
            f"“{clipped(said, 60)}” is no name: at most 40 of a-z, 0-9 and _, beginning with a letter"
        )
    return name


def no_parameter(said: str, parameters: Sequence[SkillParameter]) -> Refusal:
    """There is no such parameter; says which there are."""
    there = f"there are {listed([one.name for one in parameters])}" if parameters else "there are none"
    return refused(f"“{clipped(unquoted(said), 60)}” is no parameter, so it is fixed; {there}")


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in re.findall(r"\w+", text.lower()) if word not in _LITTLE}
