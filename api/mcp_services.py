"""What the routes of the tool gateway work with."""

from dataclasses import dataclass

from temporalio.client import Client

from config.settings import Settings
from stores.database import Database
from stores.mcp.receipts import ReceiptReads


@dataclass(frozen=True)
class McpServices:
    """The stores and gateways of servers, policy, approvals, calls and sign-ins."""

    receipts: ReceiptReads


def open_mcp_services(settings: Settings, database: Database, client: Client) -> McpServices:
    """Puts them together; nothing is connected yet."""
    del settings, client
    return McpServices(receipts=ReceiptReads(database))
