"""Inert look-alikes of hostile files and good files that resemble them, with what should come out."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from contracts.imports.compatibility import FindingSeverity
from contracts.imports.scanning import ScanFinding
from domain.imports.scanner.scan import scan_files
from domain.imports.scanner.scanned_file import ScannedFile
from domain.imports.scanner.verdicts import blocks

_HERE = Path(__file__).parent
KNOWN = _HERE / "cases"
"""What the rules were made with."""

HELD_OUT = _HERE / "held_out"
"""Written before the rules; no rule was changed for one of them."""


class Outcome(IntEnum):
    """What a person sees of a bundle."""

    QUIET = 0
    WARNED = 1
    BLOCKED = 2


@dataclass(frozen=True)
class Case:
    """One file. A hostile one should come out so or worse, a good one so or better."""

    family: str
    name: str
    hostile: bool
    file: ScannedFile
    wanted: Outcome

    def found(self) -> tuple[ScanFinding, ...]:
        """What the scanner says of it."""
        return scan_files([self.file])

    def holds(self) -> bool:
        """Whether it comes out as it should."""
        came = outcome(self.found())
        return came >= self.wanted if self.hostile else came <= self.wanted


def outcome(findings: tuple[ScanFinding, ...]) -> Outcome:
    """What findings come to."""
    if any(map(blocks, findings)):
        return Outcome.BLOCKED
    return (
        Outcome.WARNED if any(one.severity is not FindingSeverity.INFO for one in findings) else Outcome.QUIET
    )


def cases(folder: Path) -> Iterator[Case]:
    """All cases of a folder, family by family."""
    for file in sorted(folder.glob("*.toml")):
        table: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(file.read_text("utf-8"))
        for side, usual in (("hostile", "blocked"), ("good", "quiet")):
            for name, case in table[side].items():
                text: str | None = case.get("text")
                head = bytes.fromhex(case.get("head", ""))
                yield Case(
                    family=file.stem,
                    name=name,
                    hostile=side == "hostile",
                    file=ScannedFile(
                        path=case.get("path", "SKILL.md"),
                        text=text,
                        size=len(head) if text is None else len(text.encode()),
                        executable=case.get("executable", False),
                        head=head,
                    ),
                    wanted=Outcome[case.get("out", usual).upper()],
                )
