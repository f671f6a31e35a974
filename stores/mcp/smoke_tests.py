"""Smoke tests: the receipt of one and its answer, kept under the key that it was asked with."""

from contracts.learning.aggregate import CommitKey
from contracts.mcp.health import MCPSmokeTestResponse, MCPSmokeTestStatus
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from stores.answers import answered_within
from stores.commit_keys import kept_under
from stores.database import Database
from stores.journal import append
from stores.mcp.receipts import Told, receipt
from stores.tables import commits

_STATUSES = {
    MCPSmokeTestStatus.PASSED: MCPReceiptStatus.OK,
    MCPSmokeTestStatus.DEGRADED: MCPReceiptStatus.DEGRADED,
    MCPSmokeTestStatus.BLOCKED: MCPReceiptStatus.BLOCKED,
    MCPSmokeTestStatus.FAILED: MCPReceiptStatus.FAILED,
}


class SmokeTestStore:
    """What smoke tests found. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recall(self, key: CommitKey) -> MCPSmokeTestResponse | None:
        """What was answered under this key before.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            kept = kept_under(connection, key, commits.c.response)
        return None if kept is None else MCPSmokeTestResponse.model_validate_json(kept)

    def close(self, found: MCPSmokeTestResponse, key: CommitKey, told: Told) -> MCPSmokeTestResponse:
        """Writes the receipt of a smoke test and keeps its answer; under a known key, the first answer.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.write() as connection:

            def act() -> str:
                receipt_id, entry = receipt(
                    told,
                    MCPReceiptKind.SMOKE_TEST,
                    _STATUSES[found.status],
                    f"Smoke test {found.status.value}: {found.summary or 'no details'}",
                    server_id=found.server_id,
                )
                append(connection, [entry])
                return found.model_copy(update={"receipt_id": receipt_id}).model_dump_json()

            return MCPSmokeTestResponse.model_validate_json(answered_within(connection, key, act))
