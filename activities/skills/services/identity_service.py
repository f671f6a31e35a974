"""The service ``identity``: the one writer of identity links in OpenClaw's configuration (OC-15…OC-17, X-16)."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from activities.skills.services.offered import Asker, Method
from contracts.skills.identities import LinkIdentityRequest, UnlinkIdentityRequest
from skills.runtime.broker import BrokerRefused
from stores.skills.services.identity_links import ConfigUnreadable, IdentityConflict, IdentityLinks

_Done = TypeVar("_Done")


class IdentityService:
    """Names and what belongs to them."""

    def __init__(self, links: IdentityLinks) -> None:
        self._links = links
        self.methods: Mapping[str, Method] = {
            "link": Method(LinkIdentityRequest, self._link),
            "unlink": Method(UnlinkIdentityRequest, self._unlink),
        }

    async def _link(self, asker: Asker, asked: LinkIdentityRequest) -> dict[str, Any]:
        if asked.name in ("constructor", "prototype"):
            raise BrokerRefused("INVALID_INPUT", "name: is no name of a person", never_left=True)
        await self._doing(lambda: self._links.link(asked.name, (asked.peerId, *asked.channels)))
        return {"ok": True, "identity": asked.name}

    async def _unlink(self, asker: Asker, asked: UnlinkIdentityRequest) -> dict[str, Any]:
        return {"ok": await self._doing(lambda: self._links.unlink(asked.name)), "identity": asked.name}

    async def _doing(self, work: Callable[[], _Done]) -> _Done:
        try:
            return await asyncio.to_thread(work)
        except IdentityConflict as error:
            raise BrokerRefused("IDENTITY_CONFLICT", str(error)) from None
        except ConfigUnreadable as error:
            raise BrokerRefused("CONFIG_UNREADABLE", str(error)) from None
