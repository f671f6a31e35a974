"""What receipts and launches add to a step: the name a person gave it, and the program that a command began."""

from collections.abc import Sequence

from contracts.learning.observation import ObservationAdapterKind, ObservedActionEvent

_HASHED = "sha256:"


def given_label(group: Sequence[ObservedActionEvent]) -> str:
    """What the person called the wrapped command that this group is; empty when it has no name of its own."""
    first = group[0]
    is_receipt = first.adapter_kind is ObservationAdapterKind.WRAPPER_RECEIPT
    if not is_receipt or first.terminal is None or first.action_label.startswith(_HASHED):
        return ""
    label = " ".join(first.action_label.split())
    command = " ".join(first.terminal.command.split())
    # A label that was cut is the command's beginning.
    return "" if command.startswith(label.removesuffix("…")) else label


def belongs_to_launch(group: Sequence[ObservedActionEvent], event: ObservedActionEvent) -> bool:
    """Whether ``event`` is a program that the group's command left running: recorders report it right behind."""
    return event.adapter_kind is ObservationAdapterKind.PROCESS_LAUNCH and any(e.terminal for e in group)


def launch_label(group: Sequence[ObservedActionEvent]) -> str:
    """What the group launched, in words; empty when nothing."""
    launched = [e for e in group if e.adapter_kind is ObservationAdapterKind.PROCESS_LAUNCH]
    labels = dict.fromkeys(e.action_label for e in launched if not e.action_label.startswith(_HASHED))
    return ", ".join(labels)
