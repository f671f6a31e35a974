"""The names that an imported skill could be taken for: skills and abilities, connected servers, and their tools."""

from sqlalchemy import select

from domain.imports.compatibility import Installed
from domain.imports.import_draft import capability_id_of
from stores.mcp.mcp_tables import mcp_tools
from stores.mcp.servers.server_rows import servers_of
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
            mine = select(abilities.c.slug, abilities.c.ability_id).where(abilities.c.owner == owner)
            own = {row.slug: row.ability_id for row in connection.execute(mine)}
            folders = connection.execute(select(skills.c.name, skills.c.function_name)).all()
            servers = servers_of(connection, owner)
            ids = [server.server_id for server in servers]
            tools = connection.scalars(select(mcp_tools.c.tool_name).where(mcp_tools.c.server_id.in_(ids)))
            return Installed(
                tools=frozenset(tools) | {row.function_name for row in folders if row.function_name},
                connectors=frozenset(ids) | {server.display_name for server in servers},
                imported=frozenset(slug for slug, one in own.items() if one == capability_id_of(slug)),
                skills=frozenset(own) | {row.name for row in folders},
            )
