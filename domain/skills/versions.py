"""Versions of a skill: which are served, which one a caller means, how long an old one stays (CH-65, CH-66, X-30)."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import SkillRecord
from contracts.skills.manifest import SkillManifest

MAJORS_SERVED = 2
"""How many majors of a skill are served, each in its newest version (002 L743)."""

NOTICE = timedelta(days=30)
"""How long a deprecated version is still served (002 L744)."""

_WANTED = re.compile(r"(?:.*@)?v?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?")

Version = tuple[int, int, int]


def version_of(manifest: SkillManifest) -> Version:
    """A manifest's version as numbers that compare."""
    major, minor, patch = (int(part) for part in manifest.version.split("."))
    return major, minor, patch


def served(records: Sequence[SkillRecord], now: datetime) -> tuple[SkillRecord, ...]:
    """The versions that are served, the newest first: the last two majors, and none whose notice is over."""
    newest: dict[int, SkillRecord] = {}
    for record in records:
        manifest = record.manifest
        if manifest is None or _is_over(manifest, now):
            continue
        known = newest.get(version_of(manifest)[0])
        if known is None or known.manifest is None or version_of(known.manifest) < version_of(manifest):
            newest[version_of(manifest)[0]] = record
    majors = sorted(newest, reverse=True)[:MAJORS_SERVED]
    return tuple(newest[major] for major in majors)


def resolve(
    records: Sequence[SkillRecord], wanted: str | None, now: datetime
) -> tuple[SkillRecord, tuple[str, ...]]:
    """The version that a caller means, and the warnings that its answers carry.

    ``wanted`` is ``1.2.0``, ``v1``, ``1.2`` or ``skill@v1.2``; none is the newest. A major that is served answers to
    each of its older minors.

    Raises:
        Refusal: ``VERSION_RETIRED``, which names the versions that are served; ``VALIDATION_FAILED``.
    """
    offered = served(records, now)
    if not offered:
        raise _retired(wanted, offered)
    if wanted is None:
        return offered[0], _warnings(offered[0])
    found = _WANTED.fullmatch(wanted)
    if found is None:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "A version is written as 1.2.0, v1 or skill@v1.2.",
            fields=["version"],
        )
    major, minor, patch = (int(part) if part is not None else None for part in found.groups())
    for record in offered:
        assert record.manifest is not None, "only records with a manifest are served"
        version = version_of(record.manifest)
        asked = (major, minor or 0, patch or 0)
        if version[0] == major and asked <= version:
            return record, _warnings(record)
    raise _retired(wanted, offered)


def _is_over(manifest: SkillManifest, now: datetime) -> bool:
    return manifest.deprecated_since is not None and now > manifest.deprecated_since + NOTICE


def _warnings(record: SkillRecord) -> tuple[str, ...]:
    manifest = record.manifest
    if manifest is None or manifest.deprecated_since is None:
        return ()
    last = manifest.deprecated_since + NOTICE
    return (f"{manifest.name} {manifest.version} is deprecated and served until {last:%Y-%m-%d}.",)


def _retired(wanted: str | None, offered: Sequence[SkillRecord]) -> Refusal:
    versions = [one.manifest.version for one in offered if one.manifest is not None]
    names = ", ".join(versions) or "none"
    return Refusal(
        ErrorCode.VERSION_RETIRED,
        f"Version {wanted or 'any'} is not served; {names} {'is' if len(versions) == 1 else 'are'}."[:240],
        served=versions,
    )


def breaks_without_major(before: SkillManifest, after: SkillManifest) -> str | None:
    """Why a newer manifest may not follow an older one under the same major: its required inputs changed (002 L741)."""
    if version_of(before)[0] != version_of(after)[0]:
        return None
    was, is_now = (set(one.input_schema.get("required") or ()) for one in (before, after))
    if was == is_now:
        return None
    changed = ", ".join(sorted(was ^ is_now))
    return f"required inputs changed ({changed}) without a new major: {before.version} → {after.version}"
