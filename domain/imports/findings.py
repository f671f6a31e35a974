"""Findings of an import's rules, within the bounds of their contract and with unseen characters spelled out."""

from contracts.base import clipped
from contracts.imports.compatibility import FindingSeverity, SkillCompatibilityFinding
from domain.platform.visible_text import visible


def info(code: str, message: str, path_hint: str | None = None) -> SkillCompatibilityFinding:
    """What is good to know."""
    return _finding(FindingSeverity.INFO, code, message, path_hint)


def warning(code: str, message: str, path_hint: str | None = None) -> SkillCompatibilityFinding:
    """What a person should look at before installing."""
    return _finding(FindingSeverity.WARNING, code, message, path_hint)


def error(code: str, message: str, path_hint: str | None = None) -> SkillCompatibilityFinding:
    """What makes a skill incompatible."""
    return _finding(FindingSeverity.ERROR, code, message, path_hint)


def _finding(
    severity: FindingSeverity, code: str, message: str, path_hint: str | None
) -> SkillCompatibilityFinding:
    return SkillCompatibilityFinding(
        code=str(code)[:120],
        severity=severity,
        message=clipped(visible(message), 1000),
        path_hint=clipped(visible(path_hint), 240) if path_hint is not None else None,
    )
