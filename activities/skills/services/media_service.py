"""The service ``media``: pictures and videos for content, for handlers of skills (CH-22, CH-23, CH-26, O-6)."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Literal

import structlog
from pydantic import Field

from activities.skills.services.offered import Asker, Method
from clients.skills.media_tools import MediaFailed, MediaTools
from contracts.base import Contract, Text80, Text200
from contracts.errors import Refusal
from contracts.skills.content import Text2200
from domain.skills.content.card import content_card
from skills.runtime.broker import BrokerRefused
from stores.skills.services.content_cards import ContentCards

log = structlog.get_logger(__name__)

WITHIN_SECONDS, TRIES = 28.0, 3
"""How long all tries may take, within the 30 s of media, and how many there are: two retries (002 L282)."""


class MediaRequest(Contract):
    """Asks for a picture or a video."""

    kind: Literal["image", "video"]
    title: Text200
    words: tuple[Text2200, ...] = Field(default=(), max_length=20)
    platform: Text80 = ""


class MediaService:
    """Asks the tool for the kind. Without one a picture is a card of the words, and a video is left out (O-6).

    A tool that fails three times leaves content without media (CH-26): no card stands in for what it should have made.
    """

    def __init__(
        self, tools: MediaTools, cards: ContentCards, api_url: str, *, within_seconds: float = WITHIN_SECONDS
    ) -> None:
        """``api_url`` is where clients reach the API."""
        self._tools = tools
        self._cards = cards
        self._api_url = api_url
        self._within = within_seconds
        # A card is an answer that is kept: nothing of it is seen outside.
        self.methods: Mapping[str, Method] = {"make": Method(MediaRequest, self._make, reads=True)}

    async def _make(self, asker: Asker, asked: MediaRequest) -> dict[str, Any]:
        """``{"media_urls", "made_by"}``, by ``tool`` or as a ``card``."""
        if self._tools.has(asked.kind):
            return {"media_urls": list(await self._by_tool(asked)), "made_by": "tool"}
        if asked.kind == "image":
            return {"media_urls": [await self._card(asker, asked)], "made_by": "card"}
        text = f"No tool that makes a {asked.kind} is connected (media_servers)."
        raise BrokerRefused("MEDIA_GENERATION_FAILED", text)

    async def _card(self, asker: Asker, asked: MediaRequest) -> str:
        card = content_card(asked.title, asked.words, asked.platform).encode()
        try:
            digest = await asyncio.to_thread(self._cards.keep, asker.owner, card, asker.at)
        except Refusal as refusal:
            raise BrokerRefused("MEDIA_GENERATION_FAILED", refusal.message) from None
        return f"{self._api_url}/api/skills/media/{digest}"

    async def _by_tool(self, asked: MediaRequest) -> tuple[str, ...]:
        prompt = "\n".join((asked.title, *asked.words))
        until, why = time.monotonic() + self._within, ""
        for _ in range(TRIES):
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                return await self._tools.make(asked.kind, prompt, left)
            except MediaFailed as failed:
                why = str(failed)
                log.warning("a medium was not made", kind=asked.kind, why=why)
        raise BrokerRefused("MEDIA_GENERATION_FAILED", f"{why}.")
