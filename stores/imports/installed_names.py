"""The names that an imported skill could be taken for: skills and abilities, connected servers, and their tools."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_work import SkillImport
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from domain.imports.compatibility import Installed
from domain.imports.import_draft import capability_id_of
from stores.imports.import_origin import refuse_quarantined
from stores.imports.pack_tables import PACKS, skill_packs
from stores.mcp.mcp_tables import mcp_tools
from stores.mcp.servers.server_rows import servers_of
from stores.platform.blobs import read_blob
from stores.platform.database import Database
from stores.platform.tables import abilities
from stores.skills.skill_tables import skills


class InstalledNames:
    """Read-only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, owner: str) -> Installed:
        """What ``owner`` has here now."""
        with self._database.read() as connection:
            own = _own_abilities(connection, owner)
            folders = connection.execute(select(skills.c.name, skills.c.function_name)).all()
            servers = servers_of(connection, owner)
            ids = [server.server_id for server in servers]
            tools = connection.scalars(select(mcp_tools.c.tool_name).where(mcp_tools.c.server_id.in_(ids)))
            packs = PACKS.all(connection, skill_packs.c.owner == owner, order_by=(skill_packs.c.pack_id,))
            return Installed(
                tools=frozenset(tools) | {row.function_name for row in folders if row.function_name},
                connectors=frozenset(ids) | {server.display_name for server in servers},
                imported=frozenset(slug for slug, one in own.items() if one == capability_id_of(slug)),
                quarantined=frozenset(_quarantined(connection, owner)),
                skills=frozenset(own) | {row.name for row in folders},
                packs={one.pack_id: frozenset(one.manifest.skills) for one in packs},
            )


def require_dependencies(connection: Connection, present: SkillImport) -> None:
    """Refuses to install by itself what depends on a skill that is not here.

    Raises:
        Refusal: ``SKILL_DEPENDENCY_MISSING``.
    """
    if present.front_blob is None:
        return
    wanted = read_blob(connection, present.front_blob, PortableSkillFrontmatter).depends_on
    if not wanted:
        return
    folders = connection.scalars(select(skills.c.name).where(skills.c.name.in_(wanted)))
    here = {*_own_abilities(connection, present.owner_user_id), *folders}
    missing = [name for name in wanted if name not in here]
    if missing:
        raise Refusal(
            ErrorCode.SKILL_DEPENDENCY_MISSING,
            f"It depends on {', '.join(missing)}, which is not installed. Install that first, or a pack of both.",
            skills=missing,
        )


def require_no_quarantine(connection: Connection, present: SkillImport) -> None:
    """Refuses to install over an ability of the owner's that is quarantined.

    Raises:
        Refusal: ``CONFLICT``.
    """
    ability_id = _own_abilities(connection, present.owner_user_id).get(present.record.skill_name)
    if ability_id is not None:
        refuse_quarantined(connection, ability_id)


def _quarantined(connection: Connection, owner: str) -> Iterator[str]:
    """The names of the owner's imported abilities that are quarantined."""
    table = abilities.c
    held = select(table.slug, table.ability_id).where(
        table.owner == owner, table.lane == InstallLane.QUARANTINED.value
    )
    return (slug for slug, one in connection.execute(held) if one == capability_id_of(slug))


def _own_abilities(connection: Connection, owner: str) -> dict[str, str]:
    """The ids of the owner's abilities by their names."""
    mine = select(abilities.c.slug, abilities.c.ability_id).where(abilities.c.owner == owner)
    return {row.slug: row.ability_id for row in connection.execute(mine)}
