"""The method of a lesson in a skill bundle: the facts a result depends on, the scripts, and the example.

Three levels of disclosure: SKILL.md states the facts in words, ``scripts/`` holds what a person wrote and ran, and
``references/demonstration.md`` shows how it was done once, as an example and no recipe (DOC3 §0C.9A rule 6: SKILL.md
stays a document of checkpoints). Where the lesson was not replayed, all that was shown is stated, and that it was not
replayed.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.base import clipped
from contracts.learning.evidence import MAX_SCRIPTS, LessonEvidence, WrittenScript
from contracts.learning.interpretation import SkillParameter
from contracts.learning.observation import OUTSIDE_FOLDER
from contracts.learning.proposal import DraftedFile, RehearsalCommand
from domain.learning.checkpoints.checkpoint_lint import personal_value_in
from domain.learning.commands.command_line import scripts_run
from domain.learning.comparison.parameter_places import ParameterPlaces
from domain.learning.comparison.parameters import ParameterWording, placeholder
from domain.learning.drafting.skill_markdown import NOT_REPLAYED, MethodFact
from domain.learning.interpretation.steps import DemonstratedStep, all_events
from domain.learning.method.option_meanings import facts_of
from domain.learning.redaction.redaction import redact

MOST_FACTS = 40
"""Facts that SKILL.md states; the example holds the rest."""

LONGEST_SHOWN = 500
"""The longest command that is shown beside its facts, in characters."""

SCRIPTS_FOLDER, EXAMPLE = "scripts", "references/demonstration.md"

_WHERE = {".": "In the working folder", OUTSIDE_FOLDER: "Outside the folder of the lesson"}


@dataclass(frozen=True)
class WrittenPrograms:
    """The programs that a person wrote and ran, without those that hold a secret.

    ``written`` are the files that each command wrote, by its event.
    """

    scripts: tuple[WrittenScript, ...] = ()
    written: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def files(self) -> list[DraftedFile]:
        """The programs as files of the bundle."""
        found: dict[str, DraftedFile] = {}
        for script in self.scripts:
            path = f"{SCRIPTS_FOLDER}/{posixpath.basename(script.path)}"
            if path in found:
                path = f"{SCRIPTS_FOLDER}/{script.path.replace('/', '-')}"
            found[path] = DraftedFile(path=path, content=script.content)
        return list(found.values())

    @property
    def writers(self) -> frozenset[str]:
        """The events of the commands that wrote nothing but these programs."""
        kept = {script.path for script in self.scripts}
        return frozenset(event for event, paths in self.written.items() if paths and kept.issuperset(paths))


def written_programs(
    steps: Sequence[DemonstratedStep], evidence: LessonEvidence | None, earlier: Sequence[DraftedFile] = ()
) -> WrittenPrograms:
    """The programs of a lesson, as its replay found them, or without one as their text was observed.

    ``earlier`` are the files of the skill that the lesson improves: those of its programs that the lesson runs and did
    not write itself are kept.
    """
    if evidence is not None and evidence.reproduced:
        scripts = evidence.scripts
        written = {use.event_id: frozenset(use.written) for use in evidence.uses}
    else:
        scripts = _observed_scripts(steps)
        written = {
            event.event_id: frozenset(file.path for file in event.terminal.produced_files)
            for event in all_events(steps)
            if event.terminal
        }
    every = (*scripts, *_still_run(scripts, earlier, steps))
    return WrittenPrograms(tuple(one for one in every if redact(one.content).text == one.content), written)


def _observed_scripts(steps: Sequence[DemonstratedStep]) -> tuple[WrittenScript, ...]:
    """The programs whose text was recorded when they were written, as they were when they were run last."""
    texts: dict[str, str | None] = {}
    found: dict[str, WrittenScript] = {}
    for event in all_events(steps):
        if event.terminal is None:
            continue
        texts |= dict.fromkeys(file.path for file in event.terminal.produced_files)
        texts |= {one.path: one.text for one in event.terminal.written}
        for path in scripts_run(event.terminal.command, event.terminal.working_folder):
            if text := texts.get(path):
                found[path] = WrittenScript(path=path, content=text)
    return tuple(found.values())[:MAX_SCRIPTS]


def _still_run(
    scripts: Sequence[WrittenScript], earlier: Sequence[DraftedFile], steps: Sequence[DemonstratedStep]
) -> tuple[WrittenScript, ...]:
    run = {
        posixpath.basename(path)
        for event in all_events(steps)
        if event.terminal
        for path in scripts_run(event.terminal.command, event.terminal.working_folder)
    }
    run -= {posixpath.basename(script.path) for script in scripts}
    return tuple(
        WrittenScript(path=posixpath.basename(file.path), content=file.content)
        for file in earlier
        if posixpath.dirname(file.path) == SCRIPTS_FOLDER and posixpath.basename(file.path) in run
    )


def method_facts(
    commands: Sequence[RehearsalCommand],
    parameters: Sequence[SkillParameter],
    programs: WrittenPrograms,
    *,
    is_replayed: bool = True,
) -> list[MethodFact]:
    """For each command its facts in words, program by program, and a short command itself where it was replayed.

    Commands that wrote nothing but programs of ``scripts/`` are left out: the program is there as it came to be, and
    the first version of what was corrected later is no part of the method.
    """
    lines: dict[MethodFact, None] = {}
    places = ParameterPlaces([one.command for one in commands], parameters)
    writers = programs.writers
    for command in commands:
        if command.event_id in writers:
            continue
        place = _place(command.working_folder)
        typed = _masked(places.formal(_typed(command.command))) if is_replayed else ""
        for said in places.facts(
            command.command, lambda text, place=place: [place + one for one in facts_in_words(text)]
        ):
            lines[MethodFact(said, typed)] = None
    return list(lines)[:MOST_FACTS]


def _place(folder: str) -> str:
    """Says in which folder a command ran, where it is not the lesson's own."""
    if folder == OUTSIDE_FOLDER:
        return "outside the folder of the lesson: "
    return "" if folder == "." or personal_value_in(folder) is not None else f"in '{folder}': "


