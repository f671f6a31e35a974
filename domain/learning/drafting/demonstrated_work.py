"""What a skill is drafted from: a demonstration's files by their part, the names that last, what its commands use."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from contracts.learning.evidence import LessonEvidence
from contracts.learning.proposal import DraftedFile, RehearsalCommand
from domain.learning.checkpoints.checkpoints import may_be_shown, shown_path
from domain.learning.commands.command_line import hosts_in
from domain.learning.commands.command_safety import deleted_patterns, programs_used
from domain.learning.comparison.demonstrations import shown_commands
from domain.learning.comparison.parameters import ParameterWording
from domain.learning.drafting.method import WrittenPrograms, written_programs
from domain.learning.interpretation.inference import Materials, materials_of, operations_in
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.steps import DemonstratedStep, total_effects
from domain.learning.proof.wording import proven_files

_MOST_PROGRAMS = 40


@dataclass(frozen=True)
class DemonstratedWork:
    """The steps, the commands that are rehearsed, the evidence of a replay, and how the parameters are written."""

    steps: Sequence[DemonstratedStep]
    rehearsal: tuple[RehearsalCommand, ...]
    evidence: LessonEvidence | None
    wording: ParameterWording
    earlier: Sequence[DraftedFile] = ()
    """The files of the skill that is improved."""

    @cached_property
    def materials(self) -> Materials:
        """The files by the part that they play."""
        return materials_of(self.steps)

    @cached_property
    def names(self) -> LastingNames:
        """Names the files as they are named another time."""
        return LastingNames(self.steps, proven_files(self.evidence))

    @cached_property
    def supplied(self) -> tuple[str, ...]:
        """The files to work on; a name with a blank in it is known as one by the replay alone."""
        made = self.materials
        inputs = self.evidence.inputs if self.evidence else ()
        blank = [path for path in inputs if " " in path and may_be_shown(path)]
        named = (p for p in blank if any(p.rpartition("/")[2] in one.command for one in self.rehearsal))
        others = {*made.by_hand, *made.results, *made.removed, *made.scripts}
        return tuple(path for path in dict.fromkeys((*made.supplied, *named)) if path not in others)

    @property
    def is_replayed(self) -> bool:
        """Whether a replay ended as the demonstration did."""
        return self.evidence is not None and self.evidence.reproduced

    @cached_property
    def shown(self) -> tuple[RehearsalCommand, ...]:
        """The commands as they are shown to a reader."""
        return shown_commands(self.steps)

    @cached_property
    def written(self) -> WrittenPrograms:
        """The programs that a person wrote and ran."""
        return written_programs(self.steps, self.evidence, self.earlier)

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """The programs that its commands need, by name."""
        not_needed = self.evidence.not_needed if self.evidence else ()
        used = programs_used(one.command for one in self.rehearsal)
        return tuple(sorted(set(used).difference(not_needed)))[:_MOST_PROGRAMS]

    @cached_property
    def verbs(self) -> list[str]:
        """The verbs of what was done, in order."""
        return [operation.verb for operation in operations_in(self.steps)]

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that its commands reach."""
        return tuple(dict.fromkeys(host for one in self.rehearsal for host in hosts_in(one.command)))

    @cached_property
    def deleted_patterns(self) -> tuple[str, ...]:
        """The patterns that its commands remove files by."""
        found = (pattern for one in self.rehearsal for pattern in deleted_patterns(one.command))
        return tuple(pattern for pattern in dict.fromkeys(found) if may_be_shown(pattern))

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path and pattern that a SKILL.md may speak of, as it is written there."""
        shown = [effect.path for effect in total_effects(self.steps) if may_be_shown(effect.path)]
        every = (*shown, *self.names.of_all(shown), *self.materials.supplied, *self.materials.scripts)
        return (
            *(self.wording.formal(shown_path(path)) for path in every),
            *map(self.wording.formal, self.deleted_patterns),
            *self.supplied,
            *(self.evidence.begun if self.evidence else ()),
        )
