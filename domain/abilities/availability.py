"""Availability of abilities and capabilities: how each stands, whether it can be used, what the files on them state.

Entries of the availability snapshot and catalog with checkpoint health and freshness (DOC3 §0C.9B, §0C.11A, §0C.11B,
§9.19-3); the capability bridge, health and stats (DOC3 §1.1C, §1.1D, §1.1E; rows P-05, G0-11).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from contracts.abilities.availability import (
    MAX_METHOD,
    MAX_TECHNIQUES,
    AbilityAvailabilityEntry,
    AbilityFreshness,
    AbilitySource,
    AbilityState,
    CheckpointHealth,
    FreshnessReason,
    FreshnessState,
    InstallLane,
    UnprovedAcceptance,
)
from contracts.abilities.availability import FreshnessCode as Code
from contracts.abilities.capability_health import (
    CapabilityHealthCurrent,
    CapabilityHealthState,
    CapabilityStats,
    CapabilityStatsCurrent,
    RuntimeInventory,
    SessionAvailability,
)
from contracts.abilities.capability_manifest import (
    BridgeState,
    CapabilityBridgeCurrent,
    CapabilityKind,
    CapabilityManifest,
    CapabilityRegistryBridgeEntry,
    HealthStatus,
    OriginOwner,
)
from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.checkpoints import CheckpointStatus
from contracts.learning.interpretation import ProjectScope, SemanticWorkflowInterpretation
from contracts.learning.proposal import (
    GOAL_SECTION,
    METHOD_SECTION,
    PARAMETER_SECTION,
    TECHNIQUES,
    SkillBundleProposal,
    SkillDraft,
)
from domain.abilities.fit.goals import PARAMETER

USABLE_HEALTH = frozenset({HealthStatus.HEALTHY, HealthStatus.DEGRADED})
"""The health in which a capability is routed to (DOC3 §1.1I)."""

_HEALTH_REASONS = {
    HealthStatus.QUARANTINED: "Its capability is quarantined; it comes back after a successful recheck.",
    HealthStatus.DISABLED: "Its capability is switched off.",
    HealthStatus.UNKNOWN: "Its capability's health is not known yet; recheck it.",
}


class Usability(NamedTuple):
    """Whether an ability can be used now, and if not, why, for a person to read."""

    usable_now: bool
    reason_unusable: str | None = None


@dataclass(frozen=True, slots=True)
class AbilityStanding:
    """The part of an ability's truth that changes after it was drafted."""

    lane: InstallLane
    enabled: bool
    projected: bool
    """Whether its files are in the agent's workspace."""
    capability_health: HealthStatus = HealthStatus.HEALTHY
    checkpoint_health: CheckpointHealth = CheckpointHealth.NO_DATA
    last_validated_at: datetime | None = None


def usability(
    *, enabled: bool, lane: InstallLane, capability_health: HealthStatus, projected: bool
) -> Usability:
    """An ability is usable now when it is installed, enabled, in the workspace, and its capability works.

    Of several reasons the one is given that has to be settled first.
    """
    if lane is InstallLane.QUARANTINED:
        return Usability(False, "Quarantined; lift the quarantine after review.")
    if lane is InstallLane.PENDING:
        return Usability(False, "Not installed yet.")
    if not enabled:
        return Usability(False, "Deactivated; activate it to use it.")
    if not projected:
        return Usability(False, "Not in the agent's workspace yet.")
    if capability_health not in USABLE_HEALTH:
        return Usability(False, _HEALTH_REASONS[capability_health])
    return Usability(True)


