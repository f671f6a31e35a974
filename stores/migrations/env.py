"""Runs migrations on the connection, and in the transaction, that ``stores.platform.migrate`` gives."""

from alembic import context

from stores.imports import import_tables, pack_tables
from stores.inbox import inbox_tables
from stores.mcp import mcp_tables
from stores.memory import check_ins, goals, memory_tables
from stores.memory.text_search import is_words
from stores.skills import skill_tables

# Each module adds its tables to the one metadata of all.
modules = (
    check_ins,
    goals,
    import_tables,
    inbox_tables,
    mcp_tables,
    memory_tables,
    pack_tables,
    skill_tables,
)
(metadata,) = {module.metadata for module in modules}

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite changes its schema inside the transaction too: the engine begins it, not the driver.
    transactional_ddl=True,
    render_as_batch=True,
    compare_type=True,
    include_name=lambda name, kind, _parents: kind != "table" or not is_words(name),
)
with context.begin_transaction():
    context.run_migrations()
