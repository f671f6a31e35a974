"""The rows of policy decisions and of runtime allow lists, with their projected files; lookup of policy targets.

Decisions and runtime lists share one table, so that one version number covers every change of an owner's policy.
"""

from datetime import datetime

from sqlalchemy import Connection, func, null, or_, select, union_all

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.policy import (
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyWish,
    MCPProviderPolicy,
    MCPRuntimeProvider,
    MCPServerTarget,
    MCPStandingDecision,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool
from domain.mcp.policy_facts import Policies, levels_above, target_key
from stores.mcp.mcp_tables import mcp_policies
from stores.mcp.policy.grants import grant_of_dispatch
from stores.mcp.servers.server_rows import server_of
from stores.mcp.servers.tool_discovery import tool_of
from stores.platform.canonical import document_bytes
from stores.platform.database import PageRequest, advisory_lock
from stores.platform.document_table import DocumentPage, DocumentTable
from stores.platform.projection.documents import put_document

DECISIONS_FILE = "system/mcp/policy_current.json"
RUNTIMES_FILE = "system/mcp/provider_policy_current.json"

_OF_PROVIDER, _OF_RUNTIME = "provider:", "runtime:"

_DECISIONS = DocumentTable(
    mcp_policies,
    MCPStandingDecision,
    lambda made: {"target": target_key(made.target)},
    where=(~mcp_policies.c.target.startswith(_OF_RUNTIME),),
)

_RUNTIMES = DocumentTable(
    mcp_policies,
    MCPProviderPolicy,
    lambda policy: {"target": _OF_RUNTIME + policy.provider.value},
    where=(mcp_policies.c.target.startswith(_OF_RUNTIME),),
)


def policies_of(connection: Connection, owner: str, *, reaching: MCPToolTarget | None = None) -> Policies:
    """An owner's policy as it is now; only what a call of the tool ``reaching`` can fall under, if one is named."""
    query = select(mcp_policies.c.target, mcp_policies.c.body, mcp_policies.c.version)
    query = query.where(mcp_policies.c.owner == owner)
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
    version = 0
    # The newest of all comes with them, by the same statement: another may have been decided meanwhile.
    newest = select(null(), null(), func.max(mcp_policies.c.version)).where(mcp_policies.c.owner == owner)
    for row in sorted(connection.execute(union_all(query, newest)), key=lambda row: row.target or ""):
        if row.target is None:
            version = row.version or 0
        elif row.target.startswith(_OF_RUNTIME):
            runtimes.append(_RUNTIMES.parse(row.body))
        else:
            decisions.append(_DECISIONS.parse(row.body))
    return Policies(decisions=tuple(decisions), runtimes=tuple(runtimes), version=version)


def decisions_page(
    connection: Connection, owner: str, wanted: PageRequest
) -> DocumentPage[MCPStandingDecision]:
    """One page of what the owner decided, newest first."""
    order = (mcp_policies.c.version.desc(), mcp_policies.c.target)
    return _DECISIONS.page(connection, wanted, mcp_policies.c.owner == owner, order_by=order)


def all_runtimes(policies: Policies) -> tuple[MCPProviderPolicy, ...]:
    """One policy for each provider of runtimes; the default allows all."""
    known = {policy.provider: policy for policy in policies.runtimes}
    return tuple(known.get(one) or MCPProviderPolicy(provider=one) for one in MCPRuntimeProvider)


def lock_policy(connection: Connection, owner: str) -> None:
    """Serialises changes of one owner's policy (advisory lock), so that each has its own version."""
    advisory_lock(connection, f"mcp policy {owner}")


def put_decision(
    connection: Connection, owner: str, target: MCPPolicyTarget, decision: MCPPolicyDecision
) -> MCPStandingDecision:
    """Replaces the decision for a target. The policy must be locked."""
    version = _version(connection, owner) + 1
    made = MCPStandingDecision(target=target, decision=decision, policy_version=version)
    _DECISIONS.put(connection, made, owner=owner, version=version, updated_at=rfc3339(decision.updated_at))
    _project(connection, DECISIONS_FILE, _DECISIONS)
    return made


def put_runtime(connection: Connection, owner: str, policy: MCPProviderPolicy, at: datetime) -> None:
    """Replaces the lists of one provider's runtimes. The policy must be locked."""
    version = _version(connection, owner) + 1
    _RUNTIMES.put(connection, policy, owner=owner, version=version, updated_at=rfc3339(at))
    _project(connection, RUNTIMES_FILE, _RUNTIMES)


def _version(connection: Connection, owner: str) -> int:
    newest = select(func.max(mcp_policies.c.version)).where(mcp_policies.c.owner == owner)
    return connection.scalar(newest) or 0


def _project(
    connection: Connection,
    path: str,
    table: DocumentTable[MCPStandingDecision] | DocumentTable[MCPProviderPolicy],
) -> None:
    # Owners write one file: unless they lock it, the one that commits last would leave the other out.
    advisory_lock(connection, path)
    order = (mcp_policies.c.owner, mcp_policies.c.target)
    current = [
        {"owner_user_id": owner, **document.model_dump(mode="json", exclude_none=True)}
        for owner, document in table.all_with_owner(connection, order_by=order)
    ]
    put_document(connection, "memory", path, document_bytes(current))


def named_by(
    connection: Connection, owner: str, target: MCPPolicyTarget
) -> tuple[MCPServerRegistryEntry | None, MCPTool | None]:
    """The owner's server and tool that a policy target names; no tool where its server has not listed it yet.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``.
    """
    if not isinstance(target, MCPServerTarget | MCPToolTarget):
        return None, None
    server = server_of(connection, target.server_id, owner)
    if not isinstance(target, MCPToolTarget):
        return server, None
    return server, tool_of(connection, target.server_id, target.tool_name)


def must_end_grant(
    connection: Connection, owner: str, target: MCPTemporaryGrantTarget, wish: MCPPolicyWish
) -> MCPGrant:
    """The grant that a policy change revokes.

    Raises:
        Refusal: ``VALIDATION_FAILED`` when something else is to become of it; ``MCP_GRANT_NOT_FOUND``.
    """
    if wish.mode is not MCPPolicyMode.DISABLED:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "A standing approval comes from approving a call; here it can only be disabled, which takes it back.",
            fields=["decision.mode"],
        )
    grant = grant_of_dispatch(connection, target.dispatch_id, owner)
    if grant is None:
        raise Refusal(
            ErrorCode.MCP_GRANT_NOT_FOUND,
            "The approval of that call gave no standing approval; list them: GET /api/mcp/grants.",
        )
    return grant
