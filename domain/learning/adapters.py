"""Table of observation adapters (recorder kinds): phase, alternatives, and how their events are read.

A new kind is a member of ``ObservationAdapterKind`` and a row here. The phases are the documents' (DOC3 §0C.22,
L3668-3672); a kind of phase 2 or 3 is known by name and refused with what to use instead (L3674, R11.2-44).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum, auto

from contracts.abilities.control_surface import ControlSurface as Surface
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import AdapterPhase as Phase
from contracts.learning.observation import ObservationAdapterKind as Kind
from contracts.learning.observation import UnavailableAdapter


class Kept(Enum):
    """Which events of an adapter are meaningful (``domain.learning.interpretation.meaningful``)."""

    ALWAYS = auto()
    COMMAND = auto()
    """Commands, unless they only look or navigate and changed nothing."""
    STATE_CHANGE = auto()
    """Actions in a user interface that changed a state or chose from a menu."""


@dataclass(frozen=True)
class AdapterRule:
    """One kind of adapter. No field has a default, so that none is forgotten."""

    phase: Phase
    captures: str
    """What its recorder reports, as the registry states it."""
    alternatives: tuple[Kind, ...]
    """The kinds that can show the same, the best first."""
    surface: Surface
    """The control surface of its events that name none."""
    kept: Kept
    payload_in_label: bool
    """Whether an event's label may hold what was typed or copied, which is redacted to its input class."""
    not_rehearsed: str
    """Why no rehearsal repeats an event that carries no command, and what helps."""
    application: str | None = None
    """What its recorder here reports as the application; ``None`` where that varies, or there is no recorder."""
    named_otherwise: bool = True
    """Whether its events are known by other names too: sites, windows, programs, tool servers."""


_ON_A_SITE = "it was done on a live site, which no rehearsal works on; verify its checkpoint there"
_IN_A_WINDOW = "it was done in a window, which a sandbox does not have; verify its checkpoint by looking"
_NO_COMMAND = (
    "its recorder kept no command that could be repeated; record it with `apprentice record terminal`"
    " to have it rehearsed"
)

