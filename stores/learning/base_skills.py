"""The installed skills that proposals improve: pinned, read whole, and how they stand (DOC3 §0C.4, §0A.8)."""

from sqlalchemy import Connection, or_, select

from contracts.abilities.availability import AbilityVersion, InstallLane
from contracts.errors import ErrorCode, Refusal
from contracts.learning.proposal import (
    BaseSkill,
    BaseStanding,
    SkillBundleProposal,
)
from contracts.learning.state_machine import LANES_OF
from domain.abilities.availability import without_unproved
from domain.learning.drafting.improvement import BaseMaterial
from stores.abilities.ability_reads import visible
from stores.abilities.ability_rows import (
    ABILITIES,
    VERSIONS,
    content_of,
    entry_of,
    present_version,
    standing_of,
    versions_of,
)
from stores.learning.drafts import load_bundle
from stores.platform.blobs import get_blob
from stores.platform.database import Database
from stores.platform.projection.document_projection import WorkspaceEdits, edits_digest
from stores.platform.projection.documents import list_documents, read_document
from stores.platform.tables import abilities


class BaseSkills:
    """What may be improved, and what a proposal's base has become."""

    def __init__(self, database: Database, edits: WorkspaceEdits) -> None:
        self._database = database
        self._edits = edits

    def is_free(self, slug: str, user_id: str) -> bool:
        """Whether the user may give a skill this name: nobody else's has it."""
        with self._database.read() as connection:
            owner = connection.scalar(select(abilities.c.owner).where(abilities.c.slug == slug))
        return owner is None or owner == user_id

    def pin(self, target: str, user_id: str) -> BaseSkill:
        """The present version of one of the user's abilities, named by its id or its skill name.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND``; ``FORBIDDEN`` when another user shares it, or it may not be taught.
        """
        with self._database.read() as connection:
            named = or_(abilities.c.ability_id == target, abilities.c.slug == target)
            entry = ABILITIES.first(connection, named)
            if entry is None or not visible(entry, user_id):
                raise Refusal(
                    ErrorCode.ABILITY_NOT_FOUND,
                    "There is no such ability to improve; list yours with GET /api/abilities/availability.",
                )
            if entry.owner_user_id != user_id:
                raise Refusal(
                    ErrorCode.FORBIDDEN,
                    "The ability is somebody else's: teach a new one, or ask its owner to improve it.",
                )
            standing = standing_of(connection, ability_id=entry.ability_id)
            if standing is not None and not standing.manifest.learning_policy.teach_mode_allowed:
                raise Refusal(
                    ErrorCode.FORBIDDEN,
                    "Its capability's learning policy allows no teaching: teach a new ability instead.",
                )
            return _present(connection, entry.ability_id)

    def present(self, base: BaseSkill) -> BaseSkill:
        """The version that is installed now of what ``base`` is a version of.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND`` when it is gone.
        """
        with self._database.read() as connection:
            return _present(connection, base.ability_id)

    def material(self, base: BaseSkill) -> BaseMaterial:
        """The pinned version whole; hand edits belong to the present version alone.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND`` when it is gone; ``HAND_EDITED`` when an edited file is no text.
        """
        with self._database.read() as connection:
            version = _version(connection, base)
            _, bundle = load_bundle(connection, version.proposal_id)
            installed = _installed(connection, base)
            is_present = _present(connection, base.ability_id) == base
        return BaseMaterial(
            skill=base,
            draft=bundle.draft,
            interpretation=bundle.interpretation,
            installed=installed,
            edited=self.edited(base.skill_slug) if is_present else {},
        )

    def present_files(self, proposal: SkillBundleProposal) -> dict[str, str] | None:
        """The files that an improvement changes, as they are: the pinned version with the hand edits.

        None where the proposal improves nothing.
        """
        if proposal.base is None:
            return None
        material = self.material(proposal.base)
        return {**material.installed, **material.edited}

    def traces_of(self, base: BaseSkill) -> tuple[str, ...]:
        """The traces that the pinned version was learned from."""
        with self._database.read() as connection:
            proposal, _ = load_bundle(connection, _version(connection, base).proposal_id)
        return proposal.source_trace_ids

    def edited(self, slug: str) -> dict[str, str]:
        """The files that were edited by hand, by their path within the skill.

        Raises:
            Refusal: ``HAND_EDITED`` when one of them is no UTF-8 text.
        """
        found: dict[str, str] = {}
        for path, content in self._edits.of_skill(slug).items():
            try:
                found[path.removeprefix(f"skills/{slug}/")] = without_unproved(content.decode())
            except UnicodeDecodeError:
                raise Refusal(
                    ErrorCode.HAND_EDITED,
                    f"{path} was edited by hand and is no UTF-8 text; put it right or move it away.",
                    conflicts=[path],
                ) from None
        return found

    def standing(self, proposal: SkillBundleProposal) -> BaseStanding | None:
        """How the base of a proposal stands now; None where it improves nothing."""
        base = proposal.base
        if base is None:
            return None
        with self._database.read() as connection:
            versions = versions_of(connection, base.ability_id)
            present = connection.scalar(
                select(abilities.c.version).where(abilities.c.ability_id == base.ability_id)
            )
        own = any(v.version == present and v.proposal_id == proposal.proposal_id for v in versions)
        reasons: list[str] = []
        if present is None:
            reasons.append("The ability is gone.")
        elif present != base.version and not own:
            reasons.append(f"Version {present} is installed; the proposal improves version {base.version}.")
        edited = self._edits.of_skill(base.skill_slug)
        changed = bool(edited) and edits_digest(edited) != proposal.hand_edits
        if changed:
            reasons.append("Installed files were edited by hand since the proposal was drafted.")
        return BaseStanding(
            base=base,
            present_version=present,
            stale=bool(reasons),
            reasons=tuple(reasons),
            edited_by_hand=tuple(sorted(edited)) if changed else (),
            conflicts=proposal.base_conflicts,
        )

    def check(self, proposal: SkillBundleProposal, lane: InstallLane) -> None:
        """Lets an improvement pass whose base has not moved.

        Raises:
            Refusal: ``PROPOSAL_STALE`` with ``base``; ``HAND_EDITED`` with ``conflicts``;
                ``INSTALL_LANE_DENIED`` for a private trial of what is approved already.
        """
        refusal = self.closed_lanes(proposal).get(lane)
        if refusal is not None:
            raise refusal

    def closed_lanes(self, proposal: SkillBundleProposal) -> dict[InstallLane, Refusal]:
        """The lanes that an improvement may not go into as its base stands, with why; none for a new skill."""
        standing = self.standing(proposal)
        if standing is None:
            return {}
        refusals = ((lane, self._closed(standing, lane)) for lanes in LANES_OF.values() for lane in lanes)
        return {lane: refusal for lane, refusal in refusals if refusal is not None}

    def _closed(self, standing: BaseStanding, lane: InstallLane) -> Refusal | None:
        if standing.edited_by_hand:
            return Refusal(
                ErrorCode.HAND_EDITED,
                "Installed files were edited by hand; revise the proposal, which takes the edits in.",
                conflicts=list(standing.edited_by_hand),
            )
        if standing.stale:
            return Refusal(
                ErrorCode.PROPOSAL_STALE,
                "What the proposal improves has moved meanwhile; revise the proposal to rebase it.",
                base=standing.model_dump(mode="json", exclude={"conflicts"}),
            )
        if lane is not InstallLane.EXPERIMENTAL_PRIVATE:
            return None
        with self._database.read() as connection:
            entry = entry_of(connection, standing.base.ability_id)
        if entry is not None and entry.install_lane is not lane:
            return Refusal(
                ErrorCode.INSTALL_LANE_DENIED,
                "A private trial would take the approved version away from everybody; approve the improvement.",
            )
        return None

    def edits_of(self, slug: str) -> str | None:
        """The digest of a skill's hand edits; None without any."""
        edited = self._edits.of_skill(slug)
        return edits_digest(edited) if edited else None


