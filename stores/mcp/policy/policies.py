"""Policy decisions: change one with its receipt, evaluate a target, and change policy by intent (DOC3 §0.2G)."""

from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import Connection, select

from contracts.abilities.capability_health import CapabilityEventName
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import ToolEffect
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyListResponse,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyUpdateRequest,
    MCPPolicyWish,
    MCPProviderLists,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.tools import MCPToolState
from contracts.plain_problems import field_problems
from contracts.platform.commands import CommitKey
from contracts.platform.configuration import Configuration, ConfigurationIntent, ConfigurationTarget
from domain.mcp.policy import effective_of
from domain.mcp.policy_defaults import listed_defaults
from domain.mcp.policy_facts import Policies, named, target_key
from stores.mcp.mcp_tables import mcp_servers, mcp_tools
from stores.mcp.policy.grants import revoke_grant
from stores.mcp.policy.policy_rows import (
    all_runtimes,
    decisions_page,
    lock_policy,
    must_end_grant,
    named_by,
    policies_of,
    put_decision,
    put_runtime,
)
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.tools import pin_seen
from stores.platform.answers import answered
from stores.platform.database import Database, PageRequest
from stores.platform.journal.journal import JournalEntries, append

__all__ = ["PolicyStore", "decide", "decision_of", "effective_at", "policies_of"]


def effective_at(
    connection: Connection, owner: str, target: MCPPolicyTarget, now: datetime
) -> MCPEffectivePolicy:
    """The effective policy of a target and its source; an unknown tool counts as one that writes.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``.
    """
    known = policies_of(connection, owner)
    server, tool = named_by(connection, owner, target)
    if server is None:
        return effective_of(target, known, now)
    effect, state = ToolEffect.READ, MCPToolState.PINNED
    if isinstance(target, MCPToolTarget):
        effect, state = (tool.effect, tool.state) if tool else (ToolEffect.UPDATE, MCPToolState.ADDED)
    return effective_of(
        target,
        known,
        now,
        provider=server.provider,
        effect=effect,
        tool_state=state,
        data_classes=server.data_classes,
    )


def decision_of(wish: MCPPolicyWish, at: datetime) -> MCPPolicyDecision:
    """What is wished as a decision that a person makes at ``at``."""
    return MCPPolicyDecision(
        mode=wish.mode,
        expires_at=wish.expires_at,
        reason_code=wish.reason_code,
        updated_by=MCPPolicyAuthor.USER,
        updated_at=at,
    )


_NO_SUCH_TOOL = "No tool of that name is known there now; it holds if one comes."


def decide(
    connection: Connection, target: MCPPolicyTarget, wish: MCPPolicyWish, context: ReceiptContext
) -> MCPEffectivePolicy:
    """Decides for one target of ``context.owner`` with a receipt, in the caller's transaction.

    A decision that is over at once leaves the target to what is decided above it. Allowing a tool that nobody
    has looked at yet pins it as it is now: later changes are not covered. A tool that
    its server has not listed yet can be decided for too: a denial holds from its first listing on, an allowance not
    before somebody has looked at it.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_GRANT_NOT_FOUND``;
            ``VALIDATION_FAILED`` for a standing approval that is to be anything but disabled.
    """
    lock_policy(connection, context.owner)
    made = decision_of(wish, context.at)
    if isinstance(target, MCPTemporaryGrantTarget):
        grant = must_end_grant(connection, context.owner, target, wish)
        revoke_grant(connection, grant, context.actor or context.owner, context)
        return MCPEffectivePolicy(target=target, decision=made)
    _, tool = named_by(connection, context.owner, target)
    pinned = False
    if tool is not None and made.mode is MCPPolicyMode.ENABLED and tool.pinned_hash is None:
        pinned = pin_seen(
            connection, tool.server_id, tool.definition.tool_name, tool.definition_hash, context.at
        )
    put_decision(connection, context.owner, target, made)
    ends = f" until {made.expires_at:%Y-%m-%d %H:%M} UTC" if made.expires_at else ""
    if made.expires_at is not None and made.expires_at <= context.at:
        summary = f"What was decided for {named(target)} was taken back."
    else:
        pins = " The tool is pinned as it is now." if pinned else ""
        unseen = (
            " Its server has not listed it yet." if isinstance(target, MCPToolTarget) and not tool else ""
        )
        summary = f"Policy for {named(target)}: {made.mode.value}{ends}.{pins}{unseen}"
    _add_receipt(connection, context, summary, getattr(target, "server_id", None))
    holds = effective_at(connection, context.owner, target, context.at)
    known = tool is not None and tool.state is not MCPToolState.REMOVED
    return holds if known or not isinstance(target, MCPToolTarget) else holds.changed(note=_NO_SUCH_TOOL)