ADAPTERS: Mapping[Kind, AdapterRule] = {
    Kind.BROWSER_DOM: AdapterRule(
        phase=Phase.PHASE_1,
        captures="Navigation, clicks, masked input and submits of a web page, by accessible names",
        alternatives=(Kind.BROWSER_SNAPSHOT, Kind.MCP_RECEIPT),
        surface=Surface.NATIVE_OPENCLAW_BROWSER,
        kept=Kept.STATE_CHANGE,
        payload_in_label=False,
        application="browser",
        not_rehearsed=_ON_A_SITE,
    ),
    Kind.BROWSER_SNAPSHOT: AdapterRule(
        phase=Phase.PHASE_1,
        captures="What a web page shows at a moment, by accessible names",
        alternatives=(Kind.BROWSER_DOM,),
        surface=Surface.NATIVE_OPENCLAW_BROWSER,
        kept=Kept.STATE_CHANGE,
        payload_in_label=False,
        application="browser",
        not_rehearsed=_ON_A_SITE,
    ),
    Kind.MCP_RECEIPT: AdapterRule(
        phase=Phase.PHASE_1,
        captures="Tool calls: server, tool, names of arguments and outcome, never values",
        alternatives=(Kind.WRAPPER_RECEIPT, Kind.BROWSER_DOM),
        surface=Surface.MCP_CONNECTOR,
        kept=Kept.ALWAYS,
        payload_in_label=False,
        not_rehearsed="it calls a tool server, and a rehearsal calls none; try the call with `apprentice mcp call`",
    ),
    Kind.WRAPPER_RECEIPT: AdapterRule(
        phase=Phase.PHASE_1,
        captures="One wrapped command: its masked arguments, how it ended and the files it made",
        alternatives=(Kind.TERMINAL_COMMAND, Kind.MCP_RECEIPT),
        surface=Surface.WRAPPER_SCRIPT,
        kept=Kept.ALWAYS,
        payload_in_label=False,
        application="terminal",
        named_otherwise=False,
        not_rehearsed=_NO_COMMAND,
    ),
    Kind.TERMINAL_COMMAND: AdapterRule(
        phase=Phase.PHASE_1,
        captures="Finished command lines of a recorded shell, masked, never what they print",
        alternatives=(Kind.WRAPPER_RECEIPT, Kind.PROCESS_LAUNCH),
        surface=Surface.NATIVE_OPENCLAW_TOOL,
        kept=Kept.COMMAND,
        payload_in_label=False,
        application="terminal",
        named_otherwise=False,
        not_rehearsed=_NO_COMMAND,
    ),
    Kind.PROCESS_LAUNCH: AdapterRule(
        phase=Phase.PHASE_1,
        captures="Programs that a recorded command leaves running, without their arguments",
        alternatives=(Kind.TERMINAL_COMMAND, Kind.WRAPPER_RECEIPT),
        surface=Surface.NATIVE_OPENCLAW_TOOL,
        kept=Kept.ALWAYS,
        payload_in_label=False,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.KEYBOARD_SHORTCUT: AdapterRule(
        phase=Phase.PHASE_2,
        captures="Shortcut combinations as named events",
        alternatives=(Kind.BROWSER_DOM, Kind.TERMINAL_COMMAND, Kind.WRAPPER_RECEIPT),
        surface=Surface.KEYBOARD_SHORTCUT,
        kept=Kept.ALWAYS,
        payload_in_label=False,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.FILE_DIALOG: AdapterRule(
        phase=Phase.PHASE_2,
        captures="Files and folders chosen in a dialog",
        alternatives=(Kind.TERMINAL_COMMAND, Kind.WRAPPER_RECEIPT, Kind.BROWSER_DOM),
        surface=Surface.RAW_UI,
        kept=Kept.ALWAYS,
        payload_in_label=False,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.MIDI: AdapterRule(
        phase=Phase.PHASE_2,
        captures="The class of MIDI messages and the target they are mapped to",
        alternatives=(Kind.WRAPPER_RECEIPT, Kind.MCP_RECEIPT),
        surface=Surface.MIDI_BINDING,
        kept=Kept.ALWAYS,
        payload_in_label=False,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.ACCESSIBILITY_UI: AdapterRule(
        phase=Phase.PHASE_3,
        captures="What a desktop application's controls mean",
        alternatives=(Kind.BROWSER_DOM, Kind.PROCESS_LAUNCH, Kind.MCP_RECEIPT),
        surface=Surface.RAW_UI,
        kept=Kept.STATE_CHANGE,
        payload_in_label=False,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.MOUSE_CLICK: AdapterRule(
        phase=Phase.PHASE_3,
        captures="Clicks with their window and target, never coordinates alone",
        alternatives=(Kind.BROWSER_DOM, Kind.BROWSER_SNAPSHOT),
        surface=Surface.RAW_UI,
        kept=Kept.STATE_CHANGE,
        payload_in_label=False,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.CLIPBOARD: AdapterRule(
        phase=Phase.PHASE_3,
        captures="That something was copied or pasted, not what",
        alternatives=(Kind.BROWSER_DOM, Kind.TERMINAL_COMMAND),
        surface=Surface.RAW_UI,
        kept=Kept.STATE_CHANGE,
        payload_in_label=True,
        not_rehearsed=_IN_A_WINDOW,
    ),
    Kind.TEXT_ENTRY: AdapterRule(
        phase=Phase.PHASE_3,
        captures="That text was entered, masked",
        alternatives=(Kind.BROWSER_DOM, Kind.TERMINAL_COMMAND),
        surface=Surface.RAW_UI,
        kept=Kept.STATE_CHANGE,
        payload_in_label=True,
        not_rehearsed=_IN_A_WINDOW,
    ),
}
"""Every kind, in the order in which the registry lists them."""

DEPLOYED: frozenset[Kind] = frozenset(kind for kind, rule in ADAPTERS.items() if rule.phase is Phase.PHASE_1)
"""The kinds that are there on day one."""


APPLICATIONS: frozenset[str] = frozenset(rule.application for rule in ADAPTERS.values() if rule.application)
"""The applications of the recorders that are there."""

_MEANT: Mapping[str, str] = {
    **{kind.value: rule.application for kind, rule in ADAPTERS.items() if rule.application},
    **{application: application for application in APPLICATIONS},
}
"""What a name is likely to be meant as: a recorder may be called by its kind."""

_SURE = 0.8
"""How alike two words are, of 1, when one is taken for a slip of the other."""

_BARE_WORD = re.compile(r"[\w-]+")
"""Neither a site, a bundle id nor the title of a window, which have a dot, a colon or a space nearly always."""


def is_unknown_word(application: str) -> bool:
    """Whether it is a single word that no recorder here reports, and is no slip of one that it does: ``figma``."""
    word = application.strip().casefold()
    return _BARE_WORD.fullmatch(word) is not None and word != "localhost" and not _likely(word)


def _likely(word: str) -> list[str]:
    return get_close_matches(word, _MEANT, n=1, cutoff=_SURE)


def refuse_misnamed(applications: Iterable[str]) -> None:
    """Refuses a name that must be meant as a recorder's and that no recorder reports: ``termnal``.

    Any other may be a site, a window, a program, or what a recorder of somebody's own reports.

    Raises:
        Refusal: ``VALIDATION_FAILED``, with the names that there are.
    """
    for place, given in enumerate(applications):
        word = given.strip().casefold()
        likely = _likely(word)
        if not likely or word in APPLICATIONS:
            continue
        there = " and ".join(sorted(APPLICATIONS))
        problem = clipped(
            f"No recorder reports as “{clipped(given, 60)}”; is {_MEANT[likely[0]]} meant? There are {there}.",
            200,
        )
        field = {"path": f"body.target_app_whitelist.{place}", "problem": problem}
        raise Refusal(ErrorCode.VALIDATION_FAILED, problem, fields=[field])


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
        raise adapters_unavailable(reasons, disabled, lasting=True)


def adapters_unavailable(
    reasons: Mapping[Kind, str], disabled: Collection[Kind], *, lasting: bool = False
) -> Refusal:
    """The refusal for adapters that cannot be used, each for its reason.

    ``lasting`` says that waiting changes nothing: they come with a later release, or are switched off.
    """
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
        **({"retryable": False} if lasting else {}),
    )
