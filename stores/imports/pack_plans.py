"""What the install of a pack would do now: its members as they stand, and the plan that follows from them."""

from collections.abc import Iterator

from sqlalchemy import Connection, or_, select

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.imports.import_record import SkillImportState
from contracts.imports.import_work import SkillImport
from contracts.imports.pack_members import PackMember, PackMemberState, StoredPack
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from contracts.skills.catalog import SkillState
from domain.abilities.availability import in_service
from domain.imports.pack_plan import PackPlan, pack_plan
from stores.imports.import_tables import IMPORTS, skill_imports
from stores.platform.blobs import read_blob
from stores.platform.tables import abilities
from stores.skills.skill_tables import skills

_TO_INSTALL = (SkillImportState.READY_FOR_REVIEW, SkillImportState.INSTALL_FAILED)
_REVIEWED = (*_TO_INSTALL, SkillImportState.INSTALLED_PRIVATE)


def plan_of(connection: Connection, pack: StoredPack) -> PackPlan:
    """The members of a pack, in the order of their install, and what stands in the way of it.

    Members are the skills of the manifest, and reviewed imports that a person asked into the pack. Of the imports of
    one name the newest counts, so that no older archive is installed over a newer one.
    """
    newest = _newest_imports(connection, pack.owner_user_id)
    installed = _installed(connection, pack.owner_user_id)
    asked = (name for name, one in newest.items() if _is_asked_into(one, pack))
    names = dict.fromkeys((*pack.manifest.skills, *sorted(asked)))
    members = [_member(connection, name, newest.get(name), name in installed) for name in names]
    return pack_plan(members, installed)


def _is_asked_into(one: SkillImport, pack: StoredPack) -> bool:
    return one.asked_pack_id == pack.pack_id and one.state in _TO_INSTALL


def _newest_imports(connection: Connection, owner: str) -> dict[str, SkillImport]:
    """The newest reviewed import of each skill's name."""
    table = skill_imports.c
    found = IMPORTS.all(
        connection,
        table.owner == owner,
        table.state.in_([one.value for one in _REVIEWED]),
        order_by=(table.created_at, table.import_id),
    )
    return {one.record.skill_name: one for one in found if one.record.set_aside_at is None}


def _member(connection: Connection, name: str, newest: SkillImport | None, installed: bool) -> PackMember:
    if newest is None or newest.state not in _TO_INSTALL:
        state = PackMemberState.INSTALLED if installed else PackMemberState.UNAVAILABLE
        return PackMember(skill=name, state=state)
    depends_on: tuple[str, ...] = ()
    if newest.front_blob is not None:
        depends_on = read_blob(connection, newest.front_blob, PortableSkillFrontmatter).depends_on
    return PackMember(
        skill=name,
        state=PackMemberState.READY,
        import_id=newest.import_id,
        depends_on=depends_on,
        held_up_by=newest.held if newest.override is None else None,
        unproved=newest.unproved,
    )


def _installed(connection: Connection, owner: str) -> frozenset[str]:
    """The names of what the owner can use: their abilities, those of the workspace, and executable skills."""
    ready = select(skills.c.name).where(skills.c.state == SkillState.READY.value)
    return frozenset((*_abilities(connection, owner), *connection.scalars(ready)))


def _abilities(connection: Connection, owner: str) -> Iterator[str]:
    table = abilities.c
    shared = (InstallLane.APPROVED_WORKSPACE.value, InstallLane.SHARED_PROMOTED.value)
    usable = or_(table.owner == owner, table.lane.in_(shared))
    for slug, body in connection.execute(select(table.slug, table.body).where(usable)):
        if in_service(AbilityAvailabilityEntry.model_validate_json(body)):
            yield slug
