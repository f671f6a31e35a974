"""A running recorder's sign of life to the registry of adapters, from a thread of its own."""

import threading
from collections.abc import Collection
from urllib.parse import urlsplit

import httpx

from contracts.learning.adapter_registry import AdapterHeartbeatRequest
from contracts.learning.observation import ObservationAdapterKind
from recorders.ingest_client import IngestTarget

EVERY_S = 60.0
"""Seconds between two signs of life."""

SPOOL_FULL = "SPOOL_FULL"
"""The error code of a recorder that has no room for what it sees."""

_TIMEOUT_S = 2.0


class Heartbeat:
    """Reports that adapters are alive until it is closed. A report that does not arrive is left out: the next
    one, or the next event, says the same."""

    def __init__(self, target: IngestTarget, kinds: Collection[ObservationAdapterKind]) -> None:
        self._target = target
        self._kinds = tuple(kinds)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="adapter-heartbeat", daemon=True)

    def start(self) -> None:
        """Sends the first one."""
        self._thread.start()

    def close(self, error_code: str | None = None) -> None:
        """Ends the thread, and with ``error_code`` reports why the adapters cannot record."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(_TIMEOUT_S * (len(self._kinds) + 1))
        if error_code is not None:
            report_health(self._target, self._kinds, error_code)

    def _run(self) -> None:
        while True:
            report_health(self._target, self._kinds)
            if self._closing.wait(EVERY_S):
                return


def report_health(
    target: IngestTarget, kinds: Collection[ObservationAdapterKind], error_code: str | None = None
) -> None:
    """One report for each kind; trouble on the way is nobody's concern."""
    # A loopback address is never reached through a proxy.
    is_local = urlsplit(target.api_url).hostname in ("127.0.0.1", "localhost", "::1")
    body = AdapterHeartbeatRequest(error_code=error_code).model_dump_json(exclude_none=True)
    headers = {"Authorization": f"Bearer {target.token}", "Content-Type": "application/json"}
    base_url = target.api_url.rstrip("/")
    with httpx.Client(base_url=base_url, headers=headers, timeout=_TIMEOUT_S, trust_env=not is_local) as http:
        for kind in kinds:
            try:
                http.post(f"/api/learn/adapters/{kind.value}/heartbeat", content=body)
            except httpx.HTTPError:
                return
