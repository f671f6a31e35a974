"""Put commands back that were left out of a lesson: which one is meant, what keeps it out, and where it belongs."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from contracts.base import clipped
from contracts.learning.evidence import CommandUse, LessonEvidence
from contracts.learning.observation import ExitClass, ObservedActionEvent
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import programs_in
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.instruction_places import refused, unquoted
from domain.learning.interpretation.noise import looks_around

_OF_OTHERS = re.compile(
    r"(?i)(?:the )?(?:\w+ )?(?:conditions?|triggers?|parameters?|titles?|goals?|check ?points?)\b"
)
_NOUNS = re.compile(r"(?i)^(?:the\s+)?(?:(?:command|line|call|step)s?\s+)?|\s+(?:command|line|call|step)s?$")
_OPTION = re.compile(r"\s-\w")
_AGAIN = "show the task again with it"


@dataclass(frozen=True)
class LeftCommands:
    """The commands of the demonstration that are no part of the draft, in the order in which they are listed."""

    commands: Sequence[RehearsalCommand] = ()
    uses: Mapping[str, CommandUse] = field(default_factory=dict[str, CommandUse])
    obstacle: str = ""
    """Why none of them can be put back."""

    def mentions(self, said: str) -> bool:
        """Whether the words are the beginning of one of them, or its program: other things are kept, too."""
        text = _NOUNS.sub("", unquoted(said))
        lines = [" ".join(one.command.split()) for one in self.commands]
        if _OPTION.search(text) and looks_around(text):
            return True
        return any(line == text or line.startswith(f"{text} ") for line in lines) or any(
            text.lower() in programs_in(line) for line in lines
        )

    def named(self, said: str) -> tuple[str, ...] | None:
        """The ids of those that the words name; ``None`` where they speak of something else.

        Raises:
            Refusal: ``REVISION_INVALID`` where they fit none or several.
        """
        if not self.commands or _OF_OTHERS.match(said):
            return None
        text = re.sub(r"(?i)^(?:the )?steps?\b", "command", unquoted(said))
        places = Commands(self.commands, self.uses, self.obstacle, how="put back command")
        found = places.removed(text)
        if not found:
            listed = "; ".join(
                f"{n}. {clipped(one.command, 40)}" for n, one in enumerate(self.commands, start=1)
            )
            raise refused(
                f"“{clipped(said, 40)}” is none of the commands that were left out ({clipped(listed, 90)}); what was"
                " not recorded has to be shown again"
            )
        return found


@dataclass(frozen=True)
class KeptState:
    """What there is for commands to work with: files of the starting state, and programs."""

    paths: Collection[str]
    """The files whose content is kept."""
    gone: Collection[str]
    """The files whose content is not kept any more."""
    missing: Mapping[str, str]
    """Of each command, by its id, the program that it names and that is not there."""


def check_put_back(
    wanted: Sequence[str],
    method: Collection[str],
    evidence: LessonEvidence,
    events: Mapping[str, ObservedActionEvent],
    state: KeptState,
) -> None:
    """Refuses to put back what cannot be repeated.

    ``method`` are the commands that the draft has then, ``events`` those of the lesson by their ids.

    Raises:
        Refusal: ``REVISION_INVALID`` with the reason and what to do.
    """
    uses = {use.event_id: use for use in evidence.uses}
    for one in wanted:
        event = events.get(one)
        if event is None or event.terminal is None:
            raise refused(f"{one} is no command that was left out; `apprentice learn show` lists them")
        if why := next(_obstacles(event, uses, method, evidence, events, state), None):
            raise refused(f"“{clipped(event.terminal.command, 60)}” cannot be put back: {why}")


def _obstacles(
    event: ObservedActionEvent,
    uses: Mapping[str, CommandUse],
    method: Collection[str],
    evidence: LessonEvidence,
    events: Mapping[str, ObservedActionEvent],
    state: KeptState,
) -> Iterator[str]:
    """Why the command cannot be repeated, each with what to do."""
    assert event.terminal is not None, "only commands are looked at"
    if name := state.missing.get(event.event_id):
        yield f"there is no program {clipped(name, 40)} here; {_AGAIN} spelt right"
    if event.terminal.exit_class is ExitClass.FAILED and event.event_id not in evidence.kept:
        yield f"it failed when it was shown; {_AGAIN} done right"
    use = uses.get(event.event_id)
    if use is None:
        yield f"the replay did not repeat it; {_AGAIN}"
        return
    repeated = {one.event_id: one.command for one in evidence.repeated_as}
    earlier = [*uses][: [*uses].index(event.event_id)]
    for path in dict.fromkeys((*use.read, *use.removed)):
        makers = [one for one in earlier if path in uses[one].written]
        by = makers[-1] if makers else None
        if by is None:
            if path in state.gone and path not in state.paths:
                yield f"what {clipped(path, 60)} held is no longer kept; {_AGAIN}"
        elif by not in method:
            yield f"it needs {clipped(path, 60)} of “{clipped(_line(events.get(by)), 60)}”; put that back too"
        elif by in repeated and path not in repeated[by]:
            yield f"“{clipped(repeated[by], 60)}” makes no {clipped(path, 60)} any more; {_AGAIN}"


def _line(event: ObservedActionEvent | None) -> str:
    return event.terminal.command if event is not None and event.terminal is not None else ""
