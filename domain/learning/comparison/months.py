"""Months as commands and names spell them: ``2026-10``, ``Oct 2026``, ``10/2026``, or a month and a year apart.

A month with its year is one value, however often and in whatever form a method has it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.interpretation import SkillParameter
from domain.learning.interpretation.naming import listed

_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NAME = rf"(?P<name>(?i:{'|'.join((*_NAMES, 'sept', *(one[:3] for one in _NAMES)))}))"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_SPELLINGS = tuple(
    re.compile(one)
    for one in (
        rf"{_YEAR}[-_/]{_MONTH}",
        rf"{_MONTH}[-_/]{_YEAR}",
        rf"{_NAME}(?:\.?,? |[-_/.]|){_YEAR}",
        rf"{_YEAR}[-_/ ]{_NAME}",
    )
)
_BEFORE, _AFTER = r"(?<![^\W_])(?<!\d[-_/.])", r"(?![^\W_])(?![-_/.]\d)"
_IN_TEXT = tuple(re.compile(rf"{_BEFORE}(?:{one.pattern}){_AFTER}") for one in _SPELLINGS)

_PART_OF_DATE = re.compile(r"(?:^|_)(?P<part>year|month|day)(?=_|$)")


@dataclass(frozen=True)
class Month:
    """A month of a year."""

    year: int
    month: int

    def __str__(self) -> str:
        return f"{self.year}-{self.month:02d}"


def months_in(text: str) -> Iterator[str]:
    """The months with their years that a text holds, as it spells them; no part of a whole date."""
    for pattern in _IN_TEXT:
        yield from (match.group() for match in pattern.finditer(text))


def month_of(value: str) -> Month | None:
    """The month that the value is a spelling of, with its year."""
    match = _match(value)
    return Month(int(match["year"]), _number(match)) if match else None


def spelled_like(month: Month, shown: str) -> str:
    """The month as ``shown`` spells another one."""
    match = _match(shown)
    if match is None:
        return shown
    groups = {"year": str(month.year)}
    if "month" in match.re.groupindex and match["month"]:
        groups["month"] = f"{month.month:02d}"
    else:
        groups["name"] = _named_like(month.month, match["name"])
    parts = sorted((match.span(name), text) for name, text in groups.items())
    low, said = 0, ""
    for (start, end), text in parts:
        said, low = f"{said}{shown[low:start]}{text}", end
    return said + shown[low:]


class SameMonth:
    """The parameters of a method that are about one month: whole ones, and year and month apart."""

    def __init__(self, parameters: Sequence[SkillParameter]) -> None:
        whole = {p.name: month for p in parameters if (month := month_of(p.examples[0]))}
        self._shown = {p.name: p.examples[0] for p in parameters}
        self._groups: dict[Month, dict[str, str]] = {}
        for name, month in whole.items():
            self._groups.setdefault(month, {})[name] = "whole"
        for month, group in self._groups.items():
            for one in parameters:
                if one.name in whole:
                    continue
                if re.search(r"(?:^|_)year", one.name) and one.examples[0] == str(month.year):
                    group[one.name] = "year"
                elif re.search(r"(?:^|_)month", one.name) and _alone(one.examples[0]) == month.month:
                    group[one.name] = "month"

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of the parameters that say one month between them, a whole one first."""
        return tuple(tuple(group) for group in self._groups.values() if len(group) > 1)

    def completed(self, values: Mapping[str, str]) -> dict[str, str]:
        """The values, and those of the other parameters of a month that is given.

        Raises:
            ContradictingMonths: two values are of different months.
        """
        found = dict(values)
        for shown, group in self._groups.items():
            given = {name: values[name] for name in group if values.get(name)}
            if len(group) < 2 or not given:
                continue
            wanted = self._meant(shown, group, given)
            for name, what in group.items():
                if name not in given and wanted is not None and wanted != shown:
                    found[name] = self._spelled(wanted, name, what)
        return found

    def _meant(self, shown: Month, group: Mapping[str, str], given: Mapping[str, str]) -> Month | None:
        said: dict[str, dict[int, str]] = {"year": {}, "month": {}}
        for name, value in given.items():
            what = group[name]
            month = month_of(value) if what == "whole" else None
            year = month.year if month else int(value) if what == "year" and value.isdigit() else None
            number = month.month if month else _alone(value) if what == "month" else None
            if year is None and number is None:
                return None
            for part, one in (("year", year), ("month", number)):
                if one is not None:
                    said[part].setdefault(one, name)
        for part in said.values():
            if len(part) > 1:
                raise ContradictingMonths(tuple(part.values()))
        return Month(next(iter(said["year"]), shown.year), next(iter(said["month"]), shown.month))

    def _spelled(self, month: Month, name: str, what: str) -> str:
        shown = self._shown[name]
        if what == "whole":
            return spelled_like(month, shown)
        if what == "year":
            return str(month.year)
        return f"{month.month:0{len(shown)}d}" if shown.isdigit() else _named_like(month.month, shown)


