"""A rule of the scanner: what it looks for, why that matters, and what it weighs."""

import re
from dataclasses import dataclass

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, Weight
from domain.imports.scanner.searching import Search


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of one code."""

    code: ScanCode
    pattern: Search
    why: str
    weight: Weight = BLOCKS
    in_prose: Weight | None = None
    """What it weighs in documentation, where that differs: some of it is ordinary to explain."""

    own_call: bool = False
    """It is a call of a program's own language: no shell has to run it."""

    negates: bool = False
    """The words are themselves a negation: one before them does not take them back."""


def rule(
    code: ScanCode,
    pattern: str,
    why: str,
    weight: Weight = BLOCKS,
    in_prose: Weight | None = None,
    *,
    own_call: bool = False,
) -> Rule:
    """A rule about a command on one line."""
    return Rule(code, Search(pattern), why, weight, in_prose, own_call)


def sentence(
    code: ScanCode, pattern: str, why: str, weight: Weight = BLOCKS, *, negates: bool = False
) -> Rule:
    """A rule about wording, which may go over lines."""
    return Rule(code, Search(pattern, re.DOTALL), why, weight, negates=negates)