def availability_entry(
    *,
    ability_id: str,
    draft: SkillDraft,
    proposal: SkillBundleProposal,
    interpretation: SemanticWorkflowInterpretation,
    standing: AbilityStanding,
    family: str,
    project_id: str | None = None,
) -> AbilityAvailabilityEntry:
    """What is known of a learned ability.

    ``project_id`` is the project it was taught in. It confines the ability unless the interpretation says
    that it is global: an unclear scope is read narrowly, since a lookup from elsewhere still finds the
    ability, only lower. Blank trigger phrases are dropped: by the matching algorithm they would answer, or
    forbid, every query.
    """
    usable = usability(
        enabled=standing.enabled,
        lane=standing.lane,
        capability_health=standing.capability_health,
        projected=standing.projected,
    )
    confining_project = None if interpretation.project_scope is ProjectScope.GLOBAL else project_id
    quarantined = standing.lane is InstallLane.QUARANTINED
    promoted = standing.lane is InstallLane.SHARED_PROMOTED
    own = AbilitySource.IMPORTED if proposal.imported_from else AbilitySource.LEARNED
    return AbilityAvailabilityEntry(
        ability_id=ability_id,
        owner_user_id=proposal.owner_user_id,
        title=draft.title,
        family=family,
        source=AbilitySource.PROMOTED if promoted else own,
        skill_slug=draft.slug,
        primary_capability_id=draft.capability_id,
        install_lane=standing.lane,
        enabled=standing.enabled,
        usable_now=usable.usable_now,
        reason_unusable=usable.reason_unusable,
        trigger_phrases=_without_blanks(draft.trigger_phrases),
        negative_triggers=_without_blanks(draft.negative_triggers),
        aliases=working_names(draft),
        method=method_of(draft),
        techniques=techniques_stated(draft),
        project_scopes=(confining_project,) if confining_project else (),
        preferred_control_surfaces=_known_surfaces(interpretation.preferred_control_surfaces),
        support_pack_refs=proposal.support_pack_refs,
        checkpoint_health=CheckpointHealth.QUARANTINED if quarantined else standing.checkpoint_health,
        last_validated_at=standing.last_validated_at,
    )


_UNPROVED = "\n<!-- not-proved -->\n"
"""Begins what an install adds to SKILL.md about steps that nothing proved; it is no part of the draft."""


def with_unproved(markdown: str, accepted: UnprovedAcceptance) -> str:
    """SKILL.md with a section of what was never proved, and who accepted that when."""
    when = accepted.accepted_at.date().isoformat()
    lines = [
        "## Not proved",
        "",
        f"Nothing has shown that these parts work. {accepted.accepted_by} saw this list and accepted it on {when};"
        " verify their results each time.",
        "",
        *(f"- {' '.join(one.step.split())} ({' '.join(one.reason.split())})" for one in accepted.steps),
    ]
    return without_unproved(markdown).rstrip("\n") + "\n" + _UNPROVED + "\n".join(lines) + "\n"


def without_unproved(markdown: str) -> str:
    """The text as it was drafted, or edited by hand since, without the section that an install adds."""
    drafted, marker, _ = markdown.partition(_UNPROVED)
    return drafted if marker else markdown


MAX_WORKING_NAMES = 12
"""The most file names that an ability is known by."""


def _skill_markdown(draft: SkillDraft) -> str:
    return next((file.content for file in draft.files if file.path == "SKILL.md"), "")


def working_names(draft: SkillDraft) -> tuple[str, ...]:
    """What a request may name that title and phrases do not: files that SKILL.md speaks of, and its programs."""
    own = {file.path for file in draft.files}
    shown = _skill_markdown(draft)
    files = [name for name in dict.fromkeys(_FILE_NAME.findall(shown)) if name not in own][:MAX_WORKING_NAMES]
    return tuple(f"with {name}" for name in (*files, *draft.dependencies) if len(name) <= MAX_NAME_LENGTH)


def method_of(draft: SkillDraft) -> tuple[str, ...]:
    """The whole goal that SKILL.md states, with the values that were shown, then each fact that the result depends on.

    Without marks. A program that a person edited by hand says nothing here: only what SKILL.md states is read.
    """
    marked = _skill_markdown(draft)
    plain = marked.replace("`", "")
    values = dict(_SHOWN_VALUE.findall(_section(plain, PARAMETER_SECTION)))
    goal = " ".join(_section(plain, GOAL_SECTION).split())
    goal = PARAMETER.sub(lambda found: values.get(found[1], found[0]), goal)
    facts = (line[2:] for line in _section(marked, METHOD_SECTION).splitlines() if line.startswith("- "))
    said = (goal, *(" ".join(fact.replace("`", " ").split()) for fact in facts))
    return tuple(clipped(one, 400) for one in said if one)[:MAX_METHOD]


