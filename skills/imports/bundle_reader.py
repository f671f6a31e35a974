"""Finds the skills in an unpacked archive: each folder with a SKILL.md, the shallowest first.

A SKILL.md inside another skill's folder is a file of that skill (a template, an example), and no skill. Nothing is
written; ``materialise`` makes the folder that is installed.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from contracts.imports.compatibility import FindingSeverity, SkillCompatibilityFinding
from domain.imports.bundles import BundleFile, Bundles, RefusedSkill, SkillBundle
from domain.imports.skill_problems import Repair, SkillCode, SkillRefused
from domain.imports.skill_reading import read_skill
from domain.imports.specification import MOST_SKILL_MD_BYTES
from domain.platform.strict_json import NotStrictJson, read_json
from skills.imports.archive_reader import UnpackedArchive, UnpackedFile

MOST_SKILLS = 200
"""The most skills that are read from one archive."""

_MOST_CAPABILITY_BYTES, _MOST_CAPABILITY_DEPTH, _MOST_CAPABILITIES = 65_536, 16, 50
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def read_bundles(root: Path, unpacked: UnpackedArchive) -> Bundles:
    """The skills in the folder ``root`` that ``unpack`` filled; one that cannot be read does not stop the others.

    Raises:
        SkillRefused: ``SKILL_MD_MISSING``, there is no SKILL.md at all, or ``TOO_MANY_SKILLS``.
        OSError: a file cannot be read.
    """
    places = _places(unpacked.files)
    if not places:
        raise SkillRefused(
            "SKILL_MD_MISSING", "the archive holds no SKILL.md; pack the folder of a skill, with its SKILL.md"
        )
    if len(places) > MOST_SKILLS:
        raise SkillRefused("TOO_MANY_SKILLS", f"the archive holds more than {MOST_SKILLS} skills; pack fewer")
    skills: list[SkillBundle] = []
    refused: list[RefusedSkill] = []
    for folder, path in places.items():
        try:
            skills.append(_bundle(root, folder, path, unpacked.files))
        except SkillRefused as problem:
            line = f", line {problem.line}" if problem.line is not None else ""
            refused.append(RefusedSkill(folder, problem.code, problem.message, f"{path}{line}"[:240]))
    return Bundles(tuple(skills), tuple(refused), (*unpacked.findings, *_outside(places, unpacked.files)))


def materialise(root: Path, bundle: SkillBundle, into: Path) -> Path:
    """Writes a skill as it conforms to ``into/<name>``, with its repairs, and returns that folder.

    Raises:
        FileExistsError: there is such a folder already.
        OSError: it cannot be written.
    """
    target = into / bundle.skill.name
    target.mkdir(parents=True)
    for file in bundle.files:
        place = target / ("SKILL.md" if file.path == bundle.skill_md else file.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.path == bundle.skill_md and bundle.skill.text != bundle.skill.original:
            place.write_text(bundle.skill.text, encoding="utf-8", newline="\n")
        else:
            place.write_bytes(_content(root, _joined(bundle.folder, file.path), None))
        place.chmod(0o644)
    return target


def _places(files: Iterable[UnpackedFile]) -> dict[str, str]:
    """The folders of skills with the path of their SKILL.md, the shallowest first."""
    found = [file.path for file in files if file.path.rpartition("/")[2].casefold() == "skill.md"]
    places: dict[str, str] = {}
    for path in sorted(found, key=lambda one: (one.count("/"), one)):
        folder = path.rpartition("/")[0]
        if not any(folder == place or _is_below(folder, place) for place in places):
            places[folder] = path
    return places


def _is_below(folder: str, place: str) -> bool:
    return folder.startswith(f"{place}/") if place else True


def _bundle(root: Path, folder: str, path: str, files: tuple[UnpackedFile, ...]) -> SkillBundle:
    skill = read_skill(_content(root, path, MOST_SKILL_MD_BYTES + 1), folder.rpartition("/")[2] or None)
    name = path.rpartition("/")[2]
    if name != "SKILL.md":
        message = "The file of a skill is called SKILL.md."
        skill = skill.with_repair(Repair(SkillCode.FILE_NAME, "file", message, name, "SKILL.md"))
    prefix = f"{folder}/" if folder else ""
    own = tuple(
        BundleFile(file.path.removeprefix(prefix), file.size, file.sha256, file.executable)
        for file in files
        if file.path.startswith(prefix)
    )
    capabilities, findings = _capabilities(root, folder, own)
    return SkillBundle(folder, name, skill, own, capabilities, findings)


def _capabilities(
    root: Path, folder: str, files: tuple[BundleFile, ...]
) -> tuple[tuple[str, ...], tuple[SkillCompatibilityFinding, ...]]:
    """The names of the tools that ``capabilities/*.json`` define (DOC3 lines 4781-4791)."""
    names: list[str] = []
    findings: list[SkillCompatibilityFinding] = []
    paths = [file.path for file in files if _is_capability(file.path)]
    for path in paths[:_MOST_CAPABILITIES]:
        try:
            text = _content(root, _joined(folder, path), _MOST_CAPABILITY_BYTES + 1).decode()
            names += _names_in(read_json(text, _MOST_CAPABILITY_BYTES, _MOST_CAPABILITY_DEPTH))
        except (NotStrictJson, UnicodeDecodeError, json.JSONDecodeError):
            findings.append(
                SkillCompatibilityFinding(
                    code="CAPABILITY_UNREADABLE",
                    severity=FindingSeverity.ERROR,
                    message="The description of a tool is no JSON within its limits; correct or remove the file.",
                    path_hint=path[:240],
                )
            )
    return tuple(dict.fromkeys(names)), tuple(findings)


def _is_capability(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == "capabilities" and name.casefold().endswith(".json")


def _names_in(found: object) -> Iterator[str]:
    entries: list[object] = [found]
    if isinstance(found, list):
        entries = cast("list[object]", found)
    for entry in entries:
        if isinstance(entry, dict):
            fields = cast("dict[str, object]", entry)
            name = next(
                (fields[key] for key in ("name", "tool", "tool_name", "capability_id") if key in fields), ""
            )
            if isinstance(name, str) and name:
                yield name[:120]


def _outside(places: dict[str, str], files: Iterable[UnpackedFile]) -> Iterator[SkillCompatibilityFinding]:
    other = [file.path for file in files if not any(_is_below(file.path, place) for place in places)]
    if other:
        yield SkillCompatibilityFinding(
            code="FILES_OUTSIDE_SKILLS",
            severity=FindingSeverity.INFO,
            message=f"{len(other)} files of the archive belong to no skill and are not imported.",
            path_hint=other[0][:240],
        )


def _joined(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _content(root: Path, path: str, most: int | None) -> bytes:
    """The bytes of a file, opened below the folder without following a link."""
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        *folders, name = path.split("/")
        for part in folders:
            below = os.open(part, _READ | os.O_DIRECTORY, dir_fd=place)
            os.close(place)
            place = below
        with os.fdopen(os.open(name, _READ, dir_fd=place), "rb") as file:
            return file.read() if most is None else file.read(most)
    finally:
        os.close(place)
