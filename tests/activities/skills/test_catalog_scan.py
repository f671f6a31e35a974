"""A scan of the catalog beside an approval: what was approved meanwhile is not taken back by the older scan."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from activities.skills.catalog_activities import SkillCatalogActivities
from contracts.skills.catalog import SkillAllowlist, SkillRecord, SkillState
from skills.runtime.allowlist import Allowlist
from skills.runtime.folder_digest import read_folder
from skills.runtime.roots import SkillRoot, SkillRoots
from stores.abilities.ability_reads import AbilityStore
from stores.platform.database import Database
from stores.skills.catalog import SkillCatalog
from tests.fixtures.databases import migrated
from tests.fixtures.skill_folders import write_skill


@dataclass(frozen=True)
class ApprovedWhileScanned(SkillRoots):
    """Roots of which a folder is approved, as by another worker, once it has been read as unapproved."""

    allowlist: Allowlist = field(kw_only=True)
    digest: str = field(kw_only=True)

    def scan(self, allowlist: SkillAllowlist, now: datetime) -> tuple[SkillRecord, ...]:
        """The folders as they stood before the approval, the first time."""
        found = super().scan(allowlist, now)
        if not allowlist.approvals:
            self.allowlist.approve(SkillRoot.WORKSPACE, "trial", self.digest, "somebody", now)
        return found


def test_what_is_approved_while_a_worker_scans_stays_approved(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    folder, allowlist = write_skill(tmp_path / "workspace", "trial"), Allowlist(tmp_path)
    roots = ApprovedWhileScanned(
        workspace=tmp_path / "workspace",
        managed=tmp_path / "managed",
        bundled=tmp_path / "bundled",
        allowlist=allowlist,
        digest=read_folder(folder).digest,
    )
    database = Database(url)
    try:
        catalog = SkillCatalog(database)
        SkillCatalogActivities(catalog, roots, allowlist, AbilityStore(database), lambda: None).reload()
        (record,) = catalog.named("trial")
        assert record.state is SkillState.READY
    finally:
        database.close()