def techniques_stated(draft: SkillDraft) -> tuple[str, ...]:
    """What the front matter of SKILL.md says of its commands in technical words."""
    shown = _skill_markdown(draft)
    stated = _TECHNIQUES.search(shown.partition("\n---\n")[0])
    said = (" ".join(one.split()) for one in stated[1].split(";")) if stated else ()
    return tuple(clipped(one, 120) for one in said if one)[:MAX_TECHNIQUES]


_TECHNIQUES = re.compile(rf"^  {TECHNIQUES}: \"(.*)\"$", re.MULTILINE)

_SHOWN_VALUE = re.compile(r"^- \{(\w+)\} \(.*?\): [^“\n]*“([^”\n]{1,60})”", re.MULTILINE)
"""A parameter of SKILL.md with the value that it had in the first demonstration, where that is short."""


def _section(markdown: str, heading: str) -> str:
    _, _, rest = markdown.partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]


MAX_NAME_LENGTH = 100
_FILE_NAME = re.compile(r"[\w/-]+\.[a-z][a-z0-9]{1,4}\b")


def _without_blanks(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in phrases if phrase.strip())


def _known_surfaces(names: Iterable[str]) -> tuple[ControlSurface, ...]:
    known = {surface.value: surface for surface in ControlSurface}
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)


@dataclass(frozen=True)
class Seen:
    """What the store has of the files about abilities; a file that is ``unwritten`` is not yet as the store says."""

    bridge: BridgeState = BridgeState.FRESH
    inventory: RuntimeInventory | None = None
    snapshot_unwritten: bool = False
    bridge_unwritten: bool = False
    skills_unwritten: bool = False


_MEANINGS = {
    Code.BRIDGE_REBUILD_FAILED: "What agents route by could not be rebuilt: they go by the last good entries.",
    Code.RUNTIME_NOT_LOOKED_AT: "Nobody has looked lately which programs the runtime has, so an ability shown as "
    "usable may lack something. It is looked at again on a schedule; is a worker running?",
    Code.BRIDGE_PARTIAL: "Some abilities could not be read; they are shown as they last were.",
    Code.SNAPSHOT_NOT_WRITTEN: "A change is decided and not yet in the files that agents read about abilities.",
    Code.BRIDGE_NOT_WRITTEN: "A change is decided and not yet in the file that agents route by.",
    Code.SKILLS_NOT_WRITTEN: "A skill has changed and is not yet in the agent's workspace.",
}
_STATES = {
    Code.BRIDGE_REBUILD_FAILED: FreshnessState.STALE,
    Code.RUNTIME_NOT_LOOKED_AT: FreshnessState.STALE,
    Code.BRIDGE_PARTIAL: FreshnessState.PARTIAL,
}


def freshness(seen: Seen, now: datetime) -> AbilityFreshness:
    """What is behind as of ``now``, the gravest first; the first one gives the state."""
    holds = {
        Code.BRIDGE_REBUILD_FAILED: seen.bridge is BridgeState.STALE,
        Code.RUNTIME_NOT_LOOKED_AT: seen.inventory is not None and is_stale(seen.inventory, now),
        Code.BRIDGE_PARTIAL: seen.bridge is BridgeState.PARTIAL,
        Code.SNAPSHOT_NOT_WRITTEN: seen.snapshot_unwritten,
        Code.BRIDGE_NOT_WRITTEN: seen.bridge_unwritten,
        Code.SKILLS_NOT_WRITTEN: seen.skills_unwritten,
    }
    codes = [code for code in Code if holds[code]]
    if not codes:
        return AbilityFreshness()
    return AbilityFreshness(
        state=_STATES.get(codes[0], FreshnessState.REFRESHING),
        reasons=tuple(FreshnessReason(code=code, meaning=_MEANINGS[code]) for code in codes),
    )


