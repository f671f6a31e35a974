"""Make the title of a lesson whose goal nobody stated, from what was done to which files: "Sort a.txt into b.txt"."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from contracts.generated_trees import GeneratedTrees
from domain.learning.checkpoints.checkpoints import main_operation, may_be_shown, shown_path
from domain.learning.commands.command_line import parts_of, programs_in, sources_in
from domain.learning.commands.operations import (
    ARCHIVE,
    BUILD,
    CHECKSUM,
    COMMIT,
    COMPARE,
    COPY,
    DOWNLOAD,
    MOVE,
    PREPARE,
    RUN,
    SORT,
    UNPACK,
    WRITE,
    NetChange,
    Operation,
)
from domain.learning.commands.shell_grammar import UnreadableCommand, control_words
from domain.learning.conditions.path_patterns import is_pattern
from domain.learning.interpretation.inference import (
    INSPECTING,
    Materials,
    is_script,
    materials_of,
    operations_in,
    stem_of,
    subject_of,
    telling_page_steps,
)
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.naming import (
    TITLE_LIMIT,
    clipped_at_word,
    cut_at_word,
    listed,
    starts_with_verb,
    title_from_goal,
)
from domain.learning.interpretation.steps import DemonstratedStep, all_events, total_effects
from domain.learning.method.techniques import techniques_of

_NAMED = 2
"""Files that a title names; of more it says what they have in common."""

_MOST_VERBS = 3
_BY_OPERAND = frozenset({ARCHIVE, CHECKSUM, COMPARE, COPY, MOVE, UNPACK})
"""Operations whose operands are all files or folders."""

_OF_RESULTS = frozenset({RUN, BUILD, DOWNLOAD, WRITE, PREPARE})
"""Operations whose verb says what is done to the result, and not to what it is made from."""

_IN_PLACE = frozenset({SORT, COMMIT, BUILD, COPY})
"""Operations whose verb may be said of a file that was there and has changed."""

_NO_VERB = frozenset({WRITE, PREPARE})
_GLOB = re.compile(r"(?:(?P<folder>[\w./-]+)/)?[\w-]*\*(?:\.(?P<extension>\w{1,8}))?")


def inferred_title(steps: Sequence[DemonstratedStep], names: LastingNames) -> str:
    """A title such as "Sort sales.txt into top.txt", "Sort, archive and checksum reports" or "Tag a release in git"."""
    materials = materials_of(steps)
    has_effect = bool(materials.results or materials.removed or materials.moved)
    if said := _labelled(steps, materials, has_effect=has_effect):
        return said
    work = _Work(steps, materials, operations_in(steps), names)
    title = work.with_effect() if has_effect else work.without_effect()
    return title[:1].upper() + title[1:]


def _labelled(steps: Sequence[DemonstratedStep], materials: Materials, *, has_effect: bool) -> str:
    """What a person, or a page, called the last step that tells; empty where none does."""
    wanted = set(materials.results)
    labels = [
        s.label
        for s in steps
        if (s.marked and (not has_effect or any(e.path in wanted for e in s.produced)))
        or (not has_effect and not any(e.terminal for e in s.events))
    ]
    telling = [s.label for s in telling_page_steps(steps)] if not has_effect else []
    return title_from_goal((telling or labels)[-1]) if labels else ""


@dataclass(frozen=True)
class _Work:
    """What was done, and to what."""

    steps: Sequence[DemonstratedStep]
    materials: Materials
    operations: Sequence[Operation]
    names: LastingNames

    def with_effect(self) -> str:
        """The title of work that files show."""
        changes = {effect.path: effect.change for effect in total_effects(self.steps)}
        made = [p for p in self.materials.results if changes[p] is NetChange.CREATED]
        if made:
            return next((one for one in self._of_made(made) if len(one) <= TITLE_LIMIT), self._of_subject())
        if self.materials.results:
            verbs = listed(self._verbs()) if set(self.operations) <= _IN_PLACE else "update"
            return self._within(f"{verbs} {self._named(self.materials.results)}")
        return self._within(f"remove {self._named((*self.materials.removed, *self.materials.moved))}")

    def without_effect(self) -> str:
        """The title of work that only shows or checks something, or whose effect is in no file."""
        sources, commands = self._sources(), self._commands()
        if set(self.operations) <= INSPECTING:
            return self._within(f"inspect {sources or subject_of(self.materials)}")
        techniques = [one for one in techniques_of(commands) if starts_with_verb(one)]
        if techniques and {RUN, COMMIT}.intersection(self.operations):
            return self._within(listed(list(dict.fromkeys(techniques[-_NAMED:]))))
        programs = list(dict.fromkeys(p for one in commands for p in programs_in(one)))
        if programs and (RUN in self.operations or not sources):
            return self._within(
                f"run {listed(programs, most=_MOST_VERBS)}{f' on {sources}' if sources else ''}"
            )
        return self._within(f"{listed(self._verbs())} {sources or subject_of(self.materials)}")

    def _of_made(self, made: Sequence[str]) -> Iterator[str]:
        """Titles of work that made files, the most telling first."""
        verbs, sources = self._verbs(), self._sources()
        if len(verbs) > 1 and self._share_a_stem(made):
            return
        if set(self.operations) <= _OF_RESULTS:
            verb = RUN.verb if set(self.operations) <= _NO_VERB else listed(verbs)
            yield f"{verb} {self._named(made)}{f' from {sources}' if sources else ''}"
            yield f"{verb} {self._named(made)}"
        elif sources:
            yield f"{listed(verbs)} {sources} into {self._target(made)}"
        yield f"{RUN.verb} {self._named(made)}"

    def _of_subject(self) -> str:
        return self._within(f"{listed(self._verbs())} {cut_at_word(subject_of(self.materials), 40)}")

    def _within(self, title: str) -> str:
        return clipped_at_word(title, TITLE_LIMIT)

    def _verbs(self) -> list[str]:
        verbs = [self._verb(one) for one in self.operations]
        return list(dict.fromkeys(verbs))[-_MOST_VERBS:] or [RUN.verb]

    def _verb(self, operation: Operation) -> str:
        made, moved = self.materials.results, self.materials.moved
        stays = {posixpath.dirname(one) for one in made} <= {posixpath.dirname(one) for one in moved}
        return "rename" if operation is MOVE and moved and stays else operation.verb

    def _commands(self) -> list[str]:
        return [event.terminal.command for event in all_events(self.steps) if event.terminal]

    def _sources(self) -> str:
        """What the work begins with, in words; empty where that is not known."""
        material = self.materials
        every = (*material.supplied, *material.by_hand)
        known = [p for p in every if p not in material.results and not is_script(p)]
        if named := known or list(material.moved) or self._operands():
            return self._named(named)
        if patterns := [said for one in self._commands() for said in _globs(one)]:
            return patterns[-1]
        scripts = [p for p in (*material.scripts, *material.by_hand) if is_script(p)]
        return self._named(scripts) if scripts else ""

    def _operands(self) -> list[str]:
        results = {*self.materials.results}
        found = [
            path
            for step in self.steps
            for event in step.events
            if event.terminal and main_operation(DemonstratedStep(step.label, (event,))) in _BY_OPERAND
            for path in sources_in(event.terminal.command, event.terminal.working_folder)
        ]
        is_target = (p for p in found if not any(one == p or one.startswith(f"{p}/") for one in results))
        return [p for p in dict.fromkeys(is_target) if may_be_shown(p) and "*" not in p]

    def _share_a_stem(self, paths: Sequence[str]) -> bool:
        """Whether many files that no folder holds together have the first words of their paths in common."""
        is_many = len(self._apart(paths)) > _NAMED and not _folder_of(paths)
        return is_many and len({stem_of(one) for one in paths}) == 1

    def _apart(self, paths: Sequence[str]) -> list[str]:
        """The names of the files, a generated tree and a pattern as one each."""
        names = self.names.of_all(paths)
        trees = GeneratedTrees(names)
        return list(dict.fromkeys(trees.tree_of(one) or one for one in names))

    def _target(self, made: Sequence[str]) -> str:
        """What several files are put into: their folder, where they have one."""
        common = _folder_of(self._apart(made)) if len(made) > 1 else ""
        return f"the folder {shown_path(common)}" if common else self._named(made)

    def _named(self, paths: Sequence[str]) -> str:
        """One or two files by their names, more by their folder or what their names have in common."""
        apart = self._apart(paths)
        if len(apart) <= _NAMED and not any(map(is_pattern, apart)):
            return listed([shown_path(one) for one in apart])
        if common := _folder_of(apart):
            return f"the files in {shown_path(common)}"
        if words := _words_of(apart):
            return f"{words} files" if len(paths) > 1 else words
        return listed([shown_path(one) for one in apart], most=_NAMED)


def _folder_of(paths: Sequence[str]) -> str:
    """The folder that all of several files are in; empty where that is the lesson's own."""
    folder = posixpath.commonpath([posixpath.dirname(one) for one in paths])
    return "" if is_pattern(folder) else folder


def _words_of(paths: Sequence[str]) -> str:
    """The words that all names begin with: "part" of part_aa and part_ab."""
    stems = [stem_of(posixpath.basename(one)).split() for one in paths]
    return " ".join(words[0] for words in takewhile(_are_alike, zip(*stems, strict=False)))


def _are_alike(words: Sequence[str]) -> bool:
    return len(set(words)) == 1


def _globs(command: str) -> Iterator[str]:
    """What the patterns of a command and of its loops name, in words."""
    try:
        items = control_words(command).items
    except UnreadableCommand:
        return
    for word in (*items, *(word for part in parts_of(command) for word in part.operands)):
        found = _GLOB.fullmatch(word)
        if found and (found["folder"] or found["extension"]):
            place = f"in {found['folder']}" if found["folder"] else ""
            kind = f"{found['extension']} files" if found["extension"] else "the files"
            yield f"{kind} {place}".strip()
