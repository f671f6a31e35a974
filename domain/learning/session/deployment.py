"""Deployed parts of learning, and what is refused where one is missing (DOC3 §17, L4108-4130, §9.20)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from contracts.errors import ErrorCode, Refusal
from contracts.learning.session import LearningEntryMode
from contracts.learning.views.account import ComponentState, LearnPartialDeploymentState, PartialDeployment


@dataclass(frozen=True)
class Component:
    """A part that is there when every one of its operations is."""

    name: str
    operations: frozenset[str]
    without_it: str
    disables: tuple[str, ...] = ()
    entry_modes: frozenset[LearningEntryMode] = frozenset()
    """Sessions of these modes need it."""


def _part(
    name: str, operations: str, without_it: str, disables: str = "", modes: Collection[LearningEntryMode] = ()
) -> Component:
    return Component(
        name, frozenset(operations.split()), without_it, tuple(disables.split()), frozenset(modes)
    )


COMPONENTS: tuple[Component, ...] = (
    _part(
        "skill import",
        "skill_import_create skill_import_scan skill_import_stage skill_import_install_private",
        "Skills of others cannot be brought in; teach the task instead.",
        "skill_import_install_private",
        [LearningEntryMode.IMPORT_SKILL],
    ),
    _part(
        "skill packs",
        "skill_pack_list skill_pack_put skill_pack_install",
        "Skills are imported one by one; a pack's name is kept with an import, and nothing is installed by it.",
        "skill_pack_install",
        [LearningEntryMode.IMPORT_SKILL],
    ),
    _part(
        "autonomous practice",
        "learn_session_practice",
        "A practice session can be created; the agent does not try by itself. Demonstrate the task instead.",
        "learn_session_practice",
        [LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE],
    ),
    _part(
        "skill mining",
        "mining_settings mining_settings_replace mining_scan mining_candidates_list mining_candidate_accept",
        "Nothing is proposed from repeated work; teaching by hand is as ever.",
        "mining_candidate_accept",
    ),
    _part(
        "connector policy",
        "mcp_policy_update mcp_dispatch_create",
        "No connector can be called; what would change something elsewhere is not offered.",
        "mcp_dispatch_create mcp_ask_first_approve",
    ),
    _part(
        "checkpoint verification",
        "bridge_verify_checkpoint",
        "Learned skills work; their checkpoints are for reading only.",
    ),
    _part("categories", "category_list category_create category_assign", "“Add to category” is hidden."),
    _part("event stream", "learn_session_events", "Clients read the detail every five seconds instead."),
    _part("ability lookup", "ability_lookup", "Learned skills may not be found."),
    _part("history", "learn_history", "The history is not shown."),
    _part(
        "ability commands",
        "ability_activate ability_deactivate ability_quarantine",
        "Abilities are managed by install and approve alone.",
        "ability_activate ability_deactivate ability_quarantine",
    ),
)
"""Every part a deployment may lack."""

_ROUTED_BY = frozenset({"connector policy", "checkpoint verification", "ability lookup"})
"""Parts without which an agent cannot use what the bridge lists; the others are for teaching and managing."""

INSTALLING = ("learn_proposal_install", "learn_proposal_approve", "ability_promote_shared")
"""What is refused while nothing may be installed. Review goes on, and so does everything that takes back."""


def components(operations: Collection[str]) -> tuple[ComponentState, ...]:
    """Each part, and whether it is among the ``operations`` that this deployment answers."""
    there = set(operations)
    return tuple(
        ComponentState(
            component=part.name,
            deployed=part.operations <= there,
            without_it=part.without_it,
            disables=() if part.operations <= there else part.disables,
        )
        for part in COMPONENTS
    )


def serves_bridge(operations: Collection[str]) -> bool:
    """Whether every part is deployed that an agent needs to use what the bridge lists (DOC3 L5165)."""
    there = set(operations)
    return all(part.operations <= there for part in COMPONENTS if part.name in _ROUTED_BY)


def missing_for(entry_mode: LearningEntryMode, operations: Collection[str]) -> tuple[str, ...]:
    """What a session of this mode lacks here, in sentences."""
    there = set(operations)
    return tuple(
        f"{part.name} is not deployed: {part.without_it}"
        for part in COMPONENTS
        if entry_mode in part.entry_modes and not part.operations <= there
    )


def refuse_missing_part(operation: str, operations: Collection[str]) -> None:
    """Refuses an operation that is answered here, and whose part is not all there (DOC3 §9.20).

    Raises:
        Refusal: ``PARTIAL_DEPLOYMENT``.
    """
    if (part := _missing_part(operation, operations)) is not None:
        raise Refusal(ErrorCode.PARTIAL_DEPLOYMENT, _said_of(part), component=part.name)


def why_off(operation: str, operations: Collection[str]) -> str | None:
    """Why an operation would be refused for its part being incomplete; ``None`` where that is whole."""
    part = _missing_part(operation, operations)
    return _said_of(part) if part is not None else None


def _missing_part(operation: str, operations: Collection[str]) -> Component | None:
    there = set(operations)
    return next((p for p in COMPONENTS if operation in p.disables and not p.operations <= there), None)


def _said_of(part: Component) -> str:
    return f"{part.name} is not whole here: {part.without_it} Ask whoever runs this service to deploy it."


@dataclass(frozen=True)
class Pending:
    """What the store has decided and the files do not show yet, and what does not answer."""

    availability: bool = False
    catalog: bool = False
    bridge: bool = False
    receipts: bool = False
    degraded: str | None = None
    """A short code of what does not answer: ``temporal_unavailable``, ``no_worker``."""


def partial_deployment(pending: Pending, now: datetime) -> LearnPartialDeploymentState:
    """The worst of what is pending. Without the truth about availability, nothing may be installed."""
    state, blocking, reason = PartialDeployment.NONE, False, None
    if pending.degraded:
        state, blocking, reason = PartialDeployment.DEGRADED, True, pending.degraded
    elif pending.availability:
        state, blocking, reason = PartialDeployment.AVAILABILITY_PENDING, True, "snapshot_not_projected"
    elif pending.bridge:
        state, blocking, reason = PartialDeployment.BRIDGE_PENDING, True, "bridge_not_projected"
    elif pending.catalog:
        state, reason = PartialDeployment.CATALOG_PENDING, "catalog_not_projected"
    elif pending.receipts:
        state, reason = PartialDeployment.RECEIPT_PENDING, "receipts_not_projected"
    return LearnPartialDeploymentState(state=state, blocking=blocking, reason_code=reason, updated_at=now)


def disabled(state: LearnPartialDeploymentState, parts: Collection[ComponentState]) -> tuple[str, ...]:
    """The operations that are not offered now: those of missing parts, and what the state blocks."""
    of_parts = [operation for part in parts for operation in part.disables]
    return tuple(dict.fromkeys([*of_parts, *(INSTALLING if state.blocking else ())]))


def refuse_blocked(pending: Pending, now: datetime) -> None:
    """Refuses to install or to share while the effect cannot be known (DOC3 §17 "fail closed").

    Raises:
        Refusal: ``PARTIAL_DEPLOYMENT`` with the state and its reason.
    """
    found = partial_deployment(pending, now)
    if found.blocking:
        raise Refusal(
            ErrorCode.PARTIAL_DEPLOYMENT,
            "Nothing can be installed or shared: the files that tell of abilities are behind the store "
            f"({found.reason_code}). See that the worker runs and can write the memory tree, then repeat.",
            state=found.state.value,
            reason_code=found.reason_code,
        )
