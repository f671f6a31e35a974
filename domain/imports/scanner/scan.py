"""Scan the files of a foreign bundle for what would harm the person, and say of each finding where and why.

Pure: nothing is run, fetched or written. A file is looked at up to a million characters, a bundle up to eight; what is
longer says so.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from contracts.imports.compatibility import FindingSeverity
from contracts.imports.scanning import ScanCode, ScanConfidence, ScanFinding
from domain.imports.scanner.binaries import unexpected_binary
from domain.imports.scanner.commands import harmful_commands
from domain.imports.scanner.data_flow import data_flow_findings
from domain.imports.scanner.findings import WARNS, Found, finding
from domain.imports.scanner.hidden_characters import unseen_characters
from domain.imports.scanner.obfuscation import obfuscated
from domain.imports.scanner.passages import Kind, language_of, passages
from domain.imports.scanner.prompt_injection import suspicious_wording
from domain.imports.scanner.reverse_shells import reverse_shells
from domain.imports.scanner.scanned_file import ScannedFile
from domain.imports.scanner.tool_scope import broad_tools

MAX_CHARACTERS = 1_000_000
"""Of one file."""

MAX_BUNDLE_CHARACTERS = 8_000_000
"""Of all files of a bundle, in the order in which they are given."""

MAX_FINDINGS = 500
"""Of one bundle; the gravest are kept."""

RULE_VERSION = "scan-2"
"""Changes with the rules: an earlier result is of an earlier version."""

_SEVERITIES = (FindingSeverity.ERROR, FindingSeverity.WARNING, FindingSeverity.INFO)
_CONFIDENCES = (ScanConfidence.HIGH, ScanConfidence.MEDIUM, ScanConfidence.LOW)


def scan_files(
    files: Iterable[ScannedFile], most_characters: int = MAX_BUNDLE_CHARACTERS
) -> tuple[ScanFinding, ...]:
    """Everything found in a bundle, the gravest first, then by path and line; equal bundles give equal findings."""
    found: list[tuple[str, Found]] = []
    left = most_characters
    for file in files:
        most = min(left, MAX_CHARACTERS)
        found += [(file.path, one) for one in _of_file(file, most)]
        left -= min(len(file.text or ""), most)
    found.sort(key=_order)
    return tuple(finding(one, path) for path, one in found[:MAX_FINDINGS])


def _order(of_file: tuple[str, Found]) -> tuple[int, int, str, int, str]:
    path, one = of_file
    return (*_rank(one), path, one.line or 0, one.code)


def _of_file(file: ScannedFile, most: int) -> Iterator[Found]:
    gravest: dict[tuple[ScanCode, int | None], Found] = {}
    for one in _everything(file, most):
        known = gravest.get((one.code, one.line))
        if known is None or _rank(one) < _rank(known):
            gravest[one.code, one.line] = one
    yield from gravest.values()


def _rank(one: Found) -> tuple[int, int]:
    return _SEVERITIES.index(one.weight.severity), _CONFIDENCES.index(one.weight.confidence)


def _everything(file: ScannedFile, most: int) -> Iterator[Found]:
    yield from unseen_characters(file.path, code=False)
    yield from unexpected_binary(file)
    if file.text is None:
        return
    text = file.text[:most]
    if len(file.text) > most:
        why = f"Only its first {most} characters are scanned: the limit of a file, or of the bundle, is reached."
        yield Found(ScanCode.NOT_SCANNED_WHOLE, WARNS, None, "", why)
    prose = language_of(file.extension, text) == "md"
    yield from unseen_characters(text, code=not prose)
    if prose:
        yield from broad_tools(text)
    found = passages(file.extension, text)
    for passage in found:
        yield from harmful_commands(passage)
    yield from suspicious_wording(found)
    code = (one for one in found if one.kind is Kind.CODE and one.language != "data")
    for _, group in groupby(code, key=lambda one: one.block):
        statements = list(group)
        yield from data_flow_findings(statements)
        yield from reverse_shells(statements)
        yield from obfuscated(statements)
