"""Reads a skill's manifest and documentation from the content of its folder."""

from contracts.skills.manifest import SkillManifest
from domain.skills.manifest_reading import MalformedSkill, read_manifest
from skills.runtime.folder_digest import FolderContent, MalformedFolder

MANIFEST, DOCUMENTATION, SCHEMAS = "manifest.json", "SKILL.md", "schemas/"
_DOCUMENTATION_LENGTH = 65_536


def read_skill(folder_name: str, content: FolderContent) -> tuple[SkillManifest, str]:
    """The manifest of a folder, and the text of its SKILL.md.

    Raises:
        MalformedFolder: it has none, or one that says something wrong; with the path of the field.
    """
    documentation = content.text(DOCUMENTATION)
    if documentation is None:
        raise MalformedFolder(f"it has no {DOCUMENTATION}")
    files = [file.path for file in content.files]
    schemas = {path: content.text(path) or "" for path in files if path.startswith(SCHEMAS)}
    try:
        manifest = read_manifest(folder_name, documentation, content.text(MANIFEST), files, schemas)
    except MalformedSkill as error:
        raise MalformedFolder(error.reason) from error
    return manifest, documentation[:_DOCUMENTATION_LENGTH]
