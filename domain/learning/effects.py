"""What a run of commands left behind, taken together."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from contracts.learning.observation import ObservedActionEvent


class NetChange(StrEnum):
    """How a file differs after a run from before it."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    TRANSIENT = "transient"


@dataclass(frozen=True)
class NetEffect:
    """One file's change over a run, and the event that last touched it."""

    path: str
    change: NetChange
    event_id: str
    is_empty: bool = False

    @property
    def survives(self) -> bool:
        """Whether the file is there at the end."""
        return self.change in (NetChange.CREATED, NetChange.MODIFIED)


def net_effects(
    events: Iterable[ObservedActionEvent], made_before: Iterable[str] = ()
) -> tuple[NetEffect, ...]:
    """Each touched file's net change, in the order of first touch.

    ``made_before`` names files that the demonstration itself had made earlier in something that is not part
    of ``events`` (a failed try): changing such a file is creating it.
    """
    made = set(made_before)
    existed: dict[str, bool] = {}
    last: dict[str, NetEffect] = {}
    for event in events:
        for produced in event.terminal.produced_files if event.terminal else ():
            existed.setdefault(produced.path, produced.change != "created" and produced.path not in made)
            gone = produced.change == "deleted"
            if existed[produced.path]:
                change = NetChange.DELETED if gone else NetChange.MODIFIED
            else:
                change = NetChange.TRANSIENT if gone else NetChange.CREATED
            last[produced.path] = NetEffect(
                produced.path, change, event.event_id, not gone and produced.size_bytes == 0
            )
    return tuple(last[path] for path in existed)
