"""Decisions of policy as rows, with the files that show them all.

The lists of runtimes' providers are kept beside the decisions, so that one count covers every change of policy.
"""

from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import Connection, func, or_, select

from contracts.base import rfc3339
from contracts.mcp.policy import MCPPolicyDecision, MCPPolicyTarget, MCPToolTarget
from contracts.mcp.runtime_policy import MCPProviderPolicy, MCPRuntimeProvider, MCPStandingDecision
from domain.mcp.call_facts import Policies
from domain.mcp.policy_targets import levels_above, target_key
from stores.canonical import canonical_json, document_bytes
from stores.documents import put_document
from stores.mcp_tables import mcp_policies
from stores.paging import PageRequest, fetch_page
from stores.turns import one_at_a_time
from stores.upsert import insert_or

DECISIONS_FILE = "system/mcp/policy_current.json"
RUNTIMES_FILE = "system/mcp/provider_policy_current.json"

_OF_PROVIDER, _OF_RUNTIME = "provider:", "runtime:"


def policies_of(connection: Connection, owner: str, *, reaching: MCPToolTarget | None = None) -> Policies:
    """An owner's policy as it is now; only what a call of the tool ``reaching`` can fall under, if one is named."""
    query = select(mcp_policies.c.target, mcp_policies.c.body).where(mcp_policies.c.owner == owner)
    if reaching is not None:
        keys = [target_key(at) for at in levels_above(reaching, None)]
        query = query.where(
            or_(
                mcp_policies.c.target.in_(keys),
                mcp_policies.c.target.startswith(_OF_PROVIDER),
                mcp_policies.c.target.startswith(_OF_RUNTIME),
            )
        )
    decisions: list[MCPStandingDecision] = []
    runtimes: list[MCPProviderPolicy] = []
    for row in connection.execute(query.order_by(mcp_policies.c.target)):
        if row.target.startswith(_OF_RUNTIME):
            runtimes.append(MCPProviderPolicy.model_validate_json(row.body))
        else:
            decisions.append(MCPStandingDecision.model_validate_json(row.body))
    return Policies(decisions=tuple(decisions), runtimes=tuple(runtimes), version=_version(connection, owner))


def decisions_page(
    connection: Connection, owner: str, wanted: PageRequest
) -> tuple[tuple[MCPStandingDecision, ...], int]:
    """One page of what the owner decided, newest first, and how many decisions there are."""
    query = (
        select(mcp_policies.c.body)
        .where(mcp_policies.c.owner == owner, ~mcp_policies.c.target.startswith(_OF_RUNTIME))
        .order_by(mcp_policies.c.version.desc(), mcp_policies.c.target)
    )
    found = fetch_page(connection, query, wanted)
    return tuple(MCPStandingDecision.model_validate_json(row.body) for row in found.rows), found.total


def all_runtimes(policies: Policies) -> tuple[MCPProviderPolicy, ...]:
    """One policy for each provider of runtimes, the one that allows all where nobody has decided."""
    known = {policy.provider: policy for policy in policies.runtimes}
    return tuple(known.get(one) or MCPProviderPolicy(provider=one) for one in MCPRuntimeProvider)


def take_turn(connection: Connection, owner: str) -> None:
    """Changes of one owner's policy are made one after another, so that each has a number of its own."""
    one_at_a_time(connection, f"mcp policy {owner}")


def put_decision(
    connection: Connection, owner: str, target: MCPPolicyTarget, decision: MCPPolicyDecision
) -> MCPStandingDecision:
    """Keeps a decision in the place of what was decided for its target. The turn must be taken."""
    version = _version(connection, owner) + 1
    made = MCPStandingDecision(target=target, decision=decision, policy_version=version)
    _put(connection, owner, target_key(target), version, decision.updated_at, made)
    _project(connection, DECISIONS_FILE, runtimes=False)
    return made


def put_runtime(connection: Connection, owner: str, policy: MCPProviderPolicy, at: datetime) -> None:
    """Keeps the lists of one provider's runtimes. The turn must be taken."""
    version = _version(connection, owner) + 1
    _put(connection, owner, _OF_RUNTIME + policy.provider.value, version, at, policy)
    _project(connection, RUNTIMES_FILE, runtimes=True)


def _version(connection: Connection, owner: str) -> int:
    newest = select(func.max(mcp_policies.c.version)).where(mcp_policies.c.owner == owner)
    return connection.scalar(newest) or 0


def _put(
    connection: Connection, owner: str, target: str, version: int, at: datetime, body: BaseModel
) -> None:
    statement = insert_or(connection, mcp_policies).values(
        owner=owner, target=target, version=version, updated_at=rfc3339(at), body=canonical_json(body)
    )
    fresh = {name: statement.excluded[name] for name in ("version", "updated_at", "body")}
    connection.execute(statement.on_conflict_do_update(index_elements=["owner", "target"], set_=fresh))


def _project(connection: Connection, path: str, *, runtimes: bool) -> None:
    # Owners write one file: without taking turns, the one that commits last would leave the other out.
    one_at_a_time(connection, path)
    of_runtime = mcp_policies.c.target.startswith(_OF_RUNTIME)
    rows = connection.execute(
        select(mcp_policies.c.owner, mcp_policies.c.body)
        .where(of_runtime if runtimes else ~of_runtime)
        .order_by(mcp_policies.c.owner, mcp_policies.c.target)
    )
    model = MCPProviderPolicy if runtimes else MCPStandingDecision
    current = [
        {
            "owner_user_id": row.owner,
            **model.model_validate_json(row.body).model_dump(mode="json", exclude_none=True),
        }
        for row in rows
    ]
    put_document(connection, "memory", path, document_bytes(current))