def _present(connection: Connection, ability_id: str) -> BaseSkill:
    slug = connection.scalar(select(abilities.c.slug).where(abilities.c.ability_id == ability_id))
    version = present_version(connection, ability_id)
    if slug is None or version is None:
        raise Refusal(ErrorCode.ABILITY_NOT_FOUND, "The ability is no longer there to be improved.")
    return BaseSkill(
        ability_id=ability_id,
        skill_slug=slug,
        version=version.version,
        content_hash=version.content_hash,
    )


def _version(connection: Connection, base: BaseSkill) -> AbilityVersion:
    found = VERSIONS.find(connection, (base.ability_id, base.version))
    if found is None:
        raise Refusal(
            ErrorCode.ABILITY_NOT_FOUND,
            f"Version {base.version} of the ability is no longer kept; revise the proposal to rebase it.",
        )
    return found


def _installed(connection: Connection, base: BaseSkill) -> dict[str, str]:
    """The pinned version's files by their path within the skill."""
    folder = f"skills/{base.skill_slug}"
    content = content_of(connection, base.ability_id, base.version)
    if content is not None:
        kept = {f.path: get_blob(connection, f.digest) for f in content.files if f.root == "workspace"}
    else:
        paths = list_documents(connection, "workspace", folder)
        kept = {path: read_document(connection, "workspace", path) or b"" for path in paths}
    return {
        path.removeprefix(f"{folder}/"): without_unproved(text.decode())
        for path, text in kept.items()
        if path.startswith(f"{folder}/")
    }
