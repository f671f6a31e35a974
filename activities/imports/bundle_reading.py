"""Reads an uploaded archive: unpacks it into a folder of its own, finds the skill in it, and reports on it."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir

from activities.imports.import_activities import ScannedBundle
from contracts.base import clipped
from contracts.imports.compatibility import FindingSeverity, SkillCompatibilityFinding
from contracts.imports.import_work import SkillImport
from contracts.imports.scanning import ScanFinding
from domain.imports.archive_problems import ArchiveRefused
from domain.imports.bundles import Bundles, SkillBundle
from domain.imports.compatibility import Installed, compatibility_report, refusal_report
from domain.imports.portable import portable_frontmatter
from domain.imports.scanner.scan import scan_files
from domain.imports.scanner.scanned_file import HEAD_BYTES, ScannedFile
from domain.imports.scanner.verdicts import blocks, compatibility_finding, held_in_report
from domain.imports.skill_problems import SkillRefused
from host.locked_folders import temporary_folder
from skills.imports.archive_reader import unpack
from skills.imports.bundle_reader import materialise, read_bundles

_PREFIX = "apprentice-import-"


class BundleReader:
    """Reads archives; the folder that one is unpacked into is gone afterwards, or when the next one is read."""

    def __init__(self, installed: Callable[[str], Installed]) -> None:
        """``installed`` are the names that an owner has here already."""
        self._installed = installed

    def __call__(self, present: SkillImport, archive: bytes) -> ScannedBundle:
        """What the archive holds: the skill of the folder that was named, else the shallowest.

        The report names every other skill with its reason.
        """
        with temporary_folder(Path(gettempdir()), _PREFIX, shared=True) as folder:
            packed, into = folder / "bundle.zip", folder / "bundle"
            packed.write_bytes(archive)
            try:
                bundles = read_bundles(into, unpack(packed, into))
            except ArchiveRefused as refused:
                return _refused(refused.code, refused.message, refused.path_hint)
            except SkillRefused as refused:
                return _refused(refused.code, refused.message, "SKILL.md")
            if not bundles.skills:
                first = bundles.refused[0]
                return _refused(first.code, first.message, first.path_hint)
            chosen = _chosen(bundles, present.skill_folder)
            if not isinstance(chosen, SkillBundle):
                return chosen
            scanned = scan_files(_scanned_files(into, chosen))
            also = (*bundles.findings, *_others(bundles, chosen), *map(_scan_finding, scanned))
            report = compatibility_report(chosen, self._installed(present.owner_user_id), also).report
            made = materialise(into, chosen, folder / "made")
            files = {
                path.relative_to(made).as_posix(): path.read_bytes()
                for path in sorted(made.rglob("*"))
                if path.is_file()
            }
            return ScannedBundle(
                report,
                clipped(chosen.skill.name, 80),
                files,
                portable_frontmatter(chosen.skill),
                held=held_in_report(scanned, report),
            )


def _scanned_files(root: Path, chosen: SkillBundle) -> Iterator[ScannedFile]:
    """The files of the skill as they were packed, the smallest first: most are within the scanner's limit so."""
    for file in sorted(chosen.files, key=lambda one: (one.size, one.path)):
        content = (root / chosen.folder / file.path).read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = None
        yield ScannedFile(file.path, text, file.size, file.executable, content[:HEAD_BYTES])


def _scan_finding(found: ScanFinding) -> SkillCompatibilityFinding:
    """A finding of the scanner; one that does not surely block is a warning, which who approves goes on in spite of."""
    finding = compatibility_finding(found)
    if finding.severity is FindingSeverity.ERROR and not blocks(found):
        return finding.changed(severity=FindingSeverity.WARNING)
    return finding


def _chosen(bundles: Bundles, folder: str | None) -> SkillBundle | ScannedBundle:
    """The skill that is imported, or the refusal of a folder that holds none."""
    if folder is None:
        return bundles.skills[0]
    wanted = folder.strip("/")
    for one in bundles.skills:
        if one.folder == wanted:
            return one
    for other in bundles.refused:
        if other.folder == wanted:
            return _refused(other.code, other.message, other.path_hint)
    held = ", ".join(one.folder or "the top" for one in bundles.skills[:10])
    return _refused(
        "SKILL_FOLDER_MISSING", f"No skill is in the folder that was named; skills are in: {held}.", None
    )


def _others(bundles: Bundles, chosen: SkillBundle) -> Iterator[SkillCompatibilityFinding]:
    """The skills of the archive that are not imported, each with its reason."""
    for other in bundles.skills:
        if other is chosen:
            continue
        said = (
            f"The archive holds the skill {other.skill.name} too; to import it, scan the upload again with its folder: "
            f"`apprentice import scan UPLOAD --skill {shlex.quote(other.folder)}` (`skill_folder` of the route)."
        )
        yield _info("OTHER_SKILL_NOT_IMPORTED", said, other.folder)
    for one in bundles.refused:
        said = f"Another skill of the archive cannot be read ({one.code}): {one.message}"
        yield _info("OTHER_SKILL_REFUSED", said, one.path_hint)


def _refused(code: str, message: str, path: str | None) -> ScannedBundle:
    report = refusal_report(str(code), message, path)
    return ScannedBundle(report, error_code=str(code), error=clipped(message, 240))


def _info(code: str, message: str, path: str) -> SkillCompatibilityFinding:
    return SkillCompatibilityFinding(
        code=code,
        severity=FindingSeverity.INFO,
        message=clipped(message, 1000),
        path_hint=clipped(path, 240) or None,
    )
