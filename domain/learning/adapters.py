"""Which observation adapters there are, in which phase they come, and what stands in for each (DOC3 §0C.22).

The phases are the documents' (L3668-3672); an adapter of phase 2 or 3 is known by name and refused with what
to use instead (L3674, R11.2-44).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.adapter_registry import UnavailableAdapter
from contracts.learning.observation import AdapterPhase as Phase
from contracts.learning.observation import ObservationAdapterKind as Kind


@dataclass(frozen=True)
class AdapterRule:
    """One kind's phase, what its recorder reports, and the kinds that can show the same, the best first."""

    phase: Phase
    captures: str
    alternatives: tuple[Kind, ...]


ADAPTERS: Mapping[Kind, AdapterRule] = {
    Kind.BROWSER_DOM: AdapterRule(
        Phase.PHASE_1,
        "Navigation, clicks, masked input and submits of a web page, by accessible names",
        (Kind.BROWSER_SNAPSHOT, Kind.MCP_RECEIPT),
    ),
    Kind.BROWSER_SNAPSHOT: AdapterRule(
        Phase.PHASE_1, "What a web page shows at a moment, by accessible names", (Kind.BROWSER_DOM,)
    ),
    Kind.MCP_RECEIPT: AdapterRule(
        Phase.PHASE_1,
        "Tool calls: server, tool, names of arguments and outcome, never values",
        (Kind.WRAPPER_RECEIPT, Kind.BROWSER_DOM),
    ),
    Kind.WRAPPER_RECEIPT: AdapterRule(
        Phase.PHASE_1,
        "One wrapped command: its masked arguments, how it ended and the files it made",
        (Kind.TERMINAL_COMMAND, Kind.MCP_RECEIPT),
    ),
    Kind.TERMINAL_COMMAND: AdapterRule(
        Phase.PHASE_1,
        "Finished command lines of a recorded shell, masked, never what they print",
        (Kind.WRAPPER_RECEIPT, Kind.PROCESS_LAUNCH),
    ),
    Kind.PROCESS_LAUNCH: AdapterRule(
        Phase.PHASE_1,
        "Programs that a recorded command leaves running, without their arguments",
        (Kind.TERMINAL_COMMAND, Kind.WRAPPER_RECEIPT),
    ),
    Kind.KEYBOARD_SHORTCUT: AdapterRule(
        Phase.PHASE_2,
        "Shortcut combinations as named events",
        (Kind.BROWSER_DOM, Kind.TERMINAL_COMMAND, Kind.WRAPPER_RECEIPT),
    ),
    Kind.FILE_DIALOG: AdapterRule(
        Phase.PHASE_2,
        "Files and folders chosen in a dialog",
        (Kind.TERMINAL_COMMAND, Kind.WRAPPER_RECEIPT, Kind.BROWSER_DOM),
    ),
    Kind.MIDI: AdapterRule(
        Phase.PHASE_2,
        "The class of MIDI messages and the target they are mapped to",
        (Kind.WRAPPER_RECEIPT, Kind.MCP_RECEIPT),
    ),
    Kind.ACCESSIBILITY_UI: AdapterRule(
        Phase.PHASE_3,
        "What a desktop application's controls mean",
        (Kind.BROWSER_DOM, Kind.PROCESS_LAUNCH, Kind.MCP_RECEIPT),
    ),
    Kind.MOUSE_CLICK: AdapterRule(
        Phase.PHASE_3,
        "Clicks with their window and target, never coordinates alone",
        (Kind.BROWSER_DOM, Kind.BROWSER_SNAPSHOT),
    ),
    Kind.CLIPBOARD: AdapterRule(
        Phase.PHASE_3,
        "That something was copied or pasted, not what",
        (Kind.BROWSER_DOM, Kind.TERMINAL_COMMAND),
    ),
    Kind.TEXT_ENTRY: AdapterRule(
        Phase.PHASE_3, "That text was entered, masked", (Kind.BROWSER_DOM, Kind.TERMINAL_COMMAND)
    ),
}
"""Every kind, in the order in which the registry lists them."""

DEPLOYED: frozenset[Kind] = frozenset(kind for kind, rule in ADAPTERS.items() if rule.phase is Phase.PHASE_1)
"""The kinds that are there on day one."""


def alternatives_to(kind: Kind, disabled: Collection[Kind]) -> tuple[Kind, ...]:
    """The adapters that can stand in for ``kind`` and are available themselves; some other one if none is left."""
    usable = DEPLOYED.difference(disabled, {kind})
    named = tuple(one for one in ADAPTERS[kind].alternatives if one in usable)
    return named or tuple(one for one in ADAPTERS if one in usable)[:1]


def unavailability(kind: Kind, disabled: Collection[Kind]) -> str | None:
    """Why ``kind`` cannot be used now, or nothing when it can."""
    phase = ADAPTERS[kind].phase
    if phase is not Phase.PHASE_1:
        return f"{kind.value} comes with {phase.value.replace('_', ' ')}"
    return f"{kind.value} is disabled in the settings" if kind in disabled else None


def refuse_unavailable(kinds: Iterable[Kind], disabled: Collection[Kind]) -> None:
    """Lets available adapters pass.

    Raises:
        Refusal: ``ADAPTER_UNAVAILABLE``, naming each adapter that is missing and what to use instead.
    """
    reasons = {kind: reason for kind in sorted(set(kinds)) if (reason := unavailability(kind, disabled))}
    if reasons:
        raise adapters_unavailable(reasons, disabled)


def adapters_unavailable(reasons: Mapping[Kind, str], disabled: Collection[Kind]) -> Refusal:
    """The refusal for adapters that cannot be used, each for its reason."""
    missing = [
        UnavailableAdapter(
            kind=kind, reason=clipped(reason, 240), alternatives=alternatives_to(kind, disabled)
        )
        for kind, reason in reasons.items()
    ]
    instead = list(dict.fromkeys(one for entry in missing for one in entry.alternatives))
    what = "; ".join(reasons.values())
    advice = f" Capture with {' or '.join(instead)} instead." if instead else ""
    return Refusal(
        ErrorCode.ADAPTER_UNAVAILABLE,
        clipped(f"Adapter not available: {what}.", 239 - len(advice)) + advice,
        adapters=[entry.model_dump(mode="json") for entry in missing],
        alternatives=[one.value for one in instead],
    )
