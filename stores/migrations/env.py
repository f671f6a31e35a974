"""Runs migrations on the connection, and in the transaction, that ``stores.platform.migrate`` gives."""

from alembic import context

from stores.mcp import mcp_tables as _mcp_tables  # noqa: F401 - its tables belong to the schema
from stores.skills.skill_tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite changes its schema inside the transaction too: the engine begins it, not the driver.
    transactional_ddl=True,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
