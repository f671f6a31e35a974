"""The compatibility report of a skill: what fits here, what is missing, what it could be taken for, and what to do.

Pure rules over what was read and the names of what is installed (DOC3 §0C.20, §0.5B, §1.1O; rows G0-16, P-20, P-21).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from contracts.base import clipped
from contracts.imports.compatibility import (
    FindingSeverity,
    SkillCompatibilityFinding,
    SkillCompatibilityReport,
)
from contracts.imports.portable_frontmatter import PortabilityGrade
from domain.imports.allowed_tools import AGENT_TOOLS, reaches, tool_of
from domain.imports.bundles import SkillBundle
from domain.imports.findings import error, info, warning
from domain.imports.import_draft import capability_id_of
from domain.imports.namespaces import namespace_of, runtime_tool, shadowed
from domain.imports.portable import allowed_tools, host_needs, portable_frontmatter
from domain.imports.skill_problems import SkillCode
from domain.imports.text_checks import description_findings, text_findings

RULE_VERSION = "import-1"
"""Named in each report; changes with the rules."""

_PROGRAMS = (
    ".exe",
    ".dll",
    ".so",
    ".dylib",
    ".node",
    ".msi",
    ".com",
    ".scr",
    ".pyd",
    ".jar",
    ".class",
    ".wasm",
)
_MCP = re.compile(r"mcp__(?P<server>.+?)(?:__.+)?|(?P<named>[\w.-]+):[\w.*-]+", re.IGNORECASE)
_CHANGES_MEANING = frozenset(
    {
        SkillCode.DESCRIPTION_TOO_LONG,
        SkillCode.DESCRIPTION_MISSING,
        SkillCode.COMPATIBILITY_TOO_LONG,
        SkillCode.NAME_INVALID,
        SkillCode.NAME_MISSING,
        SkillCode.FRONTMATTER_MISSING,
        SkillCode.METADATA_NOT_MAPPING,
    }
)
_MOST_FINDINGS = 200
_MOST_REPAIR_TEXT = 300


@dataclass(frozen=True)
class Installed:
    """The names of what there is here already: tools, connected servers, skills, support packs, used namespaces.

    ``imported`` are the skills that the owner imported before: an archive of the same name makes a version of one.
    ``quarantined`` are those of the imported whose ability is quarantined: an archive lifts no quarantine.
    ``packs`` are the names that stand in each of the owner's packs.
    """

    tools: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    skills: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    support_packs: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    quarantined: frozenset[str] = frozenset()
    packs: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True)
class Compatibility:
    """The report, and what follows from it at run time."""

    report: SkillCompatibilityReport
    grade: PortabilityGrade
    namespace: str
    runtime_tools: tuple[str, ...]


def compatibility_report(
    bundle: SkillBundle, installed: Installed, also: Iterable[SkillCompatibilityFinding] = ()
) -> Compatibility:
    """The report of one skill. ``also`` are findings of others about it: of the archive, of the scanner.

    An error makes it incompatible: a tool that could be taken for another, a name that is taken, a skill that it
    depends on and that is not here (DOC3 lines 4805-4807).
    """
    namespace = portable_frontmatter(bundle.skill).assigned_namespace or namespace_of(bundle.skill.name)
    names = list(_names(bundle, installed, namespace))
    findings = [
        *also,
        *bundle.findings,
        *_repairs(bundle),
        *names,
        *_missing(bundle, installed),
        *_dependencies(bundle, installed),
        *_programs(bundle),
        *_executables(bundle),
        *_needs(bundle),
        *description_findings(bundle.skill),
        *text_findings(bundle),
    ]
    # A collision needs one as well: the skill cannot be installed before its tools are called otherwise.
    collides = any(finding.code in _COLLISIONS for finding in names)
    requires_adapter = collides or any(finding.code in _NOT_HERE for finding in findings)
    grade = _grade(bundle, findings, requires_adapter)
    findings.append(info("PORTABILITY_GRADE", f"{grade.value}: {_GRADES[grade]}"))
    report = SkillCompatibilityReport(
        compatible=not any(finding.severity is FindingSeverity.ERROR for finding in findings),
        requires_adapter=requires_adapter,
        rule_version=RULE_VERSION,
        suggested_pack_id=_pack_of(bundle),
        findings=_ordered(findings),
    )
    tools = tuple(runtime_tool(namespace, tool) for tool in bundle.capabilities)
    return Compatibility(report, grade, namespace, tools)


def refusal_report(code: str, message: str, path_hint: str | None = None) -> SkillCompatibilityReport:
    """The report of an archive or a skill that was refused."""
    return SkillCompatibilityReport(
        compatible=False, rule_version=RULE_VERSION, findings=(error(code, message, path_hint),)
    )


_COLLISIONS = frozenset({"TOOL_SHADOWING", "NAMESPACE_TAKEN"})
_NOT_HERE = frozenset({"CONNECTOR_MISSING", "TOOL_MISSING"})
_LOCAL = frozenset({"NATIVE_PROGRAM", "HOME_PATH", "ONE_SYSTEM"})
GRADING = _COLLISIONS | _NOT_HERE | _LOCAL
"""The findings that the grade follows from."""

_GRADES = {
    PortabilityGrade.DIRECT: "it can be used as it is.",
    PortabilityGrade.ADAPTER_REQUIRED: "it needs tools or connections that are not here yet.",
    PortabilityGrade.LOCAL_ONLY: "it is made for one computer or one operating system.",
    PortabilityGrade.NON_PORTABLE: "it cannot be used here.",
}


def _repairs(bundle: SkillBundle) -> Iterator[SkillCompatibilityFinding]:
    for repair in bundle.skill.repairs:
        change = "" if repair.before == repair.after else f" {_change(repair.before, repair.after)}"
        make = warning if repair.code in _CHANGES_MEANING else info
        yield make(repair.code, f"{repair.field}: {repair.message}{change}", "SKILL.md")


def _change(before: str, after: str) -> str:
    return f"{clipped(before, _MOST_REPAIR_TEXT) or 'Nothing'} → {clipped(after, _MOST_REPAIR_TEXT) or 'nothing'}"


def _names(bundle: SkillBundle, installed: Installed, namespace: str) -> Iterator[SkillCompatibilityFinding]:
    name = bundle.skill.name
    if name in installed.quarantined:
        lift = f"apprentice abilities unquarantine {capability_id_of(name)} --reason WHY"
        yield warning(
            "REPLACES_QUARANTINED",
            f"It would replace {name}, which is quarantined, and is not installed until that is lifted: {lift}",
        )
    elif name in installed.imported:
        yield info("NEW_VERSION", f"Installed, it is the next version of {name}, which you imported before.")
    elif name in installed.skills:
        yield error("NAME_TAKEN", f"A skill called {name} is installed. Remove it first, or rename this one.")
    elif other := shadowed(name, installed.skills):
        yield warning(
            "NAME_CLOSE", f"The installed skill {other} is called almost the same. Rename one of them."
        )
    if namespace in installed.namespaces:
        yield error(
            "NAMESPACE_TAKEN",
            f"The namespace {namespace} is in use. Name another as metadata.assigned_namespace.",
        )
    seen: set[str] = set()
    for tool in bundle.capabilities:
        if other := shadowed(tool, installed.tools | AGENT_TOOLS | seen):
            yield error(
                "TOOL_SHADOWING",
                f"Its tool {tool} could be taken for {other}. It is not installed before the tool is renamed.",
            )
        seen.add(tool)


def _missing(bundle: SkillBundle, installed: Installed) -> Iterator[SkillCompatibilityFinding]:
    """Tools and connections that it names and that are not here."""
    own = set(bundle.capabilities)
    servers: dict[str, None] = {}
    tools: dict[str, None] = {}
    for named in allowed_tools(bundle.skill) or ():
        tool = tool_of(named)
        if tool in installed.tools | AGENT_TOOLS | own or tool == "*":
            continue
        if any(reaches(tool, server) for server in installed.connectors):
            continue
        found = _MCP.fullmatch(tool)
        if found is None:
            tools[tool] = None
        elif (server := found["server"] or found["named"]) not in installed.connectors:
            servers[server] = None
    for hint in portable_frontmatter(bundle.skill).connector_hints:
        if hint not in installed.connectors:
            servers[hint] = None
    for server in servers:
        yield warning(
            "CONNECTOR_MISSING", f"It uses {server}, which is not connected. Connect it before use."
        )
    for tool in tools:
        yield warning(
            "TOOL_MISSING", f"It uses the tool {tool}, which is not here. Add what offers it before use."
        )


def _dependencies(bundle: SkillBundle, installed: Installed) -> Iterator[SkillCompatibilityFinding]:
    for name in portable_frontmatter(bundle.skill).depends_on:
        if name == bundle.skill.name:
            yield error("DEPENDENCY_ON_ITSELF", "It depends on itself. Remove it from depends_on.")
        elif name in installed.skills:
            continue
        elif pack := _pack_of_both(bundle.skill.name, name, installed):
            said = f"It depends on the skill {name}, which is not installed: install the pack {pack}, which has both."
            yield info("DEPENDENCY_IN_PACK", said)
        else:
            yield error("DEPENDENCY_MISSING", f"It depends on the skill {name}. Install that one first.")
    for pack in portable_frontmatter(bundle.skill).support_packs:
        if pack not in installed.support_packs:
            yield error("SUPPORT_PACK_MISSING", f"It needs the support pack {pack}. Add that one first.")


def _pack_of_both(name: str, other: str, installed: Installed) -> str | None:
    return next((pack for pack, names in installed.packs.items() if {name, other} <= names), None)


def _programs(bundle: SkillBundle) -> Iterator[SkillCompatibilityFinding]:
    for file in bundle.files:
        if file.path.casefold().endswith(_PROGRAMS):
            yield warning(
                "NATIVE_PROGRAM",
                "A compiled program runs on one kind of computer, and cannot be read. Ask for its source instead.",
                file.path,
            )


def _executables(bundle: SkillBundle) -> Iterator[SkillCompatibilityFinding]:
    """Installed files can be read and not started: who runs a script names what runs it, which a reviewer can see."""
    marked = [file.path for file in bundle.files if file.executable]
    if marked:
        more = f" and {len(marked) - 5} more" if len(marked) > 5 else ""
        yield info(
            "EXECUTABLE_BIT_CLEARED",
            f"Marked as executable, and installed without the mark: {', '.join(marked[:5])}{more}. A script is"
            " started by what runs it, as in: python scripts/name.py.",
        )


def _needs(bundle: SkillBundle) -> Iterator[SkillCompatibilityFinding]:
    if programs := host_needs(bundle.skill, "bins"):
        yield info(
            "NEEDS_PROGRAMS", f"It needs these programs: {', '.join(programs[:20])}. Install them before use."
        )
    if variables := host_needs(bundle.skill, "env"):
        named = ", ".join(variables[:20])
        yield warning(
            "NEEDS_VARIABLES", f"It reads these settings of the environment: {named}. Look what they hold."
        )
    if systems := host_needs(bundle.skill, "os"):
        make, code = (warning, "ONE_SYSTEM") if len(systems) == 1 else (info, "SOME_SYSTEMS")
        yield make(code, f"It is made for {', '.join(systems[:5])}. Elsewhere it may not work.")


def _grade(
    bundle: SkillBundle, findings: Iterable[SkillCompatibilityFinding], requires_adapter: bool
) -> PortabilityGrade:
    codes = {finding.code for finding in findings}
    found = PortabilityGrade.ADAPTER_REQUIRED if requires_adapter else PortabilityGrade.DIRECT
    if codes & _LOCAL:
        found = PortabilityGrade.LOCAL_ONLY
    # A skill knows best that it is less portable than it looks; that it is more is not believed.
    return max(found, portable_frontmatter(bundle.skill).portability_grade, key=list(PortabilityGrade).index)


def _pack_of(bundle: SkillBundle) -> str | None:
    said = bundle.skill.metadata.get("skill_pack", bundle.skill.metadata.get("skill-pack", ""))
    return said if re.fullmatch(r"[a-z0-9-]{2,64}", said) else None


def _ordered(findings: Iterable[SkillCompatibilityFinding]) -> tuple[SkillCompatibilityFinding, ...]:
    order = [FindingSeverity.ERROR, FindingSeverity.WARNING, FindingSeverity.INFO]
    found = sorted(findings, key=lambda finding: order.index(finding.severity))
    if len(found) <= _MOST_FINDINGS:
        return tuple(found)
    more = len(found) - _MOST_FINDINGS + 1
    return (
        *found[: _MOST_FINDINGS - 1],
        info("MORE_FINDINGS", f"{more} more findings of no greater weight."),
    )
