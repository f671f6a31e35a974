"""A lesson none of whose effects happened: which commands failed, and what to say of it."""

from collections.abc import Sequence

from contracts.base import clipped
from contracts.learning.evidence import UnrehearsedCommand
from contracts.learning.observation import ObservedActionEvent
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.noise import failed_in_vain, is_looking, is_made_good

_MOST_NAMED = 2
"""Failed commands that a refusal names."""

_REASON = "it failed when it was shown and changed no file; find out why, and show it again where it works"


def failed_work(events: Sequence[ObservedActionEvent]) -> tuple[ObservedActionEvent, ...]:
    """The commands that were to change something and failed for good, where nothing that was shown changed a file."""
    if any(event.caused_state_change for event in events):
        return ()
    return tuple(
        event
        for number, event in enumerate(events)
        if failed_in_vain(event) and not is_looking(event) and not is_made_good(event, events[number + 1 :])
    )


def nothing_shown(failed: Sequence[ObservedActionEvent]) -> str:
    """Why nothing can be drafted where these commands were all that was shown, and what to do."""
    if not failed:
        return "Nothing meaningful was captured; cancel, and demonstrate the task in a new session."
    named = [f"“{clipped(event.terminal.command, 40)}”" for event in failed[:_MOST_NAMED] if event.terminal]
    return (
        f"Nothing that was shown worked: {listed(named)} failed and changed no file. Find out why, then cancel, and"
        " show the task again in a new session."
    )


def not_proved(event: ObservedActionEvent) -> UnrehearsedCommand:
    """The failed command as a step that no rehearsal proves."""
    command = event.terminal.command if event.terminal else event.action_label
    return UnrehearsedCommand(event_id=event.event_id, command=clipped(command, 120), reason=_REASON)
