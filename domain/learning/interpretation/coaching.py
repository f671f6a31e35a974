"""Words of the coach of an agent: hints become fields and checkpoints, constraints must not be broken (DOC3 §0C.4)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import Checkpoint
from contracts.learning.observation import ObservedActionEvent
from contracts.learning.session import Coaching, CoachingConstraint, HintKind
from domain.learning.commands.command_line import is_unreadable, programs_in
from domain.learning.interpretation.naming import plain
from domain.learning.interpretation.steps import DemonstratedStep, all_events

_WORD = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Coached:
    """A coach's words by the field they belong to; empty without coaching."""

    goal: str = ""
    use: tuple[str, ...] = ()
    non_use: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    """As conditions: when not to use it."""
    outcomes: tuple[str, ...] = ()
    kept_paths: tuple[str, ...] = ()

    def checkpoints_after(self, found: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
        """``found`` with the coach's own behind them, and one that looks at what had to stay as it was."""
        wanted = [(text, text) for text in self.outcomes]
        wanted += [(f"Leave {path} alone", f"The file {path} is unchanged") for path in self.kept_paths]
        known = {checkpoint.success_condition for checkpoint in found}
        added = [(goal, condition) for goal, condition in wanted if condition not in known]
        first = max((c.order_hint for c in found), default=0) + 1
        return (
            *found,
            *(
                Checkpoint(
                    checkpoint_id=f"cp-{first + n:02d}",
                    goal=clipped(goal, 240),
                    success_condition=clipped(condition, 240),
                    order_hint=first + n,
                )
                for n, (goal, condition) in enumerate(added)
            ),
        )


def coached(coaching: Coaching | None) -> Coached:
    """The coach's words, each once."""
    if coaching is None:
        return Coached()

    def of(kind: HintKind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(plain(hint.text) for hint in coaching.hints if hint.kind is kind))

    return Coached(
        goal=plain(coaching.goal),
        use=of(HintKind.USE_WHEN),
        non_use=of(HintKind.NOT_WHEN),
        constraints=tuple(
            clipped(f"It cannot be done while keeping to this: {plain(one.text)}", 240)
            for one in coaching.constraints
        ),
        outcomes=of(HintKind.CHECKPOINT),
        kept_paths=tuple(dict.fromkeys(p for one in coaching.constraints for p in one.kept_paths)),
    )


def refuse_broken_constraints(coaching: Coaching | None, steps: Sequence[DemonstratedStep]) -> None:
    """Holds the agent's receipts against the constraints: what breaks one is not taught.

    Raises:
        Refusal: ``CONSTRAINT_BROKEN`` with ``event_ids``; the actions can be removed or trimmed away.
    """
    for constraint in coaching.constraints if coaching else ():
        broken = [event for event in all_events(steps) if any(_breaks(constraint, event))]
        if broken:
            raise Refusal(
                ErrorCode.CONSTRAINT_BROKEN,
                clipped(f"{broken[0].action_label[:80]} breaks the constraint: {constraint.text}", 240),
                event_ids=[event.event_id for event in broken],
            )


def _breaks(constraint: CoachingConstraint, event: ObservedActionEvent) -> Iterator[bool]:
    forbidden = set(constraint.forbidden_programs)
    terminal = event.terminal
    if terminal is not None:
        command = terminal.command
        programs = _WORD.findall(command) if is_unreadable(command) else programs_in(command)
        yield not forbidden.isdisjoint(programs)
        yield any(file.path in constraint.kept_paths for file in terminal.produced_files)
    elif event.target_ref is not None:
        yield event.target_ref in forbidden or event.target_ref.rpartition("/")[2] in forbidden
