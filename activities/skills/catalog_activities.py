"""The catalog of skills: reads the roots, puts a folder on the allowlist, writes what was found to the store."""

from collections.abc import Callable
from datetime import UTC, datetime

from temporalio import activity

from activities.platform.refusals import refusing
from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import (
    ApproveFolder,
    ApproveSkillResponse,
    InspectFolder,
    ReloadCatalog,
    ReloadSkillsResponse,
    SkillRecord,
    SkillRoot,
    SkillState,
)
from domain.skills.entries import NO_SUCH_SKILL, catalog_entry
from domain.skills.versions import breaks_without_major, version_of
from skills.runtime.allowlist import Allowlist
from skills.runtime.roots import SkillRoots
from stores.abilities.ability_reads import AbilityStore
from stores.skills.catalog import SkillCatalog

AGENT_DOCUMENTS = frozenset({"place-call"})
"""Bundled skills whose SKILL.md is also written into the workspace, for agents (OC-01)."""


class SkillCatalogActivities:
    """One worker at a time: commands come one after another from the catalog's workflow."""

    def __init__(
        self,
        catalog: SkillCatalog,
        roots: SkillRoots,
        allowlist: Allowlist,
        abilities: AbilityStore,
        written: Callable[[], None],
    ) -> None:
        """``written`` has the files on disk agree with the store soon."""
        self._catalog = catalog
        self._roots = roots
        self._allowlist = allowlist
        self._abilities = abilities
        self._written = written

    @activity.defn
    @refusing
    def reload_catalog(self, order: ReloadCatalog) -> ReloadSkillsResponse:
        """Reads the roots again."""
        return self.reload()

    @activity.defn
    @refusing
    def approve_folder(self, order: ApproveFolder) -> ApproveSkillResponse:
        """Approves a folder as it was seen; without a digest it only shows what would be approved.

        Raises:
            Refusal: ``SKILL_NOT_FOUND``, ``SKILL_MALFORMED`` with the reason, which may be that required inputs
                changed without a new major, ``CONFLICT`` where the folder has changed since it was seen or its name
                is taken by another root.
        """
        now = datetime.now(UTC)
        seen = self._inspected(order.name, order.root, now)
        self._refuse_broken_promise(seen)
        if order.digest is None:
            waiting = seen.changed(state=SkillState.AWAITING_APPROVAL)
            return ApproveSkillResponse(approved=False, skill=catalog_entry(waiting))
        assert seen.digest is not None, "what was inspected has a digest"
        if order.digest != seen.digest:
            raise Refusal(
                ErrorCode.CONFLICT,
                "The folder has changed since it was shown; look at it again.",
                current_digest=seen.digest,
            )
        self._allowlist.approve(seen.root, seen.name, seen.digest, order.by, now)
        self._catalog.approved_again(seen.root, seen.name, now)
        self.reload()
        approved = next(one for one in self._catalog.named(seen.name) if one.root is seen.root)
        return ApproveSkillResponse(approved=True, skill=catalog_entry(approved))

    @activity.defn
    @refusing
    def inspect_folder(self, order: InspectFolder) -> SkillRecord:
        """What lies in a folder, approved or not, as it would be run; nothing is changed.

        Raises:
            Refusal: ``SKILL_NOT_FOUND``, ``SKILL_MALFORMED`` with the reason, ``CONFLICT`` where another root has an
                approved skill of that name.
        """
        return self._inspected(order.name, None, datetime.now(UTC)).changed(documentation="")

    def _inspected(self, name: str, root: SkillRoot | None, now: datetime) -> SkillRecord:
        seen = self._roots.inspect(name, root, now)
        if seen is None:
            raise Refusal(ErrorCode.SKILL_NOT_FOUND, NO_SUCH_SKILL)
        if seen.state is SkillState.MALFORMED or seen.digest is None:
            raise Refusal(ErrorCode.SKILL_MALFORMED, seen.reason or "The folder is malformed.")
        self._refuse_taken(seen)
        return seen

    def reload(self) -> ReloadSkillsResponse:
        """Scans, and takes what was found as the catalog."""
        found, different = self._taken()
        self._written()
        counts = {state: sum(one.state is state for one in found) for state in SkillState}
        return ReloadSkillsResponse(
            ready=counts[SkillState.READY],
            awaiting_approval=counts[SkillState.AWAITING_APPROVAL],
            malformed=counts[SkillState.MALFORMED],
            different=different[:200],
        )

    def _taken(self) -> tuple[tuple[SkillRecord, ...], tuple[str, ...]]:
        """What was found, as the catalog, and which names are another than before.

        A worker that starts scans beside the commands: what was approved meanwhile would be taken back by its older
        scan, which is therefore made again.
        """
        ours = self._abilities.slugs() | AGENT_DOCUMENTS
        different: set[str] = set()
        while True:
            allowed = self._allowlist.read()
            scanned = self._roots.scan(allowed, datetime.now(UTC))
            if self._allowlist.read() != allowed:
                continue
            found = tuple(one for one in scanned if not _is_ours(one, ours))
            different |= set(self._catalog.replace(found))
            if self._allowlist.read() == allowed:
                return found, tuple(sorted(different))

    def _refuse_broken_promise(self, seen: SkillRecord) -> None:
        """A folder whose required inputs are others than before, under the same major, is not approved (CH-65)."""
        if seen.manifest is None:
            return
        known = self._catalog.manifests_of(seen.root, seen.name)
        same_major = [one for one in known if version_of(one)[0] == version_of(seen.manifest)[0]]
        if not same_major:
            return
        problem = breaks_without_major(max(same_major, key=version_of), seen.manifest)
        if problem is not None:
            raise Refusal(ErrorCode.SKILL_MALFORMED, problem[:240])

    def _refuse_taken(self, seen: SkillRecord) -> None:
        """A name that another root answers to is not approved twice (X-3)."""
        for other in self._catalog.named(seen.name):
            if other.root is not seen.root and other.state is SkillState.READY:
                raise Refusal(
                    ErrorCode.CONFLICT,
                    f"{seen.name} is taken by the {other.root.value} root; give the folder another name.",
                    taken_by=other.root.value,
                )


def _is_ours(record: SkillRecord, ours: frozenset[str]) -> bool:
    """Whether a folder of the workspace holds what we write there for agents to read: it asks for no approval."""
    waits = record.state is SkillState.AWAITING_APPROVAL
    return waits and record.root is SkillRoot.WORKSPACE and record.name in ours
