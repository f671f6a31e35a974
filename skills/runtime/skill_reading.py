"""Reads a skill's manifest and documentation from the content of its folder."""

from pydantic import ValidationError

from contracts.skills.manifest import SkillManifest
from skills.runtime.folder_digest import FolderContent, MalformedFolder

MANIFEST, DOCUMENTATION = "manifest.json", "SKILL.md"
_DOCUMENTATION_LENGTH = 65_536


def read_skill(folder_name: str, content: FolderContent) -> tuple[SkillManifest, str]:
    """The manifest of a folder, and the text of its SKILL.md.

    Raises:
        MalformedFolder: it has none, or one that says something wrong; with the path of the field.
    """
    documentation = content.text(DOCUMENTATION) or ""
    text = content.text(MANIFEST)
    if text is None:
        raise MalformedFolder(f"it has no {MANIFEST}")
    try:
        manifest = SkillManifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise MalformedFolder(f"{MANIFEST}: {where}: {first['msg']}") from error
    return manifest, documentation[:_DOCUMENTATION_LENGTH]
