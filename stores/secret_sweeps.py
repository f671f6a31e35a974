"""The sweep over secrets whose time is over, such as the verifier of a sign-in that was never finished."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from contracts.base import rfc3339
from contracts.maintenance.runs import SweepName
from stores.mcp_tables import secrets
from stores.retention_sweeps import Settled


class RemoveExpiredSecrets:
    """Secrets go when they expire: nothing reveals them from then on. Needs no key."""

    name = SweepName.REMOVE_EXPIRED_SECRETS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """References in their own order."""
        query = select(secrets.c.ref).where(secrets.c.expires_at <= rfc3339(now), secrets.c.ref > after)
        return connection.scalars(query.order_by(secrets.c.ref).limit(limit)).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one secret, unless it was put anew meanwhile."""
        expired = (secrets.c.ref == item, secrets.c.expires_at <= rfc3339(now))
        removed = connection.execute(delete(secrets).where(*expired)).rowcount
        return Settled(done=removed == 1, removed=removed)
