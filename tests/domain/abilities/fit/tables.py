"""Tables of abilities with requests that must find them and near misses that must not."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.abilities.availability import AbilityAvailabilityEntry
from domain.learning.interpretation.naming import lower_first, slug_from_title
from tests.fixtures.abilities import ability

TABLES = {name: Path(__file__).with_name(f"{name}.txt") for name in ("requests", "tasks")}


@dataclass(frozen=True)
class Row:
    """An ability, what must find it, and what must not."""

    entry: AbilityAvailabilityEntry
    finds: Sequence[str]
    misses: Sequence[str]


def rows_of(path: Path) -> list[Row]:
    """The table in a file: ``= goal -> results`` is an ability, ``+`` must find it, ``-`` must not."""
    found: list[Row] = []
    finds: list[str] = []
    misses: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, said = line[:2], line[2:].strip()
        if mark == "= ":
            finds, misses = [], []
            title, _, results = said.partition(" -> ")
            made = [f"make {posixpath.basename(path)}" for path in results.split()[-2:]]
            phrases = (lower_first(title), *made)
            found.append(
                Row(ability(slug_from_title(title), title=title, trigger_phrases=phrases), finds, misses)
            )
        elif mark in ("+ ", "- "):
            (finds if mark == "+ " else misses).append(said)
    return found
