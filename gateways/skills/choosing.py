"""Which folder answers to the name of a skill, and which learned ability where no skill does (X-30, X-33, X-35)."""

from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from contracts.skills.learned import LearnedAbility
from contracts.skills.manifest import SkillManifest
from domain.skills.entries import NO_SUCH_SKILL
from domain.skills.learned.scripts import learned_manifest
from domain.skills.policy import confined
from domain.skills.versions import resolve
from stores.platform.database import Database
from stores.skills.catalog import SkillCatalog
from stores.skills.learned_scripts import LearnedScripts


@dataclass(frozen=True)
class Chosen:
    """A skill that is to be run: its folder and its manifest, and what to say about its version."""

    record: SkillRecord
    manifest: SkillManifest
    warnings: tuple[str, ...] = ()
    learned: LearnedAbility | None = None
    """The ability whose script is run; none where a skill is."""

    is_approved: bool = True


class SkillChoice:
    """Read-only. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._catalog = SkillCatalog(database)
        self._scripts = LearnedScripts(database)

    def skill(self, name: str, version: str | None) -> Chosen:
        """The skill that answers to a name: of a folder or of a function, in the version that is asked for.

        Raises:
            Refusal: ``SKILL_NOT_FOUND``, ``SKILL_QUARANTINED``, ``VERSION_RETIRED``.
        """
        found = self._catalog.named(name)
        ready = [one for one in found if one.state is SkillState.READY and one.manifest is not None]
        if not ready:
            raise _not_ready(name, found)
        record, warnings = resolve(ready, version, datetime.now(UTC))
        assert record.manifest is not None, "only records with a manifest are ready"
        return Chosen(record, record.manifest, warnings)

    def named(self, name: str, version: str | None, user: str) -> Chosen:
        """The skill of a name, or else the scripts of the learned ability of that name or id.

        Raises:
            Refusal: as ``skill`` and ``LearnedScripts.offered``.
        """
        try:
            return self.skill(name, version)
        except Refusal as refusal:
            offered = self._scripts.offered(name, user) if refusal.code is ErrorCode.SKILL_NOT_FOUND else None
            if offered is None:
                raise
        manifest = learned_manifest(offered.slug, offered.ability.version, offered.scripts)
        record = SkillRecord(
            root=SkillRoot.WORKSPACE,
            name=offered.slug,
            state=SkillState.READY,
            digest=offered.digest,
            path=f"skills/{offered.slug}/scripts",
            manifest=manifest,
            seen_at=datetime.now(UTC),
        )
        return Chosen(record, manifest, learned=offered.ability)


def unapproved(record: SkillRecord) -> Chosen:
    """A folder that nobody has approved, to be tried out: with nothing that its manifest asks for (O-3)."""
    assert record.manifest is not None, "what was inspected has a manifest"
    return Chosen(record, confined(record.manifest), is_approved=False)


def _not_ready(name: str, found: tuple[SkillRecord, ...]) -> Refusal:
    states = {record.state: record for record in found}
    if SkillState.QUARANTINED in states:
        record = states[SkillState.QUARANTINED]
        return Refusal(
            ErrorCode.SKILL_QUARANTINED,
            f"{record.name} is quarantined: {record.reason or 'it failed too often'}",
        )
    if SkillState.AWAITING_APPROVAL in states:
        hint = f"{name[:80]} awaits approval: apprentice skills approve {name[:80]}"
        return Refusal(ErrorCode.SKILL_NOT_FOUND, hint)
    if SkillState.MALFORMED in states:
        reason = states[SkillState.MALFORMED].reason or "see GET /api/skills"
        return Refusal(ErrorCode.SKILL_NOT_FOUND, f"{name[:80]} is malformed: {reason}"[:240])
    return Refusal(ErrorCode.SKILL_NOT_FOUND, NO_SUCH_SKILL)
