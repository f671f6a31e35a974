"""Every table there is, for what creates or compares the whole schema."""

from stores import mcp_tables, tables

metadata = tables.metadata

__all__ = ["mcp_tables", "metadata", "tables"]
