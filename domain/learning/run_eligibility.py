"""Which captured runs can be learned from (DOC3 §0A.5, rows SL-06)."""

from collections import Counter
from collections.abc import Sequence

from contracts.learning.observation import ExitClass, ObservedActionEvent
from contracts.learning.proposal import ProposalState
from domain.learning.alignment import aligned_pairs, kind_of
from domain.learning.comparison import COMPATIBLE_SHARE
from domain.learning.steps import DemonstratedStep, all_events

MOSTLY = 0.8
"""The least share of a run's actions that must not have failed."""

RICH = 2
"""The fewest actions that must count in a run."""

_PROMOTED = frozenset({ProposalState.APPROVED, ProposalState.INSTALLED_PRIVATE})
_OVER = frozenset({ProposalState.REJECTED, ProposalState.CANCELLED})


def success_share(events: Sequence[ObservedActionEvent]) -> float:
    """The share of the actions that did not fail; 0 of none."""
    if not events:
        return 0.0
    failed = sum(1 for e in events if e.terminal and e.terminal.exit_class is not ExitClass.OK)
    return 1 - failed / len(events)


def why_not(
    events: Sequence[ObservedActionEvent],
    steps: Sequence[DemonstratedStep],
    proposals: Sequence[ProposalState],
    *,
    in_open_session: bool,
) -> str | None:
    """Why a run cannot be learned from; None when it can.

    ``proposals`` are the states of those that rest on its trace.
    """
    counted = all_events(steps)
    if in_open_session:
        return "It belongs to a session that is still open."
    if any(state in _PROMOTED for state in proposals):
        return "It has become an ability already."
    if any(state not in _OVER for state in proposals):
        return "Another proposal rests on it."
    if success_share(events) < MOSTLY:
        return f"Less than {MOSTLY:.0%} of its actions succeeded."
    if len(counted) < RICH or not any(event.caused_state_change for event in counted):
        return "Too little was captured: it needs at least two actions, one of which changed something."
    return None


def compatible(first: Sequence[DemonstratedStep], second: Sequence[DemonstratedStep]) -> bool:
    """Whether two runs show the same task, as ``compare`` judges it; runs of other programs cost little."""
    events = all_events(first), all_events(second)
    longest = max(len(events[0]), len(events[1]))
    if not longest:
        return False
    kinds = [Counter(kind_of(event) for event in side) for side in events]
    if (kinds[0] & kinds[1]).total() / longest < COMPATIBLE_SHARE:
        return False
    return len(aligned_pairs(*events)) / longest >= COMPATIBLE_SHARE
