"""Scripts of learned abilities that a user may have run, the folders they work on, and what came of them (X-35)."""

from dataclasses import dataclass

from sqlalchemy import or_

from contracts.abilities.availability import AbilityState
from contracts.abilities.capability_manifest import HealthStatus
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.skills.learned import LearnedAbility
from domain.abilities.availability import state_of
from domain.learning.proof.trial import scripts_of
from domain.skills.filling import PreconditionUnmet
from stores.abilities.ability_reads import visible
from stores.abilities.ability_rows import ABILITIES, own_health, present_version
from stores.learning.drafts import DraftStore
from stores.learning.trials import TrialStore
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database
from stores.platform.tables import abilities


@dataclass(frozen=True)
class OfferedScripts:
    """The scripts of an ability in its present version: name within ``scripts/`` → text."""

    ability: LearnedAbility
    slug: str
    scripts: dict[str, str]

    @property
    def digest(self) -> str:
        """Of the scripts: a call is bound to those that a person was asked about."""
        return digest_of(canonical_json(self.scripts))


class LearnedScripts:
    """Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._drafts = DraftStore(database)
        self.trials = TrialStore(database)
        """Keeps the folders that are handed in and those that result, for a day."""

    def offered(self, name: str, user: str) -> OfferedScripts | None:
        """The scripts of the ability of this name or id; none where the user sees no such ability.

        Raises:
            Refusal: ``SKILL_QUARANTINED``; ``PRECONDITION_UNMET`` where it is not in use, or has no such scripts.
        """
        with self._database.read() as connection:
            row = abilities.c
            entry = ABILITIES.first(connection, or_(row.slug == name, row.ability_id == name))
            if entry is None or entry.skill_slug is None or not visible(entry, user):
                return None
            slug = entry.skill_slug
            version = present_version(connection, entry.ability_id)
            health = own_health(connection, entry.primary_capability_id)
        state = state_of(entry)
        if state is AbilityState.QUARANTINED or health is HealthStatus.QUARANTINED:
            why = f": {entry.reason_unusable}" if entry.reason_unusable else ""
            raise Refusal(
                ErrorCode.SKILL_QUARANTINED,
                clipped(f"The ability {slug} is quarantined; nothing of it is run{why}", 240),
            )
        if state is not AbilityState.ACTIVE:
            raise PreconditionUnmet(
                "state", f"the ability {slug} is {state.value}; activate it first"
            ).refusal()
        bundle = (
            self._drafts.bundle_of_version(entry.ability_id, version.version) if version is not None else None
        )
        scripts = scripts_of(bundle.draft) if bundle is not None else {}
        if version is None or not scripts:
            raise PreconditionUnmet(
                "scripts",
                f"the ability {slug} has no script that a person wrote while it was taught;"
                " an agent carries it out by its SKILL.md",
            ).refusal()
        ability = LearnedAbility(ability_id=entry.ability_id, version=version.version)
        return OfferedScripts(ability, slug, scripts)
