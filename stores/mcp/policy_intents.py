"""Policy changed by an intent: what a wrapper may wish, carried out as every other decision (DOC3 §0.2G)."""

from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import Connection

from contracts.base import clipped
from contracts.configuration.intent import Configuration, ConfigurationIntent, ConfigurationTarget
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.policy import MCPPolicyUpdateRequest
from domain.mcp.call_facts import Policies
from domain.mcp.policy_targets import target_key
from stores.database import Database
from stores.mcp.policies import decide, policies_of
from stores.mcp.receipts import Told


def wished(intent: ConfigurationIntent) -> MCPPolicyUpdateRequest:
    """The change of policy that the intent's payload asks for: ``{"target": …, "decision": …}``.

    Raises:
        Refusal: ``VALIDATION_FAILED``, naming the field of the payload.
    """
    try:
        return MCPPolicyUpdateRequest.model_validate(intent.payload)
    except ValidationError as error:
        # Without the values: a secret may be among them.
        places = [".".join(("payload", *map(str, one["loc"]))) for one in error.errors(include_input=False)]
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "A connector policy's payload is {target, decision}, as POST /api/mcp/policy/update takes it.",
            fields=[clipped(place, 160) for place in places[:20]],
        ) from None


def carry_out_policy(
    connection: Connection, intent: ConfigurationIntent, told: Told
) -> tuple[bool, Configuration]:
    """Decides as wished, and answers whether that changed anything, with all that is decided now.

    Raises:
        Refusal: as ``wished`` and ``stores.mcp.policies.decide``.
    """
    asked = wished(intent)
    before = policies_of(connection, told.owner)
    if _holds(before, asked):
        return False, _as_configuration(before, told.owner)
    decide(connection, asked.target, asked.decision, told)
    return True, _as_configuration(policies_of(connection, told.owner), told.owner, told.at)


def policy_configuration(database: Database, owner: str) -> Configuration:
    """The owner's policy as configuration: each decision by its target."""
    with database.read() as connection:
        return _as_configuration(policies_of(connection, owner), owner)


def _holds(policies: Policies, asked: MCPPolicyUpdateRequest) -> bool:
    key, wish = target_key(asked.target), asked.decision
    return any(
        target_key(one.target) == key
        and (one.decision.mode, one.decision.expires_at, one.decision.reason_code)
        == (wish.mode, wish.expires_at, wish.reason_code)
        for one in policies.decisions
    )


def _as_configuration(policies: Policies, owner: str, at: datetime | None = None) -> Configuration:
    newest = max((one.decision.updated_at for one in policies.decisions), default=None)
    return Configuration(
        target=ConfigurationTarget.CONNECTOR_POLICY,
        owner_user_id=owner,
        fields={
            target_key(one.target): one.decision.model_dump(mode="json", exclude_none=True)
            for one in policies.decisions
        },
        revision=policies.version,
        changed_at=at or newest,
    )
