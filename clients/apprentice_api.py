"""A typed client of our own HTTP API."""

from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx

from clients.ability_api import AbilityApi, TokenApi
from clients.api_transport import ApiTransport, RetryPolicy
from clients.category_api import CategoryApi
from clients.learn_api import LearnApi
from clients.practice_api import PracticeApi
from clients.sse import Reconnect
from contracts.learning.responses import WorkflowLinkResponse


class ApprenticeApi:
    """One caller's view of one service, its routes grouped by subject.

    Use it as a context manager, or call :meth:`close`.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        transport: httpx.BaseTransport | None = None,
        *,
        retry: RetryPolicy | None = None,
        reconnect: Reconnect | None = None,
    ) -> None:
        self.http = ApiTransport(base_url, token, transport=transport, retry=retry)
        self.learn = LearnApi(self.http, reconnect)
        self.abilities = AbilityApi(self.http)
        self.categories = CategoryApi(self.http)
        self.practice = PracticeApi(self.http)
        self.tokens = TokenApi(self.http)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    @property
    def last_body(self) -> str:
        """The body of the newest answer as it was received."""
        return self.http.last_body

    def workflow_link(self, workflow_id: str) -> WorkflowLinkResponse:
        """Find the Temporal execution behind an object; asked once, since it only adorns."""
        path = f"/api/workflows/{quote(workflow_id, safe='/')}"
        return self.http.get(path, WorkflowLinkResponse, retried=False)