def state_of(entry: AbilityAvailabilityEntry) -> AbilityState:
    """How the ability stands. Archived outweighs quarantined, which outweighs deactivated."""
    if entry.archived_at is not None:
        return AbilityState.ARCHIVED
    if entry.install_lane is InstallLane.QUARANTINED:
        return AbilityState.QUARANTINED
    return AbilityState.ACTIVE if entry.enabled else AbilityState.DEACTIVATED


def in_service(entry: AbilityAvailabilityEntry) -> bool:
    """Whether its files belong in the agent's workspace: what lies there is used, whatever a lookup says."""
    return state_of(entry) is AbilityState.ACTIVE


STALE_AFTER = timedelta(hours=6)
"""An inventory this old is not believed any more; the reprobe schedule takes a new one far more often."""


def is_stale(inventory: RuntimeInventory, now: datetime) -> bool:
    """Whether the inventory is too old to be believed."""
    return now - inventory.checked_at > STALE_AFTER


RECEIPTS_COUNTED = 20
"""How many of an ability's receipts count, the newest ones."""

RECEIPTS_NEEDED = 3
"""Fewer say nothing."""

STRONG_FROM = 0.9
"""The share of reached checkpoints from which on the health is strong."""

MODERATE_FROM = 0.7
"""The share from which on it is moderate; below it is weak."""


def checkpoint_health(statuses: Sequence[CheckpointStatus], *, quarantined: bool) -> CheckpointHealth:
    """The health that ``statuses``, newest first, make; only the newest 20 count."""
    if quarantined:
        return CheckpointHealth.QUARANTINED
    counted = statuses[:RECEIPTS_COUNTED]
    if len(counted) < RECEIPTS_NEEDED:
        return CheckpointHealth.NO_DATA
    share = sum(status is CheckpointStatus.REACHED for status in counted) / len(counted)
    if share >= STRONG_FROM:
        return CheckpointHealth.STRONG
    return CheckpointHealth.MODERATE if share >= MODERATE_FROM else CheckpointHealth.WEAK


METADATA_FOLDER = "ELNOR_MEMORY/system/capabilities/metadata"
"""Where the sidecars are kept; a bridge entry names its own there."""

MAX_NAMES = 20
"""The most aliases and the most action verbs that the compact entry carries."""

ROUTE_TIERS: dict[ControlSurface, int] = {
    ControlSurface.NATIVE_OPENCLAW_TOOL: 1,
    ControlSurface.NATIVE_OPENCLAW_BROWSER: 1,
    ControlSurface.BRIDGE_TOOL: 2,
    ControlSurface.MCP_CONNECTOR: 2,
    ControlSurface.MCP_SERVER: 2,
    ControlSurface.APP_API: 3,
    ControlSurface.WRAPPER_SCRIPT: 3,
    ControlSurface.APPLESCRIPT: 3,
    ControlSurface.PYTHON_WRAPPER: 3,
    ControlSurface.KEYBOARD_SHORTCUT: 4,
    ControlSurface.MIDI_BINDING: 4,
    ControlSurface.PAGE_KNOWLEDGE_UI: 5,
    ControlSurface.RAW_UI: 5,
}
"""The order of DOC3 §1.1E, most semantic first. Its sixth place shares tier 5, the last one there is."""

_ORIGINS = {
    CapabilityKind.NATIVE_OPENCLAW_TOOL: OriginOwner.OPENCLAW_NATIVE,
    CapabilityKind.BRIDGE_TOOL: OriginOwner.DOC4_BRIDGE,
}


def metadata_ref(capability_id: str) -> str:
    """The path of a capability's sidecar, from the folder that holds the memory tree."""
    return f"{METADATA_FOLDER}/{capability_id}.json"


