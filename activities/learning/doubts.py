"""What a person is asked of a captured lesson: work that was not seen, inputs that were made up, doubtful values."""

from activities.learning.captured_lesson import CapturedLesson
from contracts.learning.interpretation import UnseenInput
from domain.learning.comparison.doubtful import DoubtfulValue, doubtful_values
from domain.learning.comparison.made_up import MadeUpInput, made_up_inputs
from domain.learning.comparison.unseen_input import unseen_inputs
from domain.learning.interpretation.interpretation import marked_goal
from domain.learning.interpretation.steps import all_events


def unseen_in(captured: CapturedLesson) -> tuple[UnseenInput, ...]:
    """The work in programs whose input was not seen, whether the lesson could be replayed or not."""
    evidence = captured.evidence
    if evidence is None or not evidence.kept:
        return unseen_inputs(all_events(captured.demonstrations[0]))
    # What counts was told by a replay, which leaves out what it cannot carry out.
    left = {one.event_id for one in evidence.unrehearsed}
    return unseen_inputs([event for event in captured.events if event.event_id in left])


def made_up_and_doubtful(
    captured: CapturedLesson,
) -> tuple[tuple[MadeUpInput, ...], tuple[DoubtfulValue, ...]]:
    """Of a single demonstration that was replayed, the inputs that were made up, and the doubtful values."""
    if captured.evidence is None or captured.comparison is not None:
        return (), ()
    doubtful = doubtful_values(marked_goal(captured.boundaries), captured.commands, captured.parameters)
    return made_up_inputs(all_events(captured.demonstrations[0]), captured.evidence), doubtful
