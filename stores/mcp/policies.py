"""Policy: decided in one transaction with its receipt, and asked what holds for a target."""

from datetime import datetime

from sqlalchemy import Connection

from contracts.learning.aggregate import CommitKey
from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyUpdateRequest,
    MCPPolicyWish,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.runtime_policy import (
    MCPPolicyListResponse,
    MCPProviderLists,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
)
from contracts.mcp.tools import MCPToolState
from domain.mcp.call_facts import Policies
from domain.mcp.policy import effective_of
from domain.mcp.policy_defaults import listed_defaults
from domain.mcp.policy_targets import named
from stores.answers import answered_within
from stores.canonical import canonical_json
from stores.database import Database
from stores.journal import append
from stores.mcp.grants import revoke_grant
from stores.mcp.policy_rows import (
    all_runtimes,
    decisions_page,
    policies_of,
    put_decision,
    put_runtime,
    take_turn,
)
from stores.mcp.policy_targets import must_end_grant, named_by
from stores.mcp.receipts import Told, receipt
from stores.mcp.tools import pin_seen
from stores.paging import PageRequest

__all__ = ["PolicyStore", "decide", "decision_of", "effective_at", "policies_of"]


def effective_at(
    connection: Connection,
    owner: str,
    target: MCPPolicyTarget,
    now: datetime,
    policies: Policies | None = None,
) -> MCPEffectivePolicy:
    """What holds for a target, and where it comes from; a tool that nobody has seen counts as one that changes.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``.
    """
    known = policies if policies is not None else policies_of(connection, owner)
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


def decide(
    connection: Connection, target: MCPPolicyTarget, wish: MCPPolicyWish, told: Told
) -> MCPEffectivePolicy:
    """Decides for one target of ``told.owner`` with a receipt, in the caller's transaction.

    A decision that is over at once leaves the target to what is decided above it. Allowing a tool that nobody
    has looked at yet pins it as it is now: later changes are not covered.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_TOOL_NOT_FOUND``; ``MCP_GRANT_NOT_FOUND``;
            ``VALIDATION_FAILED`` for a standing approval that is to be anything but disabled.
    """
    take_turn(connection, told.owner)
    made = decision_of(wish, told.at)
    if isinstance(target, MCPTemporaryGrantTarget):
        grant = must_end_grant(connection, told.owner, target, wish)
        revoke_grant(connection, grant, told.actor or told.owner, told)
        return MCPEffectivePolicy(target=target, decision=made)
    _, tool = named_by(connection, told.owner, target, must_have_tool=True)
    pinned = False
    if tool is not None and made.mode is MCPPolicyMode.ENABLED and tool.state is MCPToolState.ADDED:
        pinned = pin_seen(
            connection, tool.server_id, tool.definition.tool_name, tool.definition_hash, told.at
        )
    put_decision(connection, told.owner, target, made)
    ends = f" until {made.expires_at:%Y-%m-%d %H:%M} UTC" if made.expires_at else ""
    if made.expires_at is not None and made.expires_at <= told.at:
        summary = f"What was decided for {named(target)} was taken back."
    else:
        pins = " The tool is pinned as it is now." if pinned else ""
        summary = f"Policy for {named(target)}: {made.mode.value}{ends}.{pins}"
    _tell(connection, told, summary, getattr(target, "server_id", None))
    return effective_at(connection, told.owner, target, told.at)


class PolicyStore:
    """The policies of all owners. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def update(self, asked: MCPPolicyUpdateRequest, key: CommitKey, told: Told) -> MCPEffectivePolicy:
        """Decides for a target, once a key. ``told.at`` and the caller stand in for what the request says of both.

        Raises:
            Refusal: as ``decide``, and ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.write() as connection:
            body = answered_within(
                connection,
                key,
                lambda: canonical_json(decide(connection, asked.target, asked.decision, told)),
            )
        return MCPEffectivePolicy.model_validate_json(body)

    def replace_runtime(self, lists: MCPProviderLists, key: CommitKey, told: Told) -> MCPProviderPolicy:
        """Replaces the lists of one provider's runtimes. What they name need not exist: a list may be made ahead.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.write() as connection:
            body = answered_within(connection, key, lambda: _replaced(connection, lists, told))
        return MCPProviderPolicy.model_validate_json(body)

    def effective(self, owner: str, target: MCPPolicyTarget, now: datetime) -> MCPEffectivePolicy:
        """As ``effective_at``."""
        with self._database.read() as connection:
            return effective_at(connection, owner, target, now)

    def list_for(self, owner: str, wanted: PageRequest) -> MCPPolicyListResponse:
        """A page of what the owner decided, newest first, with what holds where nothing is decided."""
        with self._database.read() as connection:
            policies = policies_of(connection, owner)
            decisions, total = decisions_page(connection, owner, wanted)
        return MCPPolicyListResponse(
            policy_version=policies.version,
            decisions=decisions,
            total=total,
            page=wanted.page,
            page_size=wanted.page_size,
            defaults=listed_defaults(),
            providers=all_runtimes(policies),
        )

    def runtimes_for(self, owner: str) -> MCPProviderPolicyListResponse:
        """The lists of every provider's runtimes."""
        with self._database.read() as connection:
            policies = policies_of(connection, owner)
        return MCPProviderPolicyListResponse(policies=all_runtimes(policies), policy_version=policies.version)


def _replaced(connection: Connection, lists: MCPProviderLists, told: Told) -> str:
    take_turn(connection, told.owner)
    given = {name: getattr(lists, name) for name in MCPProviderLists.model_fields}
    made = MCPProviderPolicy(**given, updated_at=told.at)
    put_runtime(connection, told.owner, made, told.at)
    allowed = "may use tool servers, within its lists" if made.allow_mcp else "may use no tool server"
    _tell(connection, told, f"Runtimes of {made.provider.value}: each {allowed}.", None)
    return canonical_json(made)


def _tell(connection: Connection, told: Told, summary: str, server_id: str | None) -> None:
    _, entry = receipt(
        told,
        MCPReceiptKind.POLICY_UPDATE,
        MCPReceiptStatus.OK,
        summary,
        server_id=server_id,
    )
    append(connection, [entry])
