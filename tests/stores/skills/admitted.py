"""Invocations as the gate lets them in, on a small store."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from contracts.skills.catalog import SkillRoot
from contracts.skills.invocation_work import InvocationOrder
from contracts.skills.manifest import SkillManifest
from contracts.skills.policy import SkillBudget
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database
from stores.skills.admission import Admitted, SkillAdmission

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
PARAMS = canonical_json({"text": "x"}).encode()


def order_of(manifest: SkillManifest, now: datetime = NOW, **fields: Any) -> InvocationOrder:
    """The order of one invocation of a skill, by alice."""
    known: dict[str, Any] = {
        "invocation_id": str(uuid4()),
        "correlation_id": "test",
        "owner_user_id": "alice",
        "token_id": str(uuid4()),
        "skill": manifest.name,
        "function_name": manifest.function_name,
        "version": manifest.version,
        "root": SkillRoot.WORKSPACE,
        "digest": "0" * 64,
        "input_digest": digest_of(PARAMS),
        "effect": manifest.effect,
        "cache_key": digest_of(manifest.name.encode()) if manifest.cache_ttl_ms else None,
        "created_at": now,
    }
    return InvocationOrder.model_validate({**known, **fields})


class Gate:
    """The admission of one store, with a budget that nothing here exhausts."""

    def __init__(self, store: Database) -> None:
        self._admission = SkillAdmission(
            store,
            confirmation_expiry=timedelta(minutes=30),
            budget=SkillBudget(per_minute=1_000, per_hour=1_000, at_once=100, waits_seconds=0),
        )

    def admit(
        self,
        manifest: SkillManifest,
        now: datetime = NOW,
        *,
        asks: bool = False,
        confirmed: bool = False,
        **fields: Any,
    ) -> Admitted:
        """Lets one invocation in."""
        order = order_of(manifest, now, **fields)
        return self._admission.admit(order, manifest, PARAMS, now, asks=asks, confirmed=confirmed)
