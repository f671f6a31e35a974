"""The compatibility report of an imported bundle (DOC3 §0C.20, lines 3248-3264)."""

from enum import StrEnum

from contracts.base import Contract, Text80, Text120, Text240, Text1000, VersionedContract
from contracts.imports.packs import PackId


class FindingSeverity(StrEnum):
    """How much a finding matters; an ``error`` makes a bundle incompatible."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class SkillCompatibilityFinding(Contract):
    """One finding: a stable code, what is wrong and what to do, and where."""

    code: Text120
    severity: FindingSeverity
    message: Text1000
    path_hint: Text240 | None = None


class SkillCompatibilityReport(VersionedContract):
    """What was found in a bundle, by which version of the rules."""

    compatible: bool
    requires_adapter: bool = False
    rule_version: Text80
    suggested_pack_id: PackId | None = None
    findings: tuple[SkillCompatibilityFinding, ...] = ()
