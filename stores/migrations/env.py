"""Runs migrations on the connection, and in the transaction, that ``stores.platform.migrate`` gives."""

from alembic import context

from stores.mcp import mcp_tables
from stores.skills import skill_tables

# Each module adds its tables to the one metadata of all.
(metadata,) = {mcp_tables.metadata, skill_tables.metadata}

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
