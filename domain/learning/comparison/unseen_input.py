"""Work in a program whose input was not seen (an editor, a prompt, a window), and what a person says of it.

Nothing shows how its result came about, so that no rehearsal can repeat it. A person is asked, with the change that it
caused; the answer is part of the method.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.generated_trees import GeneratedTrees
from contracts.learning.interpretation import MAX_UNSEEN_INPUTS, UnseenInput
from contracts.learning.observation import ObservedActionEvent, TerminalObservation
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.checkpoints.checkpoints import may_be_shown, shown_path
from domain.learning.commands.command_line import parts_of
from domain.learning.commands.typing_programs import waits_for_lines
from domain.learning.interpretation.hand_edits import replayed_line
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.obstacles import program_for_a_person
from domain.learning.redaction.redaction import redact

Answers = Iterable[tuple[LearningQuestion, LearningAnswer]]

NOT_KNOWN = "It is not known"
"""What is suggested as the answer, and holds where nobody answers."""

_FILES_NAMED = 3
_VERBS = {"created": "made", "modified": "changed", "deleted": "removed"}
_SAYS_NOTHING = re.compile(
    r"""(?ix) [\W_]* (?: (?:sorry|well|oh|hm+)\b [\W_]* )?
    (?:
      (?: (?:it|that)(?:\ is|['’]s)\ )? (?:not\ known|unknown) | nobody\ knows | as\ suggested
      | yes | no | none | nothing | n/?a | skip | pass | later | maybe | perhaps | whatever | dunno | idk | no\ idea
      | (?:i\ )? (?:do\ not|don['’]?t|cannot|can\ not|can['’]?t|no\ longer)\ (?:really\ )?
        (?:know|remember|recall|say|tell) (?:\ (?:it|that|any\ ?more))*
      | (?:i\ )? (?:have\ )? forg[eo]t(?:ten)? (?:\ it)?
      | (?:i(?:\ am|['’]?m)\ )? not\ sure
    )? [\W_]*""",
)
"""Answers without any information on what was done."""


@dataclass(frozen=True)
class UnseenWork:
    """What is asked of work in a program whose input was not seen."""

    unseen: UnseenInput
    field = QuestionField.TYPED_INPUT

    @property
    def about(self) -> str:
        """The command."""
        return self.unseen.command

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The commands that are meant: the same one may have been run several times."""
        return self.unseen.evidence_event_ids

    @property
    def prompt(self) -> str:
        """What a person is asked."""
        one = self.unseen
        done = "type" if any(map(waits_for_lines, parts_of(one.command))) else "do"
        return (
            f"What did you {done} in {one.program} in “{clipped(one.command, 80)}”? It {one.change}. "
            "Nothing else tells how it is to be done."
        )

    @property
    def suggestion(self) -> str:
        """What holds where nobody answers."""
        return NOT_KNOWN


def unseen_inputs(events: Sequence[ObservedActionEvent]) -> tuple[UnseenInput, ...]:
    """The commands of ``events`` that changed something by what a person did in them unseen; equal lines as one."""
    shown: dict[tuple[str, str], list[ObservedActionEvent]] = {}
    for event in events:
        if event.terminal is not None and (program := _unseen_program(event.terminal)) is not None:
            shown.setdefault((program, " ".join(event.terminal.command.split())), []).append(event)
    found = (
        UnseenInput(
            program=clipped(program, 80),
            command=clipped(redact(line, personal=True).text, 400),
            change=clipped(change, 400),
            evidence_event_ids=tuple(one.event_id for one in alike)[:50],
        )
        for (program, line), alike in shown.items()
        if (change := _change_of([one.terminal for one in alike if one.terminal]))
    )
    return tuple(found)[:MAX_UNSEEN_INPUTS]


def with_what_was_said(unseen: Sequence[UnseenInput], answers: Answers) -> tuple[UnseenInput, ...]:
    """``unseen`` with the answers about it, secrets masked."""
    said: dict[str, str] = {}
    for question, answer in _about_unseen(answers):
        text = answer.answer.strip()
        if not _SAYS_NOTHING.fullmatch(text):
            masked = clipped(redact(text, personal=True).text, 2000)
            said.update(dict.fromkeys(question.evidence_event_ids, masked))
    return tuple(
        one.changed(said=next((said[i] for i in one.evidence_event_ids if i in said), None)) for one in unseen
    )


def unseen_note(answers: Answers) -> str:
    """Which answers hold no information on the work; empty where all do, or say so themselves."""
    said = (
        f"“{clipped(' '.join(answer.answer.split()), 30)}” does not say what was done in"
        f" “{clipped(question.about or 'the program', 40)}”: the draft says that it is not known."
        for question, answer in _about_unseen(answers)
        if _SAYS_NOTHING.fullmatch(answer.answer) and answer.answer.strip() != question.suggestion
    )
    return " ".join(said)


def _about_unseen(answers: Answers) -> Sequence[tuple[LearningQuestion, LearningAnswer]]:
    return [pair for pair in answers if pair[0].field is QuestionField.TYPED_INPUT]


def _unseen_program(observed: TerminalObservation) -> str | None:
    """The program in which a person worked and whose input is not known; ``None`` where nothing is hidden."""
    line = replayed_line(observed)
    return program_for_a_person(observed.command if line is None else line)


def _change_of(observed: Sequence[TerminalObservation]) -> str:
    """What the commands did to files, in words; empty where they did nothing to any."""
    by_verb: dict[str, dict[str, None]] = {}
    files = [file for one in observed for file in one.produced_files]
    trees = GeneratedTrees(file.path for file in files)
    for file in files:
        path = trees.tree_of(file.path) or file.path
        named = shown_path(path) if may_be_shown(path) else "a file"
        inside = f" ({redact(file.inside, personal=True).text})" if file.inside else ""
        by_verb.setdefault(_VERBS[file.change], {})[named + inside] = None
    return listed([f"{verb} {listed(list(names), most=_FILES_NAMED)}" for verb, names in by_verb.items()])
