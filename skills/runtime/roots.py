"""Scans the three roots of skills, and says of each folder how it stands (AM-02…AM-09, X-3, X-4).

Of a folder that nobody has approved nothing but its name is looked at: it is listed by its parent, never opened.
"""

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from contracts.skills.catalog import SkillAllowlist, SkillRecord, SkillRoot, SkillState
from contracts.skills.manifest import RESERVED_FUNCTIONS, SkillManifest
from skills.runtime.folder_digest import FolderContent, MalformedFolder, read_folder
from skills.runtime.handler_check import check_javascript_handlers
from skills.runtime.skill_reading import read_skill

MAX_FOLDERS = 500
"""How many folders of one root are looked at; the others are named in the log."""

NOT_APPROVED = "nobody has approved it"
CHANGED = "it has changed since it was approved"

_NAME_LENGTH, _REASON_LENGTH, _PATH_LENGTH = 80, 1_000, 1_000
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SkillRoots:
    """The folders that hold skills, a folder each; one that is not there holds none."""

    workspace: Path
    managed: Path
    bundled: Path

    def scan(self, allowlist: SkillAllowlist, now: datetime) -> tuple[SkillRecord, ...]:
        """Every folder of every root as it stands; a name that is taken is refused to whoever was approved later."""
        found: list[SkillRecord] = []
        for root, folder in self._all():
            for name in _folders(folder):
                digests = _approved_digests(allowlist, root, name)
                if digests is None:
                    found.append(
                        _record(root, folder / name, SkillState.AWAITING_APPROVAL, now, reason=NOT_APPROVED)
                    )
                else:
                    found.append(_approved(root, folder / name, digests, now))
        return _without_collisions(found, allowlist)

    def inspect(self, name: str, root: SkillRoot | None, now: datetime) -> SkillRecord | None:
        """One folder, approved or not, read because a person asks: what would be approved, or why it cannot be.

        Without ``root`` the first root that has the folder is taken. None where there is none.
        """
        for each, folder in self._all():
            if root in (None, each) and name in _folders(folder):
                return _read(each, folder / name, now)
        return None

    def _all(self) -> tuple[tuple[SkillRoot, Path], ...]:
        return (
            (SkillRoot.WORKSPACE, self.workspace),
            (SkillRoot.MANAGED, self.managed),
            (SkillRoot.BUNDLED, self.bundled),
        )


def _folders(root: Path) -> list[str]:
    """The names of a root's folders, from the root's own listing; hidden ones and files are no skills."""
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if _may_be_skill(entry))
    except OSError:
        return []
    if len(names) > MAX_FOLDERS:
        _logger.warning("of %d folders in %s, %d are looked at", len(names), root, MAX_FOLDERS)
    return names[:MAX_FOLDERS]


def _may_be_skill(entry: "os.DirEntry[str]") -> bool:
    if entry.name.startswith((".", "__")):
        return False
    # A link to a folder is named as well: once approved it is refused with that reason.
    return entry.is_dir(follow_symlinks=False) or entry.is_symlink()


def _approved_digests(allowlist: SkillAllowlist, root: SkillRoot, name: str) -> frozenset[str] | None:
    """The contents of a folder that are approved; empty for any content, None where none is."""
    if root is SkillRoot.BUNDLED and (allowlist.approvedSkills is None or name in allowlist.approvedSkills):
        return frozenset()
    digests = frozenset(one.digest for one in allowlist.approvals if (one.root, one.name) == (root, name))
    return digests or None


def _approved(root: SkillRoot, folder: Path, digests: frozenset[str], now: datetime) -> SkillRecord:
    record = _read(root, folder, now)
    if digests and record.digest is not None and record.digest not in digests:
        return _record(root, folder, SkillState.AWAITING_APPROVAL, now, reason=CHANGED, digest=record.digest)
    return record