def facts_in_words(command: str) -> list[str]:
    """The facts of a command, program by program, on one line; none where it fixes nothing."""
    by_program: dict[str, list[str]] = {}
    for fact in facts_of(command):
        if personal_value_in(fact.text) is None:
            by_program.setdefault(fact.program, []).append(fact.text)
    said = "; ".join(
        f"{program}: {', '.join(dict.fromkeys(texts))}" if program else ", ".join(dict.fromkeys(texts))
        for program, texts in by_program.items()
    )
    return [_masked(said)] if said else []


def _typed(command: str) -> str:
    """The command as it was typed; empty where it is long, or speaks of a person's folder."""
    line = command.strip()
    is_short = "`" not in line and len(line) <= LONGEST_SHOWN
    return line if is_short and personal_value_in(line) is None else ""


def example_file(
    title: str,
    commands: Sequence[RehearsalCommand],
    parameters: Sequence[SkillParameter],
    *,
    is_replayed: bool,
) -> list[DraftedFile]:
    """How it was done once, the parameters marked; none where no command was shown."""
    if not commands:
        return []
    places = ParameterPlaces([one.command for one in commands], parameters)
    wording = ParameterWording(parameters)
    lines = [
        f"# {title}: how it was done once",
        "",
        "An example, not a recipe: files, names and values are those of the day. What the result depends on is in",
        "SKILL.md. The commands ran one after the other in one shell.",
        "",
        *([] if is_replayed else [NOT_REPLAYED, ""]),
    ]
    if parameters:
        shown = (f"- `{placeholder(p)}`: {p.examples[0]}" for p in parameters)
        lines += ["Values of the demonstration:", "", *shown, ""]
    for number, command in enumerate(commands, start=1):
        folder = command.working_folder
        where = _WHERE.get(folder) or f"(in `{wording.formal(folder)}`)"
        text = places.formal(redact(command.command, personal=True).text)
        fence = "````" if "```" in text else "```"
        lines += [f"{number}. {where}", "", f"{fence}sh", text, fence, ""]
    return [DraftedFile(path=EXAMPLE, content="\n".join(lines))]


def _masked(text: str) -> str:
    return clipped(redact(text, personal=True).text, 1200)
