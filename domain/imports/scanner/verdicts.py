"""What findings mean for an import: what blocks it, who may override, and how they stand in its report."""

from collections.abc import Iterable, Sequence

from contracts.base import clipped
from contracts.imports.compatibility import (
    FindingSeverity,
    SkillCompatibilityFinding,
    SkillCompatibilityReport,
)
from contracts.imports.scanning import ScanConfidence, ScanFinding, ScanHold
from contracts.platform.identity import Scope

_PATH_CHARACTERS = 240
_MESSAGE_CHARACTERS = 1000


def blocks(finding: ScanFinding) -> bool:
    """Whether the import stops at this finding: an error that is surely done and not merely named."""
    return finding.severity is FindingSeverity.ERROR and finding.confidence is ScanConfidence.HIGH


def scope_to_override(findings: Iterable[ScanFinding]) -> Scope | None:
    """The scope a person needs to go on in spite of ``findings``: ``admin`` where one blocks, ``approve`` for the rest.

    None without anything to override: information alone holds nothing up. The caller records who went on, and why.
    """
    scope: Scope | None = None
    for finding in findings:
        if blocks(finding):
            return Scope.ADMIN
        if finding.severity is not FindingSeverity.INFO:
            scope = Scope.APPROVE
    return scope


def hold_of(findings: Sequence[ScanFinding], *, only_obstacle: bool) -> ScanHold | None:
    """What a person has to go on in spite of; None where ``findings`` are information alone."""
    needs = scope_to_override(findings)
    if needs is None:
        return None
    codes = {found.code.value for found in findings if found.severity is not FindingSeverity.INFO}
    return ScanHold(needs=needs, codes=tuple(sorted(codes)), only_obstacle=only_obstacle)


def held_in_report(findings: Sequence[ScanFinding], report: SkillCompatibilityReport) -> ScanHold | None:
    """As ``hold_of``, of findings that stand in ``report`` beside those of others."""
    own = {found.code.value for found in findings}
    others = (one for one in report.findings if one.code not in own)
    return hold_of(findings, only_obstacle=not any(one.severity is FindingSeverity.ERROR for one in others))


def compatibility_finding(finding: ScanFinding) -> SkillCompatibilityFinding:
    """The finding as the report of the import has it: why, then the line it quotes."""
    where = f" (line {finding.line})" if finding.line is not None else ""
    quoted = f" Line: {finding.quote}" if finding.quote else ""
    return SkillCompatibilityFinding(
        code=finding.code.value,
        severity=finding.severity,
        message=clipped(
            f"{finding.why}{where} Confidence: {finding.confidence.value}.{quoted}", _MESSAGE_CHARACTERS
        ),
        path_hint=clipped(finding.path, _PATH_CHARACTERS),
    )
