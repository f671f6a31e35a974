"""Filter events that are actions on the target, and turn a tool-call receipt into an observed event.

DOC3 §0A.12, §0C.2 L451 (actions), §0A.10, §0C.22 (tool calls). Pure and repeatable: one call is one event id,
however often it is reported.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from uuid import UUID, uuid5

from contracts.base import clipped
from contracts.learning.observation import (
    ObservationAdapterKind,
    ObservedActionEvent,
    ToolCallReceipt,
    ToolEffect,
    ToolOutcome,
)
from contracts.learning.session import LearnSession, LearnSessionState, ObservationMode
from contracts.learning.validation import SafetyClass
from domain.learning.adapters import ADAPTERS, APPLICATIONS, Kept
from domain.learning.commands.command_line import Part, parts_of
from domain.learning.redaction.redaction import redact, redact_event

CONTROL_COMMANDS = frozenset({"apprentice-pause", "apprentice-resume"})
"""What a person types to steer the terminal recorder; never part of a demonstration."""

_ALWAYS = frozenset(kind for kind, rule in ADAPTERS.items() if rule.kept is Kept.ALWAYS)

_LOOKING_PROGRAMS = (
    "ls ll la l dir vdir pwd clear cls reset history exit logout tree jobs whoami hostname date uptime man "
    "help which type whereis apropos true : cd pushd popd dirs fg bg"
)

_LOOKING = frozenset(_LOOKING_PROGRAMS.split())

_FILTERS = frozenset(
    ("grep", "egrep", "fgrep", "rg", "head", "tail", "less", "more", "wc", "sort", "uniq", "cat")
)

_SHOWING_PROGRAMS = (
    "cat less more head tail grep egrep fgrep rg wc nl diff cmp file stat du df od xxd md5sum sha256sum"
)

SHOWING = _LOOKING | frozenset(_SHOWING_PROGRAMS.split())
"""Programs that only show something, or go somewhere, as long as nothing is written to a file."""

_SUBSTITUTION = re.compile(r"\$\(|`|<\(|>\(")

_POINTER_NOISE = re.compile(
    r"(?:mouse[ _-]?move|hover|focus|blur|unfocus|mouse[ _-]?(?:enter|leave|over|out))", re.I
)

_MENU = re.compile(r"(?:menu|select(?:ed)? menu|mark[ _-]?(?:step|goal))\b", re.I)

_TITLE_SEPARATOR = re.compile(r"\s+[-–—|·:]\s+")

_TITLE_DECORATION = re.compile(r"^[\s*•●]+|^\(\d+\)\s*|\s*\(\d+\)$")

_WATCHED_FROM_OUTSIDE = frozenset({ObservationMode.OUTSIDE_AGENT, ObservationMode.MIXED})

_WATCHED_FROM_INSIDE = frozenset({ObservationMode.INSIDE_AGENT, ObservationMode.MIXED})

_RECEIPTS = frozenset({ObservationAdapterKind.MCP_RECEIPT, ObservationAdapterKind.WRAPPER_RECEIPT})

_OBSERVING = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING})

_WORD_LIMIT = re.compile(r"[_\-.\s/]+|(?<=[a-z0-9])(?=[A-Z])")

_COMMANDS = tuple(kind for kind, rule in ADAPTERS.items() if rule.kept is Kept.COMMAND)


def is_meaningful(event: ObservedActionEvent) -> bool:
    """Whether ``event`` is something a person did rather than how they looked or moved about.

    A command is meaningful unless all of it only looks or navigates (``ls``, ``pwd``, ``cd build``) and it
    changed nothing; a failed command is meaningful too, the interpretation trims it. An action in a user
    interface is meaningful when it changed a state or chose from a menu, and so is what a page showed
    afterwards; shortcuts, chosen files, launched processes and receipts always are.
    """
    if event.adapter_kind in _COMMANDS:
        return _is_meaningful_command(event)
    if event.adapter_kind in _ALWAYS:
        return True
    if event.browser is not None and event.browser.outcome is not None:
        return True
    if _POINTER_NOISE.match(event.action_label):
        return False
    return event.caused_state_change or bool(_MENU.match(event.action_label))


def only_shows(command: str) -> bool:
    """Whether all that a command line does is to show something, or to go somewhere."""
    parts = parts_of(command)
    only = all(part.program in SHOWING and not part.writes for part in parts)
    return bool(parts) and only and not _SUBSTITUTION.search(command)


def matches_whitelist(event: ObservedActionEvent, whitelist: Sequence[str]) -> bool:
    """Whether the event's application, bundle, window or site is on ``whitelist``; an empty one lets all pass.

    Letter case, width, repeated white space, and a counter or a "modified" mark around a window title do not
    count. A title also matches by one of its parts: ``Report - Editor`` is a window of ``editor``.
    """
    if not whitelist:
        return True
    wanted = {_normal(entry) for entry in whitelist}
    sites = (event.browser.site, event.browser.site.partition("://")[2]) if event.browser else ()
    named = {_normal(name) for name in (event.app_family, event.bundle_id, *sites) if name}
    return not wanted.isdisjoint(named | _title_names(event.window_title))


def is_on_target(event: ObservedActionEvent, scope: ObservationMode, whitelist: Sequence[str]) -> bool:
    """Whether the session's scope lets the event be kept: the list binds only what is watched outside."""
    if scope not in _WATCHED_FROM_OUTSIDE:
        return True
    return matches_whitelist(event, whitelist)