def as_one_month(parameters: Sequence[SkillParameter]) -> tuple[SkillParameter, ...]:
    """The parameters, those that say one month between them described so."""
    others = {
        name: [o for o in group if o != name] for group in SameMonth(parameters).groups for name in group
    }
    return tuple(
        _also_said(p, f"; one month with {listed(others[p.name])}") if p.name in others else p
        for p in parameters
    )


def as_one_date(parameters: Sequence[SkillParameter]) -> tuple[SkillParameter, ...]:
    """The parameters, those that are the year, the month or the day of one date described so.

    They belong together by their names: ``month`` and ``year``, ``from_month`` and ``from_year``.
    """
    whole = {name for group in SameMonth(parameters).groups for name in group}
    groups: dict[str, dict[str, str]] = {}
    for one in parameters:
        match = _PART_OF_DATE.search(one.name)
        if match and one.name not in whole and _IS_PART[match["part"]](one.examples[0]):
            groups.setdefault(_PART_OF_DATE.sub("", one.name), {}).setdefault(match["part"], one.name)
    others = {
        name: [o for o in group.values() if o != name]
        for group in groups.values()
        if len(group) > 1
        for name in group.values()
    }
    return tuple(
        _also_said(p, f"; a part of one date with {listed(others[p.name])}") if p.name in others else p
        for p in parameters
    )


def _also_said(parameter: SkillParameter, addition: str) -> SkillParameter:
    return parameter.changed(description=clipped(parameter.description, 240 - len(addition)) + addition)


class ContradictingMonths(Exception):
    """Values of different months were given for parameters that are one month; names them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(", ".join(names))
        self.names = names


def _match(value: str) -> re.Match[str] | None:
    return next((match for one in _SPELLINGS if (match := one.fullmatch(value.strip()))), None)


def _number(match: re.Match[str]) -> int:
    groups = match.groupdict()
    return int(groups["month"]) if groups.get("month") else _named(groups["name"])


_IS_PART: dict[str, Callable[[str], bool]] = {
    "year": lambda value: re.fullmatch(_YEAR, value) is not None,
    "month": lambda value: _alone(value) is not None,
    "day": lambda value: value.isdigit() and 1 <= int(value) <= 31,
}


def _named(name: str) -> int:
    return next(n for n, one in enumerate(_NAMES, start=1) if one.startswith(name[:3].lower()))


def _alone(value: str) -> int | None:
    """The month that a number or a name is."""
    if re.fullmatch(r"0?[1-9]|1[0-2]", value):
        return int(value)
    return _named(value) if re.fullmatch(_NAME, value) else None


def _named_like(month: int, shown: str) -> str:
    """The name of a month, as short as the one shown and in its case."""
    name = _NAMES[month - 1]
    said = name if shown.lower() in _NAMES else name[:3]
    return said.upper() if shown.isupper() else said.capitalize() if shown[:1].isupper() else said
