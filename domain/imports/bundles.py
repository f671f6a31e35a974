"""What an archive of skills holds, as it is shown before anything is installed."""

from dataclasses import dataclass

from contracts.imports.compatibility import SkillCompatibilityFinding
from domain.imports.skill_reading import ReadSkill


@dataclass(frozen=True)
class BundleFile:
    """One file of a skill, by its path inside the skill's folder."""

    path: str
    size: int
    sha256: str
    executable: bool


@dataclass(frozen=True)
class SkillBundle:
    """A skill that can be imported.

    ``folder`` is its path below the unpacked archive, empty at the top; ``skill_md`` the name of its SKILL.md;
    ``capabilities`` are the names of the tools that it brings.
    """

    folder: str
    skill_md: str
    skill: ReadSkill
    files: tuple[BundleFile, ...]
    capabilities: tuple[str, ...] = ()
    findings: tuple[SkillCompatibilityFinding, ...] = ()


@dataclass(frozen=True)
class RefusedSkill:
    """A folder with a SKILL.md that cannot be imported, and why."""

    folder: str
    code: str
    message: str
    path_hint: str


@dataclass(frozen=True)
class Bundles:
    """All skills of an archive: those that can be imported, and those that cannot, each with its reason."""

    skills: tuple[SkillBundle, ...]
    refused: tuple[RefusedSkill, ...] = ()
    findings: tuple[SkillCompatibilityFinding, ...] = ()
