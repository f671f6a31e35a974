"""What recorders last reported of themselves, one row for each user and kind of adapter (DOC3 §0C.22)."""

import threading
import time
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime

from sqlalchemy import select

from contracts.abilities.capability_health import CapabilityEventName
from contracts.base import rfc3339
from contracts.learning.observation import (
    ObservationAdapterKind,
    ObservationAdaptersResponse,
    ObservationAdapterStatus,
    RegisteredAdapter,
)
from domain.learning.adapters import (
    ADAPTERS,
    adapters_unavailable,
    alternatives_to,
    refuse_unavailable,
    unavailability,
)
from stores.platform.database import Database, insert_or
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.tables import observation_adapters

SEEN_EVERY_S = 30.0
"""Seconds within which an adapter that goes on reporting events is not written down as seen again."""

_MOST_REMEMBERED = 10_000


class AdapterStore:
    """The registry as one process sees it. Safe to share between threads.

    ``disabled`` are the kinds that the settings take out of use; ``clock`` counts seconds.
    """

    def __init__(
        self,
        database: Database,
        disabled: Collection[ObservationAdapterKind] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._disabled = frozenset(disabled)
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, ObservationAdapterKind], float] = {}

    @property
    def available(self) -> tuple[ObservationAdapterKind, ...]:
        """The kinds whose events are taken, phase by phase."""
        return tuple(kind for kind in ADAPTERS if unavailability(kind, self._disabled) is None)

    def armed(self, owner: str) -> tuple[ObservationAdapterKind, ...]:
        """The kinds that take part in this user's capture: available, and not last reported to be broken."""
        rows = self._rows(owner)
        return tuple(kind for kind in self.available if rows.get(kind, (None, None))[1] is None)

    def refuse_unavailable(self, kinds: Iterable[ObservationAdapterKind]) -> None:
        """Lets kinds pass whose adapters are deployed and not disabled.

        Raises:
            Refusal: ``ADAPTER_UNAVAILABLE`` with the alternatives.
        """
        refuse_unavailable(kinds, self._disabled)

    def refuse_unusable(self, owner: str, kinds: Collection[ObservationAdapterKind]) -> None:
        """Lets kinds pass whose adapters are available and did not last report that they cannot record.

        Raises:
            Refusal: ``ADAPTER_UNAVAILABLE`` with the alternatives.
        """
        self.refuse_unavailable(kinds)
        if not kinds:
            return
        rows = self._rows(owner)
        broken = {
            kind: f"{kind.value} last reported {rows[kind][1]}"
            for kind in sorted(set(kinds))
            if kind in rows and rows[kind][1] is not None
        }
        if broken:
            raise adapters_unavailable(broken, self._disabled | broken.keys())

    def heartbeat(
        self, owner: str, kind: ObservationAdapterKind, error_code: str | None = None
    ) -> RegisteredAdapter:
        """Takes in a recorder's own report; the newest one holds.

        Raises:
            Refusal: ``ADAPTER_UNAVAILABLE`` for a kind that is not deployed or is disabled.
        """
        self.refuse_unavailable([kind])
        seen_at = rfc3339(datetime.now(UTC))
        self._write(owner, [kind], seen_at, error_code)
        if error_code is not None and kind is ObservationAdapterKind.BROWSER_DOM:
            self._tell_detached(owner, error_code)
        with self._lock:
            # A broken adapter whose events come in is well again: that is worth writing at once.
            if error_code is None:
                self._seen[owner, kind] = self._clock()
            else:
                self._seen.pop((owner, kind), None)
        return self._entry(kind, (seen_at, error_code))

    def _tell_detached(self, owner: str, error_code: str) -> None:
        """The watch over a browser has ended before the browser did (DOC3 L4635); its pages are not told of apart."""
        entries = JournalEntries(f"adapters/{owner}", owner, "adapters", datetime.now(UTC))
        entries.capability_event(CapabilityEventName.BROWSER_RELAY_DETACHED, reason_codes=(error_code[:80],))
        with self._database.write() as connection:
            append(connection, entries.drafts)

    def saw(self, owner: str, kinds: Collection[ObservationAdapterKind]) -> None:
        """Notes that events of these kinds came in, which only a working recorder sends."""
        now = self._clock()
        with self._lock:
            if len(self._seen) > _MOST_REMEMBERED:
                self._seen.clear()
            due = [
                kind
                for kind in sorted(kinds)
                if now - self._seen.get((owner, kind), now - SEEN_EVERY_S) >= SEEN_EVERY_S
            ]
            self._seen.update(((owner, kind), now) for kind in due)
        if due:
            self._write(owner, due, rfc3339(datetime.now(UTC)), None)

    def registered(self, owner: str) -> ObservationAdaptersResponse:
        """Every kind with its status as this user's recorders last reported it."""
        rows = self._rows(owner)
        return ObservationAdaptersResponse(
            adapters=tuple(self._entry(kind, rows.get(kind, (None, None))) for kind in ADAPTERS)
        )

    def _entry(
        self, kind: ObservationAdapterKind, reported: tuple[str | None, str | None]
    ) -> RegisteredAdapter:
        reason = unavailability(kind, self._disabled)
        seen_at, error_code = reported
        return RegisteredAdapter(
            status=ObservationAdapterStatus(
                adapter_id=kind.value,
                kind=kind,
                enabled=reason is None,
                healthy=reason is None and error_code is None,
                phase=ADAPTERS[kind].phase,
                last_seen_at=datetime.fromisoformat(seen_at) if seen_at else None,
                last_error_code=error_code,
            ),
            available=reason is None,
            captures=ADAPTERS[kind].captures,
            reason=reason,
            alternatives=alternatives_to(kind, self._disabled),
        )

    def _rows(self, owner: str) -> dict[ObservationAdapterKind, tuple[str | None, str | None]]:
        table = observation_adapters
        with self._database.read() as connection:
            rows = connection.execute(
                select(table.c.kind, table.c.last_seen_at, table.c.last_error_code).where(
                    table.c.owner == owner
                )
            ).all()
        return {ObservationAdapterKind(kind): (seen_at, code) for kind, seen_at, code in rows}

    def _write(
        self,
        owner: str,
        kinds: Collection[ObservationAdapterKind],
        seen_at: str,
        error_code: str | None,
    ) -> None:
        with self._database.write() as connection:
            for kind in kinds:
                insert = insert_or(connection, observation_adapters).values(
                    owner=owner, kind=kind.value, last_seen_at=seen_at, last_error_code=error_code
                )
                fresh = {
                    "last_seen_at": insert.excluded.last_seen_at,
                    "last_error_code": insert.excluded.last_error_code,
                }
                connection.execute(insert.on_conflict_do_update(index_elements=["owner", "kind"], set_=fresh))
