"""Portability grade of a drafted skill, by the rules for imported ones (DOC3 §0.2C, §1.1O).

A lesson's draft names its tool servers in its capability manifest and its texts, an import's in ``allowed-tools``.
"""

import json
from collections.abc import Iterable, Iterator

from contracts.imports.compatibility import SkillCompatibilityFinding
from contracts.imports.portable_frontmatter import PortabilityGrade
from contracts.learning.proposal import SkillDraft
from domain.imports.bundles import BundleFile, SkillBundle
from domain.imports.compatibility import GRADING, Installed, compatibility_report
from domain.imports.findings import warning
from domain.imports.skill_problems import SkillRefused
from domain.imports.skill_reading import read_skill
from domain.learning.drafting.bundle import SERVER_CAP


def draft_portability(
    draft: SkillDraft, installed: Installed
) -> tuple[PortabilityGrade, tuple[SkillCompatibilityFinding, ...]]:
    """The grade, and the findings that it follows from; a draft that cannot be read as a skill is not portable."""
    texts = {file.path: file.content for file in draft.files}
    try:
        skill = read_skill(texts["SKILL.md"].encode(), draft.slug)
    except SkillRefused as problem:
        return PortabilityGrade.NON_PORTABLE, (warning(problem.code, problem.message, "SKILL.md"),)
    files = (
        *(BundleFile(path, len(text.encode()), "", executable=False) for path, text in texts.items()),
        *(BundleFile(one.path, one.size_bytes, one.sha256, executable=False) for one in draft.packed),
    )
    servers = _servers_missing(texts.get(f"capabilities/{draft.capability_id}.json"), installed.connectors)
    found = compatibility_report(SkillBundle("", "SKILL.md", skill, files), installed, servers)
    return found.grade, tuple(one for one in found.report.findings if one.code in GRADING)


def _servers_missing(manifest: str | None, connectors: Iterable[str]) -> Iterator[SkillCompatibilityFinding]:
    caps = json.loads(manifest).get("required_runtime_caps", ()) if manifest else ()
    named = (cap.removeprefix(SERVER_CAP) for cap in caps if cap.startswith(SERVER_CAP))
    for server in named:
        if server not in connectors:
            yield warning(
                "CONNECTOR_MISSING", f"It uses {server}, which is not connected. Connect it before use."
            )