def bridge_entry(
    manifest: CapabilityManifest,
    health: HealthStatus,
    updated_at: datetime,
    *,
    health_reason_code: str | None = None,
) -> CapabilityRegistryBridgeEntry:
    """A capability in its compact form. Only one whose health lets it be used is eligible for routing."""
    return CapabilityRegistryBridgeEntry(
        capability_id=manifest.capability_id,
        family=manifest.family,
        title=manifest.title,
        aliases=_first_names(manifest.aliases),
        action_verbs=_first_names(manifest.action_verbs),
        route_tier=ROUTE_TIERS[manifest.surface_order[0]],
        requires_supervision=manifest.requires_supervision,
        dry_run_supported=manifest.dry_run_supported,
        routing_eligible=manifest.routing_eligible and health in USABLE_HEALTH,
        health_status=health,
        health_reason_code=health_reason_code,
        origin_owner=_ORIGINS.get(manifest.kind, OriginOwner.DOC3),
        built_in_openclaw=manifest.kind is CapabilityKind.NATIVE_OPENCLAW_TOOL,
        metadata_ref=metadata_ref(manifest.capability_id),
        updated_at=updated_at,
    )


def bridge_document(
    entries: Iterable[CapabilityRegistryBridgeEntry], state: BridgeState, rebuilt_at: datetime
) -> CapabilityBridgeCurrent:
    """The bridge file, by capability id. After a failed rebuild: the last good entries, ``state`` stale."""
    return CapabilityBridgeCurrent(
        bridge_state=state,
        entries=tuple(sorted(entries, key=lambda entry: entry.capability_id)),
        rebuilt_at=rebuilt_at,
    )


def health_current(states: Iterable[CapabilityHealthState], as_of: datetime) -> CapabilityHealthCurrent:
    """The health file, by capability id."""
    return CapabilityHealthCurrent(
        capabilities=tuple(sorted(states, key=lambda state: state.capability_id)), health_as_of=as_of
    )


def stats_current(stats: Iterable[CapabilityStats], as_of: datetime) -> CapabilityStatsCurrent:
    """The stats file, by capability id."""
    return CapabilityStatsCurrent(
        capabilities=tuple(sorted(stats, key=lambda one: one.capability_id)), stats_as_of=as_of
    )


def _first_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name.strip()))[:MAX_NAMES]


def effective_health(
    own: HealthStatus, ability: AbilityAvailabilityEntry | None
) -> tuple[HealthStatus, str | None]:
    """A capability's health as the bridge states it, and why where its ability's standing overrides it.

    A capability is never more available than the ability it belongs to.
    """
    state = state_of(ability) if ability is not None else AbilityState.ACTIVE
    if state is AbilityState.ACTIVE:
        return own, None
    if state is AbilityState.QUARANTINED:
        return HealthStatus.QUARANTINED, "ability_quarantined"
    return HealthStatus.DISABLED, f"ability_{state.value}"


def session_availability(
    manifest: CapabilityManifest, inventory: RuntimeInventory | None, now: datetime
) -> SessionAvailability:
    """Whether the present runtime lets the capability be used.

    Unsupported when something it requires is known to be missing, degraded when all that is known is stale,
    unknown without an inventory. What requires nothing is supported wherever the inventory is recent.
    """
    if inventory is None:
        return SessionAvailability.UNKNOWN
    if missing(manifest, inventory):
        return SessionAvailability.UNSUPPORTED
    if is_stale(inventory, now):
        return SessionAvailability.DEGRADED
    known = {check.name for check in inventory.checks}
    if not known.issuperset(manifest.required_runtime_caps):
        return SessionAvailability.UNKNOWN
    return SessionAvailability.SUPPORTED


def missing(manifest: CapabilityManifest, inventory: RuntimeInventory | None) -> tuple[str, ...]:
    """What the capability requires and the runtime is known not to have."""
    absent = {check.name for check in inventory.checks if not check.present} if inventory else set[str]()
    return tuple(name for name in manifest.required_runtime_caps if name in absent)


def unsupported_reason(missing_caps: tuple[str, ...]) -> str | None:
    """Why an ability cannot be used in this runtime; ``None`` when nothing is missing."""
    if not missing_caps:
        return None
    return clipped(f"The runtime lacks {', '.join(missing_caps)}; it comes back once that is there.", 240)


def bridge_state(kept: BridgeState, inventory: RuntimeInventory | None, now: datetime) -> BridgeState:
    """The state of a bridge that was built as ``kept``: on a stale inventory the bridge is stale too."""
    if inventory is not None and is_stale(inventory, now):
        return BridgeState.STALE
    return kept
