"""Default policy rules as data, one row a rule (DOC3 §0.6C, L13920-13924, L14025-14031)."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.learning.observation import ToolEffect
from contracts.mcp.policy import (
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyDefault,
    MCPPolicyMode,
    MCPRuntimeProvider,
)
from contracts.mcp.provider import MCPProvider
from contracts.mcp.tools import MCPToolState

DEFAULTS_SINCE = datetime(2026, 1, 1, tzinfo=UTC)
"""The date that decisions made by nobody carry."""

CONFIDENTIAL_CLASSES = frozenset({"confidential", "privileged"})
"""The data classes (DOC3 §1.1R ``data_class``) that ask for more care."""

STRICTNESS = {MCPPolicyMode.ENABLED: 0, MCPPolicyMode.ASK_FIRST: 1, MCPPolicyMode.DISABLED: 2}
"""How much a mode forbids."""


@dataclass(frozen=True)
class DefaultRule:
    """One row: it fits a call that fits each of its conditions; a condition left out fits every call."""

    code: str
    mode: MCPPolicyMode
    applies_to: str
    why: str
    effects: frozenset[ToolEffect] | None = None
    tool_states: frozenset[MCPToolState] | None = None
    providers: frozenset[MCPProvider] | None = None
    data_classes: frozenset[str] | None = None
    server_names: frozenset[str] | None = None
    """Names as they begin the ids that registrations make; see ``server_name``."""
    runtimes: frozenset[MCPRuntimeProvider] | None = None

    def fits(
        self,
        *,
        effect: ToolEffect,
        tool_state: MCPToolState,
        provider: MCPProvider | None,
        data_classes: Collection[str],
        server_id: str | None,
        runtime: MCPRuntimeProvider,
    ) -> bool:
        """Whether a call like this falls under the row."""
        return (
            (self.effects is None or effect in self.effects)
            and (self.tool_states is None or tool_state in self.tool_states)
            and (self.providers is None or provider in self.providers)
            and (self.data_classes is None or not self.data_classes.isdisjoint(data_classes))
            and (self.server_names is None or server_name(server_id) in self.server_names)
            and (self.runtimes is None or runtime in self.runtimes)
        )

    @property
    def decision(self) -> MCPPolicyDecision:
        """The row as a decision that nobody made."""
        return MCPPolicyDecision(
            mode=self.mode,
            reason_code=self.code,
            updated_by=MCPPolicyAuthor.SYSTEM,
            updated_at=DEFAULTS_SINCE,
        )


def server_name(server_id: str | None) -> str | None:
    """The name that a server was registered under, in the spelling of ids: without the chance at its end."""
    return _CHANCE.sub("", server_id) if server_id is not None else None


_CHANCE = re.compile(r"-[0-9a-f]{10}$")

DEFAULT_RULES: tuple[DefaultRule, ...] = (
    DefaultRule(
        "default_read",
        MCPPolicyMode.ENABLED,
        "reads, searches and lists",
        "Reading changes nothing, so it is allowed by default.",
        effects=frozenset({ToolEffect.READ}),
    ),
    DefaultRule(
        "default_change",
        MCPPolicyMode.ASK_FIRST,
        "creating, changing, deleting and sending",
        "It changes or sends something, so a person is asked first by default.",
        effects=frozenset(ToolEffect) - {ToolEffect.READ},
    ),
    DefaultRule(
        "default_unreviewed_tool",
        MCPPolicyMode.ASK_FIRST,
        "tools whose definition changed since a person looked at it",
        "Its definition changed and nobody has looked at the new one, so a person is asked first.",
        tool_states=frozenset({MCPToolState.CHANGED}),
    ),
    DefaultRule(
        "default_confidential_microsoft",
        MCPPolicyMode.ASK_FIRST,
        "confidential or privileged data of Microsoft 365",
        "Reading confidential data of Microsoft 365 asks a person first by default.",
        providers=frozenset({MCPProvider.M365}),
        data_classes=CONFIDENTIAL_CLASSES,
    ),
    DefaultRule(
        "default_confidential_documents",
        MCPPolicyMode.ASK_FIRST,
        "confidential or privileged documents of Acrobat",
        "Reading a confidential document asks a person first by default.",
        providers=frozenset({MCPProvider.ACROBAT}),
        data_classes=CONFIDENTIAL_CLASSES,
    ),
    DefaultRule(
        "default_local_files",
        MCPPolicyMode.DISABLED,
        "the local files server",
        "The local files server is switched off until somebody allows it.",
        server_names=frozenset({"elnor-local-files", "local-files"}),
    ),
    DefaultRule(
        "default_admin_server",
        MCPPolicyMode.DISABLED,
        "the admin and health server, for runtimes other than openclaw",
        "The admin and health server serves trusted runtimes only.",
        server_names=frozenset({"elnor-admin", "elnor-admin-health", "admin-health"}),
        runtimes=frozenset(MCPRuntimeProvider) - {MCPRuntimeProvider.OPENCLAW},
    ),
)
"""The defaults. Of the rows that fit a call the strictest counts; every effect has a row, so one always fits."""


def default_for(
    *,
    effect: ToolEffect,
    tool_state: MCPToolState = MCPToolState.PINNED,
    provider: MCPProvider | None = None,
    data_classes: Collection[str] = (),
    server_id: str | None = None,
    runtime: MCPRuntimeProvider = MCPRuntimeProvider.OPENCLAW,
) -> DefaultRule:
    """The row that counts for a call; of equally strict ones the first."""
    fitting = (
        rule
        for rule in DEFAULT_RULES
        if rule.fits(
            effect=effect,
            tool_state=tool_state,
            provider=provider,
            data_classes=data_classes,
            server_id=server_id,
            runtime=runtime,
        )
    )
    return max(fitting, key=lambda rule: STRICTNESS[rule.mode])


def listed_defaults() -> tuple[MCPPolicyDefault, ...]:
    """The rows as they are shown."""
    return tuple(
        MCPPolicyDefault(code=rule.code, mode=rule.mode, applies_to=rule.applies_to, why=rule.why)
        for rule in DEFAULT_RULES
    )
