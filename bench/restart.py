"""From the kill of the worker of ``apprentice up`` to the first command that is answered, on fresh and grown stores.

Usage: ``python -m bench.restart [--kills N] [--sizes N …]``. Prints one JSON object. The clock begins at
``kill -9``; the command, a mark of a session that is under way, is sent a fifth of a second later, as one that comes
within milliseconds may be handed to the dead worker, whose connection is still open, until its workflow task times out.
"""

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from bench.growth import grow
from bench.temporal_server import temporal_at
from cli.demo.stack import DemoStack
from cli.platform.run_state import RunState
from tests.fixtures.stack import connect, running_stack, stack_settings

SIZES = (0, 10_000)
MAX_SECONDS = 2.0
SENT_AFTER_SECONDS = 0.2


class Owner:
    """A user with a session under way, speaking to ``apprentice up``."""

    def __init__(self, state: RunState) -> None:
        self._http = httpx.Client(
            base_url=state.api_url, headers={"Authorization": f"Bearer {state.admin_token}"}, timeout=120
        )
        wanted = {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"}
        made = self._post("/api/learn/sessions", wanted)
        self._session = made["session"]["learn_session_id"]
        self._post(f"/api/learn/sessions/{self._session}/start", {})

    def marks(self) -> None:
        """Sends a command, and has its answer."""
        self._post(f"/api/learn/sessions/{self._session}/mark-goal", {"goal_description": f"Sort {uuid4()}"})

    def cancels(self) -> None:
        """Ends the session: nobody has two."""
        self._post(f"/api/learn/sessions/{self._session}/cancel", {"reason": "done"})

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        key = {"Idempotency-Key": str(uuid4())}
        # 503 is what a command gets that waited ten seconds for a worker: it is sent again under the same key.
        while (
            answer := self._http.post(path, json=body, headers=key)
        ).status_code == httpx.codes.SERVICE_UNAVAILABLE:
            pass
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


async def grown(folder: Path, lessons: int) -> Path:
    """A data directory with so many lessons and abilities."""
    async with temporal_at(folder) as address:
        settings = stack_settings(folder)
        async with running_stack(settings, await connect(address)) as stack:
            await grow(stack, lessons, "admin")
    return settings.data_dir


def seconds_to_answer(data_dir: Path) -> float:
    """The seconds from a kill until a command is answered.

    Everything is started for it: a worker that fails again within a minute is started again ever more slowly.
    """
    with DemoStack(data_dir) as stack:
        state = stack.start()
        owner = Owner(state)
        owner.marks()
        killed = time.monotonic()
        os.kill(state.pids.worker, signal.SIGKILL)
        time.sleep(SENT_AFTER_SECONDS)
        owner.marks()
        answered = time.monotonic() - killed
        owner.cancels()
    return answered


def measure(kills: int, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Kills the worker so many times over each store."""
    result: dict[str, Any] = {"kills": kills}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            data_dir = asyncio.run(grown(Path(name), size)) if size else Path(name) / "data"
            found = [seconds_to_answer(data_dir) for _ in range(kills)]
        figures = {"median_seconds": statistics.median(found), "worst_seconds": max(found)}
        result[f"of_{size}" if size else "fresh"] = {name: round(value, 2) for name, value in figures.items()}
    return result


def main() -> int:
    """Prints the result as JSON; status 1 when the bound is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    result = measure(options.kills, tuple(options.sizes))
    print(json.dumps(result, indent=2))
    stores = [value for value in result.values() if isinstance(value, dict)]
    return 0 if all(store["median_seconds"] <= MAX_SECONDS for store in stores) else 1


if __name__ == "__main__":
    sys.exit(main())
