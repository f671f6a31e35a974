"""The table of the inbox: messages, check-ins and questions of users, each once under its key."""

from sqlalchemy import Column, Index, Table, Text, UniqueConstraint

from contracts.errors import ErrorCode
from contracts.inbox.items import SentItem
from stores.platform.document_table import DocumentTable
from stores.platform.tables import metadata

inbox_items = Table(
    "inbox_items",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("invocation_id", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("owner", "key", name="arrived_once"),
    Index("inbox_items_by_owner", "owner", "created_at", "item_id"),
    Index("inbox_items_by_invocation", "invocation_id"),
)

INBOX = DocumentTable(
    inbox_items,
    SentItem,
    code=ErrorCode.NOT_FOUND,
    message="There is no such item in your inbox; list them: GET /api/inbox.",
    fixed=("owner", "created_at", "key"),
)
