"""The service ``media``: pictures and videos for content, for handlers of skills (CH-22, CH-23, CH-26)."""

import time
from collections.abc import Mapping
from typing import Any, Literal

import structlog
from pydantic import Field

from activities.skills.services.offered import Asker, Method
from clients.skills.media_tools import MediaFailed, MediaTools
from contracts.base import Contract, Text200
from contracts.skills.content import Text2200
from skills.runtime.broker import BrokerRefused

log = structlog.get_logger(__name__)

WITHIN_SECONDS, TRIES = 28.0, 3
"""How long all tries may take, within the 30 s of media, and how many there are: two retries (002 L282)."""


class MediaRequest(Contract):
    """Asks for a picture or a video."""

    kind: Literal["image", "video"]
    title: Text200
    words: tuple[Text2200, ...] = Field(default=(), max_length=20)


class MediaService:
    """Asks the tool for the kind; without one, or where it fails three times, content goes without media."""

    def __init__(self, tools: MediaTools, *, within_seconds: float = WITHIN_SECONDS) -> None:
        self._tools = tools
        self._within = within_seconds
        self.methods: Mapping[str, Method] = {"make": Method(MediaRequest, self._make, reads=True)}

    async def _make(self, asker: Asker, asked: MediaRequest) -> dict[str, Any]:
        """``{"media_urls"}``."""
        del asker
        if not self._tools.has(asked.kind):
            text = f"No tool that makes a {asked.kind} is connected (media_servers)."
            raise BrokerRefused("MEDIA_GENERATION_FAILED", text)
        prompt = "\n".join((asked.title, *asked.words))
        until, why = time.monotonic() + self._within, ""
        for _ in range(TRIES):
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                return {"media_urls": list(await self._tools.make(asked.kind, prompt, left))}
            except MediaFailed as failed:
                why = str(failed)
                log.warning("a medium was not made", kind=asked.kind, why=why)
        raise BrokerRefused("MEDIA_GENERATION_FAILED", f"{why}.")
