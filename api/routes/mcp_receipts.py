"""Receipts of everything that was done about tool servers (DOC3 §0.2D)."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Reader, ServicesDep
from contracts.mcp.receipts import MCPReceiptListResponse

router = APIRouter(prefix="/api/mcp/receipts", tags=["mcp"])

MAX_LIMIT = 200


@router.get("", operation_id="mcp_receipt_list")
def list_receipts(
    caller: Reader,
    services: ServicesDep,
    cursor: Annotated[
        int | None,
        Query(ge=1, le=2**53, description="`next_cursor` of the page before; none for the newest."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 50,
) -> MCPReceiptListResponse:
    """The caller's receipts, newest first. They hold no argument, answer or secret."""
    return services.mcp.receipts.newest(caller.user_id, limit, cursor)