def lets_in(kind: ObservationAdapterKind, scope: ObservationMode, whitelist: Sequence[str]) -> bool:
    """Whether a session may keep anything of what the recorder of this kind here reports."""
    if scope is ObservationMode.NONE:
        return False
    if scope not in _WATCHED_FROM_OUTSIDE or not whitelist:
        return True
    rule = ADAPTERS[kind]
    wanted = {_normal(entry) for entry in whitelist}
    return rule.application in wanted or (rule.named_otherwise and not wanted <= APPLICATIONS)


def _is_meaningful_command(event: ObservedActionEvent) -> bool:
    terminal = event.terminal
    command = (terminal.command if terminal else event.action_label).strip()
    words = command.split(None, 1)
    if not words or words[0].startswith("#") or words[0] in CONTROL_COMMANDS:
        return False
    if event.caused_state_change or (terminal and terminal.produced_files):
        return True
    if words[0].rstrip(";&|") not in _LOOKING or _SUBSTITUTION.search(command):
        return True
    parts = parts_of(command)
    return not all(_only_looks(c, first=i == 0) for i, c in enumerate(parts))


def _only_looks(command: Part, *, first: bool) -> bool:
    if command.writes:
        return False
    return (
        command.program in _LOOKING
        or command.program in CONTROL_COMMANDS
        or (not first and command.program in _FILTERS)
    )


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _title_names(title: str | None) -> set[str]:
    if not title:
        return set()
    parts = [title, *_TITLE_SEPARATOR.split(title)]
    return {_normal(part) for part in parts} | {_normal(_TITLE_DECORATION.sub("", part)) for part in parts}


def observed_tool_call(
    receipt: ToolCallReceipt,
    session: LearnSession,
    kind: ObservationAdapterKind = ObservationAdapterKind.MCP_RECEIPT,
) -> ObservedActionEvent | None:
    """The event of a tool call, redacted; none where the session does not watch the agent from inside now.

    ``kind`` is ``WRAPPER_RECEIPT`` for the run of a skill.
    """
    if not watches_the_agent(session):
        return None
    return redact_event(
        ObservedActionEvent(
            event_id=str(uuid5(UUID(session.learn_session_id), receipt.receipt_id)),
            learn_session_id=session.learn_session_id,
            adapter_kind=kind,
            app_family=receipt.server_id,
            action_label=_label(receipt),
            control_surface=receipt.control_surface,
            target_ref=clipped(f"{receipt.server_id}/{receipt.tool_name}", 240),
            before_state_ref=_named(receipt),
            after_state_ref=receipt.outcome.value,
            caused_state_change=receipt.effect is not ToolEffect.READ and receipt.outcome is ToolOutcome.OK,
            tool=receipt.tool,
            created_at=receipt.finished_at,
        )
    )


def watches_the_agent(session: LearnSession) -> bool:
    """Whether a session is shown the tool calls that its owner's agents make now."""
    return session.observation_mode in _WATCHED_FROM_INSIDE and session.state in _OBSERVING


def went_wrong(event: ObservedActionEvent) -> bool:
    """Whether the event is a tool call that failed or was not let through: it changed nothing."""
    return (
        event.adapter_kind in _RECEIPTS
        and event.after_state_ref in (ToolOutcome.FAILED, ToolOutcome.BLOCKED)
        and not event.caused_state_change
    )


def shown_safety(events: Iterable[ObservedActionEvent]) -> tuple[SafetyClass, ...]:
    """The safety classes of the executable skills whose runs were shown (X-34)."""
    return tuple(
        one.tool.safety_class for one in events if one.tool is not None and one.tool.safety_class is not None
    )


def _label(receipt: ToolCallReceipt) -> str:
    words = _WORD_LIMIT.sub(" ", receipt.tool_title or receipt.tool_name).strip() or receipt.tool_name
    label = f"{words[:1].upper()}{words[1:]} in {_WORD_LIMIT.sub(' ', receipt.server_id).strip()}"
    about = redact(receipt.resource_ref).text if receipt.resource_ref else ""
    return clipped(f"{label}: {about}" if about else label, 240)


def _named(receipt: ToolCallReceipt) -> str | None:
    """The names of the arguments that were given."""
    return clipped(f"with {', '.join(receipt.argument_names)}", 240) if receipt.argument_names else None
