"""The service ``directory``: registers agents at the OpenClaw directory, signed by their keys (CH-57…CH-60, O-5)."""

import asyncio
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import rfc8785
from pydantic import Field, ValidationError

from activities.skills.services.offered import Asker, Method
from clients.skills.directory import DirectoryFailed, OpenClawDirectory
from contracts.base import Contract, Text80, Text120, UtcTime, Uuid, rfc3339
from contracts.skills.agents import MAX_CAPABILITIES, AgentStatus
from contracts.skills.wallets import WalletAddress
from domain.skills.detached_signature import detached, signing_input
from domain.skills.retrying import attempts_allowed
from skills.runtime.broker import BrokerRefused
from stores.skills.services.agent_keys import AgentKeys


class ReceivedProfile(Contract):
    """A profile as it is received; what is not required may be left out (O-1)."""

    agent_id: Uuid
    name: Text120 = Field(min_length=1)
    status: AgentStatus
    capabilities: tuple[Text80, ...] = Field(default=(), max_length=MAX_CAPABILITIES)
    wallet_address: WalletAddress | None = None
    wallet_balance: float | None = Field(default=None, ge=0)
    pending_tasks: int | None = Field(default=None, ge=0)
    last_execution: UtcTime | None = None
    version: int | None = Field(default=None, ge=1)
    owner_user_id: Text120 | None = None
    public_key: Text120 | None = None


class RegisterRequest(Contract):
    """Asks for a registration."""

    agent_profile: dict[str, Any]


class DirectoryService:
    """Signs a profile with its agent's key, and registers it through the gateway, if there is one."""

    def __init__(self, keys: AgentKeys, directory: OpenClawDirectory | None) -> None:
        self._keys = keys
        self._directory = directory
        self.methods: Mapping[str, Method] = {"register": Method(RegisterRequest, self._register)}

    async def _register(self, asker: Asker, asked: RegisterRequest) -> dict[str, Any]:
        """``{"registered", "profile_url", "directory_id", "registered_at", "warnings"}``.

        At the last attempt a registration that failed is no error any more: the agent goes on unregistered.
        """
        try:
            profile = ReceivedProfile.model_validate(asked.agent_profile)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise BrokerRefused("INVALID_PROFILE", f"agent_profile.{where} is missing or wrong.") from None
        owner, agent_id = asker.owner, profile.agent_id
        public = await asyncio.to_thread(self._keys.public_key, agent_id, owner)
        if public is None:
            raise BrokerRefused("INVALID_PROFILE", "agent_profile.agent_id: there is no such agent of yours.")
        if profile.owner_user_id not in (None, owner) or profile.public_key not in (None, public):
            raise BrokerRefused("INVALID_PROFILE", "agent_profile: its owner or public key is another's.")
        if self._directory is None:
            return _unregistered("REGISTRATION_FAILED: no gateway is configured (openclaw_gateway_url).")
        shown = profile.changed(owner_user_id=owner, public_key=public).model_dump(
            mode="json", exclude_none=True
        )
        header, content = signing_input(shown, agent_id)
        signature = detached(header, await asyncio.to_thread(self._keys.sign, agent_id, owner, content))
        key = hashlib.sha256(rfc8785.dumps(shown)).hexdigest()
        try:
            entry = await self._directory.register(shown, signature, f"{agent_id}:{key[:32]}")
        except DirectoryFailed as failed:
            if failed.code == "INVALID_PROFILE":
                raise BrokerRefused(failed.code, str(failed)) from None
            last = asker.attempt >= attempts_allowed(asker.manifest, failed.code)
            if failed.retryable and not last:
                raise BrokerRefused(failed.code, str(failed)) from None
            return _unregistered(f"{failed.code}: {failed} The agent goes on unregistered."[:240])
        return {"registered_at": rfc3339(datetime.now(UTC)), **entry, "warnings": []}


def _unregistered(warning: str) -> dict[str, Any]:
    return {"registered": False, "warnings": [warning]}
