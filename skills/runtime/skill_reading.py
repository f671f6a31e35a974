"""Reads a skill's manifest and documentation from the content of its folder."""

from contracts.skills.manifest import SkillManifest
from domain.skills.manifest_reading import MalformedSkill, read_manifest
from skills.runtime.folder_digest import FolderContent, MalformedFolder
from skills.runtime.handler_check import check_python_handlers

MANIFEST, DOCUMENTATION, SCHEMAS = "manifest.json", "SKILL.md", "schemas/"
_DOCUMENTATION_LENGTH = 65_536

_MOST_KEPT = 128
"""How many folders are remembered as they were read: each takes at most some hundred KB."""

_kept: dict[tuple[str, str], tuple[SkillManifest, str]] = {}
"""What was read, by the folder's name and digest, from which it follows: checking schemas takes most of a scan."""


def read_skill(folder_name: str, content: FolderContent) -> tuple[SkillManifest, str]:
    """The manifest of a folder, and the text of its SKILL.md; read once a process while its content is the same.

    Raises:
        MalformedFolder: it has none, or one that says something wrong, with the path of the field; or a handler in
            Python that it names is not there or cannot be called.
    """
    key = (folder_name, content.digest)
    found = _kept.get(key)
    if found is None:
        found = _read(folder_name, content)
        if len(_kept) >= _MOST_KEPT:
            # Two threads may do this at once; either takes away what can be read again.
            _kept.pop(next(iter(_kept.copy()), key), None)
        _kept[key] = found
    return found


def _read(folder_name: str, content: FolderContent) -> tuple[SkillManifest, str]:
    """The same, always read.

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
    check_python_handlers(manifest, content)
    return manifest, documentation[:_DOCUMENTATION_LENGTH]