def _read(root: SkillRoot, folder: Path, now: datetime) -> SkillRecord:
    digest: str | None = None
    try:
        content = read_folder(folder)
        digest = content.digest
        manifest, documentation = _understood(folder.name, content)
    except MalformedFolder as error:
        return _record(root, folder, SkillState.MALFORMED, now, reason=str(error), digest=digest)
    except Exception as error:
        # Whatever a folder holds, the others are still found (AM-08).
        _logger.exception(
            "a skill could not be read", extra={"skill": _shown(folder.name), "root": root.value}
        )
        reason = f"it could not be read ({type(error).__name__})"
        return _record(root, folder, SkillState.MALFORMED, now, reason=reason, digest=digest)
    return SkillRecord(
        root=root,
        name=manifest.name,
        state=SkillState.READY,
        digest=digest,
        path=str(folder),
        manifest=manifest,
        documentation=documentation,
        seen_at=now,
    )


def _understood(name: str, content: FolderContent) -> tuple[SkillManifest, str]:
    manifest, documentation = read_skill(name, content)
    major = manifest.version.split(".")[0]
    if name not in (manifest.name, f"{manifest.name}@{major}"):
        raise MalformedFolder(
            f"it calls itself {manifest.name} {manifest.version}; its folder has to be called {manifest.name},"
            f" or {manifest.name}@{major} beside a newer version"
        )
    if manifest.function_name in RESERVED_FUNCTIONS:
        raise MalformedFolder(f"the function name {manifest.function_name} is reserved")
    check_javascript_handlers(manifest, content)
    return manifest, documentation


def _record(
    root: SkillRoot, folder: Path, state: SkillState, now: datetime, *, reason: str, digest: str | None = None
) -> SkillRecord:
    return SkillRecord(
        root=root,
        name=_shown(folder.name),
        state=state,
        reason=reason[:_REASON_LENGTH],
        digest=digest,
        path=_printable(str(folder))[-_PATH_LENGTH:],
        seen_at=now,
    )


def _shown(name: str) -> str:
    """A folder's name as it may be shown and stored."""
    return _printable(name)[:_NAME_LENGTH]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _without_collisions(found: Iterable[SkillRecord], allowlist: SkillAllowlist) -> tuple[SkillRecord, ...]:
    """Refuses a ready skill that answers to a name of one that was approved before it, whatever its root (X-3)."""
    records = list(found)
    ready = [one for one in records if one.state is SkillState.READY]
    taken: dict[str, SkillRecord] = {}
    refused: dict[int, SkillRecord] = {}
    for record in sorted(ready, key=lambda one: _since(one, allowlist)):
        names = _names(record)
        other = next(
            (taken[name] for name in names if name in taken and not _versions(taken[name], record)), None
        )
        if other is None:
            taken |= dict.fromkeys(names, record)
        else:
            reason = f"its name is taken by the approved skill {other.name} in the root {other.root.value}"
            refused[id(record)] = _record(
                record.root,
                Path(record.path),
                SkillState.MALFORMED,
                record.seen_at,
                reason=reason,
                digest=record.digest,
            )
    return tuple(refused.get(id(one), one) for one in records)


def _since(record: SkillRecord, allowlist: SkillAllowlist) -> tuple[bool, float, str]:
    """Since when a record is approved: what ships with the product comes first."""
    times = [
        one.approved_at.timestamp()
        for one in allowlist.approvals
        if (one.root, one.digest) == (record.root, record.digest)
    ]
    return record.root is not SkillRoot.BUNDLED, min(times, default=0.0), record.path


def _names(record: SkillRecord) -> set[str]:
    """What a record is called by: hyphens and underscores are one (X-33)."""
    manifest = record.manifest
    assert manifest is not None
    return {manifest.name.replace("-", "_"), manifest.function_name}


def _versions(one: SkillRecord, other: SkillRecord) -> bool:
    """Whether two records are versions of one skill, side by side."""
    first, second = one.manifest, other.manifest
    assert first is not None
    assert second is not None
    same = (one.root, first.name, first.function_name) == (other.root, second.name, second.function_name)
    return same and first.version.split(".")[0] != second.version.split(".")[0]
