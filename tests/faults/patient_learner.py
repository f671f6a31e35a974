"""A client as ours are: what is answered with 503 is asked again, under the same idempotency key."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import anyio
import httpx

from tests.faults.patience import AT_MOST_SECONDS
from tests.fixtures.learner import Learner


@dataclass
class PatientLearner(Learner):
    """A user who tries again while the service says that it cannot answer now."""

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """One request, repeated until it is answered."""
        if method != "GET":
            headers.setdefault("idempotency_key", str(uuid4()))
        with anyio.fail_after(AT_MOST_SECONDS):
            while (response := await self.call_once(method, path, body, **headers)).status_code == 503:
                await anyio.sleep(0.05)
        return response

    async def call_once(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """One request as this user, whatever comes of it."""
        return await super().call(method, path, body, **headers)