class PolicyStore:
    """The policies of all owners. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def update(
        self, asked: MCPPolicyUpdateRequest, key: CommitKey, context: ReceiptContext
    ) -> MCPEffectivePolicy:
        """Decides for a target, once a key. ``context.at`` and the caller stand in for what the request says of both.

        Raises:
            Refusal: as ``decide``, and ``IDEMPOTENCY_KEY_REUSED``.
        """
        return answered(
            self._database,
            key,
            MCPEffectivePolicy,
            lambda connection: decide(connection, asked.target, asked.decision, context),
        )

    def replace_runtime(
        self, lists: MCPProviderLists, key: CommitKey, context: ReceiptContext
    ) -> MCPProviderPolicy:
        """Replaces the lists of one provider's runtimes. What they name need not exist: a list may be made ahead.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        return answered(
            self._database, key, MCPProviderPolicy, lambda connection: _replaced(connection, lists, context)
        )

    def effective(self, owner: str, target: MCPPolicyTarget, now: datetime) -> MCPEffectivePolicy:
        """As ``effective_at``."""
        with self._database.read() as connection:
            return effective_at(connection, owner, target, now)

    def list_for(self, owner: str, wanted: PageRequest) -> MCPPolicyListResponse:
        """A page of what the owner decided, newest first, with what holds where nothing is decided."""
        with self._database.read() as connection:
            policies = policies_of(connection, owner)
            found = decisions_page(connection, owner, wanted)
        return MCPPolicyListResponse(
            policy_version=policies.version,
            decisions=found.documents,
            **found.counts,
            defaults=listed_defaults(),
            providers=all_runtimes(policies),
        )

    def runtimes_for(self, owner: str) -> MCPProviderPolicyListResponse:
        """The lists of every provider's runtimes."""
        with self._database.read() as connection:
            policies = policies_of(connection, owner)
        return MCPProviderPolicyListResponse(policies=all_runtimes(policies), policy_version=policies.version)


def _replaced(connection: Connection, lists: MCPProviderLists, context: ReceiptContext) -> MCPProviderPolicy:
    lock_policy(connection, context.owner)
    given = {name: getattr(lists, name) for name in MCPProviderLists.model_fields}
    made = MCPProviderPolicy(**given, updated_at=context.at)
    put_runtime(connection, context.owner, made, context.at)
    allowed = "may use tool servers, within its lists" if made.allow_mcp else "may use no tool server"
    _add_receipt(connection, context, f"Runtimes of {made.provider.value}: each {allowed}.", None)
    unknown = sorted({*made.allowed_tools, *made.denied_tools} - _tool_names(connection, context.owner))
    if not unknown:
        return made
    names = ", ".join(clipped(name, 120) for name in unknown[:3]) + (
        " and others" if len(unknown) > 3 else ""
    )
    return made.changed(note=f"No tool of that name is known now: {names}. It holds if one comes.")


def _tool_names(connection: Connection, owner: str) -> set[str]:
    """The owner's tools as lists may name them: alone, and with their server."""
    rows = connection.execute(
        select(mcp_tools.c.server_id, mcp_tools.c.tool_name)
        .join(mcp_servers, mcp_servers.c.server_id == mcp_tools.c.server_id)
        .where(mcp_servers.c.owner == owner, mcp_tools.c.state != MCPToolState.REMOVED.value)
    )
    return {name for row in rows for name in (row.tool_name, f"{row.server_id}/{row.tool_name}")}


def _add_receipt(
    connection: Connection, context: ReceiptContext, summary: str, server_id: str | None
) -> None:
    _, entry = receipt(
        context,
        MCPReceiptKind.POLICY_UPDATE,
        MCPReceiptStatus.OK,
        summary,
        server_id=server_id,
    )
    entries = JournalEntries(context.aggregate, context.owner, context.correlation_id, context.at)
    entries.capability_event(CapabilityEventName.MCP_POLICY_CHANGED, server_id=server_id)
    append(connection, [entry, *entries.drafts])


def wished(intent: ConfigurationIntent) -> MCPPolicyUpdateRequest:
    """The change of policy that the intent's payload asks for: ``{"target": …, "decision": …}``.

    Raises:
        Refusal: ``VALIDATION_FAILED``, naming the field of the payload.
    """
    try:
        return MCPPolicyUpdateRequest.model_validate(intent.payload)
    except ValidationError as error:
        problems = field_problems(error, whole="payload", under=("payload",))
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "A connector policy's payload is {target, decision}, as POST /api/mcp/policy/update takes it.",
            fields=[one._asdict() for one in problems[:20]],
        ) from None


def carry_out_policy(
    connection: Connection, intent: ConfigurationIntent, context: ReceiptContext
) -> tuple[bool, Configuration]:
    """Decides as wished, and answers whether that changed anything, with all that is decided now.

    Raises:
        Refusal: as ``wished`` and ``stores.mcp.policy.policies.decide``.
    """
    asked = wished(intent)
    before = policies_of(connection, context.owner)
    if _holds(before, asked):
        return False, _as_configuration(before, context.owner)
    decide(connection, asked.target, asked.decision, context)
    return True, _as_configuration(policies_of(connection, context.owner), context.owner, context.at)


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
