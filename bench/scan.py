"""What the content scanner finds of hostile look-alikes, and how often it accuses good files.

``python -m bench.scan [FOLDER]`` prints recall and false alarms, on the files that the rules were made with and on
those that were held out. ``FOLDER`` holds good skills, one SKILL.md each at any depth: what is found in them is false.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from contracts.imports.scanning import ScanFinding
from domain.imports.scanner.scan import RULE_VERSION, scan_files
from domain.imports.scanner.scanned_file import HEAD_BYTES, ScannedFile
from domain.imports.scanner.verdicts import blocks
from tests.domain.imports.scanner.look_alikes import HELD_OUT, KNOWN, Case, Outcome, cases, outcome

MIN_RECALL = 0.9
"""The share of the hostile files that come out as grave as they should, of known and of held out ones."""

MAX_FALSE_ALARMS = 0.05
"""The share of the good files that come out graver than they should."""

_EXECUTABLE = 0o111


def measure(folder: Path | None = None) -> dict[str, Any]:
    """The figures of both sets, and of the skills in ``folder``."""
    found: dict[str, Any] = {"rules": RULE_VERSION}
    for name, place in (("known", KNOWN), ("held_out", HELD_OUT)):
        found[name] = _figures(list(cases(place)))
    if folder is not None:
        found["good_skills"] = _of_folder(folder)
    return found


def _figures(all_of: list[Case]) -> dict[str, Any]:
    begun = time.perf_counter()
    each = [(case, outcome(case.found())) for case in all_of]
    seconds = time.perf_counter() - begun
    hostile = [(case, came) for case, came in each if case.hostile]
    good = [(case, came) for case, came in each if not case.hostile]
    return {
        "hostile": len(hostile),
        "recall": _share(came >= case.wanted for case, came in hostile),
        "reported": _share(came >= Outcome.WARNED for _, came in hostile),
        "good": len(good),
        "false_alarms": _share(came > case.wanted for case, came in good),
        "wrongly_blocked": _share(came is Outcome.BLOCKED for _, came in good),
        "seconds": round(seconds, 2),
        "missed": sorted(f"{case.family}/{case.name}" for case, came in hostile if came < case.wanted),
        "accused": sorted(f"{case.family}/{case.name}" for case, came in good if came > case.wanted),
    }


def _share(of: Iterable[bool]) -> float:
    answers = list(of)
    return round(sum(answers) / len(answers), 3) if answers else 0.0


def _of_folder(folder: Path) -> dict[str, Any]:
    each: dict[str, Any] = {}
    for skill in sorted({file.parent for file in folder.rglob("SKILL.md")}):
        files = [_file(path, skill) for path in sorted(skill.rglob("*")) if path.is_file()]
        begun = time.perf_counter()
        found = scan_files(files)
        each[str(skill.relative_to(folder))] = {
            "outcome": outcome(found).name.lower(),
            "seconds": round(time.perf_counter() - begun, 2),
            "bytes": sum(file.size for file in files),
            "findings": [_said(one) for one in found if blocks(one) or one.severity != "info"],
        }
    outcomes = [one["outcome"] for one in each.values()]
    return {
        "skills": len(each),
        "blocked": outcomes.count("blocked"),
        "warned": outcomes.count("warned"),
        "quiet": outcomes.count("quiet"),
        "each": each,
    }


def _file(path: Path, skill: Path) -> ScannedFile:
    body = path.read_bytes()
    try:
        text = None if b"\0" in body else body.decode()
    except UnicodeDecodeError:
        text = None
    executable = bool(path.stat().st_mode & _EXECUTABLE)
    return ScannedFile(str(path.relative_to(skill)), text, len(body), executable, body[:HEAD_BYTES])


def _said(found: ScanFinding) -> str:
    return f"{found.severity.value} {found.code.value} {found.path}:{found.line or ''} {found.quote}"


def _table(found: dict[str, Any]) -> Table:
    table = Table("files", "hostile", "recall", "reported", "good", "false alarms", "wrongly blocked")
    for name in ("known", "held_out"):
        one = found[name]
        shares = (f"{one[key]:.1%}" for key in ("recall", "reported"))
        alarms = (f"{one[key]:.1%}" for key in ("false_alarms", "wrongly_blocked"))
        table.add_row(name, str(one["hostile"]), *shares, str(one["good"]), *alarms)
    return table


def main() -> None:
    """Prints the result as JSON, and a table to standard error; exit code 1 when a bound is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scan",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    if folder is not None and not folder.is_dir():
        parser.error(f"{folder} is no folder")
    found = measure(folder)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    Console(stderr=True).print(_table(found))
    sets = [found[name] for name in ("known", "held_out")]
    sys.exit(any(one["recall"] < MIN_RECALL or one["false_alarms"] > MAX_FALSE_ALARMS for one in sets))


if __name__ == "__main__":
    main()
