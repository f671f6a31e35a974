"""The bounds of a model's wording: nothing the demonstration does not hold, no command, no order to an agent.

A draft ends up in a SKILL.md that an agent reads. What a demonstration smuggled past the model's instructions is
stopped here: only what was shown may be named, and whoever reads the skill is told to skip nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.errors import Refusal
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.model_draft import ModelDraftEdits
from contracts.learning.proposal import SkillDraft
from domain.learning.command_safety import programs_used
from domain.learning.lint_patterns import personal_value_in
from domain.learning.revision import check_edits
from domain.learning.shell_calls import name_set
from domain.learning.steps import DemonstratedStep, all_events

STEM_CHARS = 4
"""Two words with as many letters in common at their start are taken for forms of one."""

_COMMAND = re.compile(
    r"`|\$[({\w]|&&|\|\||(?<!\S)\||[<>]{1,2}\s*\S|(?<!\S)--?[A-Za-z]|;\s*\w+\s|\]\(|\w+://|\bwww\.|\{\{|\}\}"
)
_NAME = re.compile(r"[\w@%+~.:\\/{}-]*[./\\~][\w@%+~.:\\/{}-]*")
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?")
_EITHER_OR = frozenset({"and/or", "either/or", "yes/no", "input/output", "read/write", "he/she"})
_PROGRAMS = name_set(
    """bash zsh sh pwsh powershell cmd.exe sudo doas eval exec curl wget nc ncat netcat telnet ssh scp sftp
    rsync ftp rm rmdir mkfs fdisk chmod chown chgrp crontab systemctl kubectl terraform docker podman pip pip3 pipx
    npm npx yarn apt apt-get dnf yum git python python3 perl ruby osascript regsvr32 certutil"""
)
"""Program names that are hardly ever words of a sentence about something else."""

_STEERING = re.compile(
    r"(?i)\b(?:ignor|disregard|forget|overrid|bypass|circumvent|disabl)\w*\b.{0,40}"
    r"\b(?:instruction|rule|prompt|safety|polic|confirm|approv|permission|sandbox|guard|warning)"
    r"|\bsystem prompt\b|\b(?:you are now|act as|pretend to be)\b"
    r"|\bwithout\s+(?:\w+\s+)?(?:asking|confirm|approv|verif|checking|telling|permission|consent|review)"
    r"|\b(?:never|do not|don.?t|no need to|need not|skip\w*|leave out)\s+(?:\w+ly\s+|the\s+|any\s+|to\s+)*"
    r"(?:ask|confirm|approv|verif|check|tell|warn|review)"
    r"|\b(?:exfiltrat|upload|send|post|mail|forward|transmit|leak|reveal|print|show)\w*\b.{0,60}"
    r"\b(?:passwords?|secrets?|tokens?|credentials?|api keys?|private keys?)\b"
)
"""Orders to whoever reads the skill: to drop its rules, to leave out asking or checking, to disclose something."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_SMALL_WORDS = name_set(
    "the and for with from this that into onto when what have has file files make made please them then"
)


class OutOfBounds(Exception):
    """A wording that may not be used; the text names the field and the rule, never the wording."""


@dataclass(frozen=True)
class Shown:
    """What a demonstration, and what a person said about it, holds in words."""

    text: str
    programs: frozenset[str]
    stems: frozenset[str]

    def has_name(self, name: str) -> bool:
        """Whether a path, file or host name occurs in it as a whole."""
        return re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", self.text) is not None

    def speaks_of(self, text: str) -> bool:
        """Whether ``text`` has a word in common with it, in some form."""
        return bool(_stems(text) & self.stems)


def shown_in(
    interpretation: SemanticWorkflowInterpretation,
    draft: SkillDraft,
    steps: Sequence[DemonstratedStep],
    said: str = "",
) -> Shown:
    """What may be named: the deterministic draft, the commands and their files, and ``said``, a person's wish."""
    events = all_events(steps)
    texts = [
        interpretation.title,
        interpretation.goal_summary,
        *interpretation.use_conditions,
        *interpretation.non_use_conditions,
        *interpretation.success_conditions,
        *(text for c in interpretation.checkpoints for text in (c.goal, c.success_condition)),
        *draft.trigger_phrases,
        *(e.terminal.command for e in events if e.terminal),
        *(f.path for e in events if e.terminal for f in e.terminal.produced_files),
        said,
    ]
    text = "\n".join(texts).lower()
    # A label is what a page or a window calls itself: it lends its words, but no names of files or hosts.
    words = "\n".join([text, *(step.label for step in steps)])
    return Shown(text, frozenset(programs_used(c.command for c in draft.rehearsal)), frozenset(_stems(words)))


def check_bounds(edits: ModelDraftEdits, shown: Shown) -> None:
    """Nothing, where every text is within bounds.

    Raises:
        OutOfBounds: for the first text that is not.
    """
    try:
        check_edits(edits.model_dump(mode="json"))
    except Refusal as refusal:
        raise OutOfBounds(clipped(refusal.message.rstrip("."), 160)) from None
    for where, text in _texts(edits):
        if problem := _problem(text, shown):
            raise OutOfBounds(clipped(f"{where} {problem}", 200))
    if not shown.speaks_of(edits.title):
        raise OutOfBounds("title has no word in common with the demonstration")


def phrases_about(phrases: Iterable[str], shown: Shown) -> tuple[str, ...]:
    """The phrases of two words and more that speak of what was shown, each once."""
    kept = (" ".join(p.split()) for p in phrases)
    return tuple(dict.fromkeys(p for p in kept if len(p.split()) > 1 and shown.speaks_of(p)))


def _problem(text: str, shown: Shown) -> str | None:
    if found := personal_value_in(text):
        return f"holds {found}"
    if _STEERING.search(text):
        return "tells an agent to leave out a check or to disclose something"
    if _COMMAND.search(text):
        return "holds a command, markup or an address"
    if any(not shown.has_name(name) for name in _names(text)):
        return "names a file or a place that was not shown"
    programs = set(re.findall(r"[a-z][\w.-]*", text.lower())) & _PROGRAMS
    return "names a program that was not used" if programs - shown.programs else None


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        name = match.group(0).strip(".,:;")
        plain_word = not re.search(r"[./\\~]", name) or not re.search(r"[^\W\d_]", name)
        if not plain_word and not _ABBREVIATION.fullmatch(name) and name.lower() not in _EITHER_OR:
            yield name


def _texts(edits: ModelDraftEdits) -> Iterator[tuple[str, str]]:
    yield from (("title", edits.title), ("goal_summary", edits.goal_summary))
    for name in ("use_conditions", "non_use_conditions", "trigger_phrases", "negative_triggers"):
        texts: tuple[str, ...] = getattr(edits, name)
        yield from ((f"{name}/{position}", text) for position, text in enumerate(texts))
    for checkpoint in edits.checkpoints:
        where = f"checkpoints/{checkpoint.checkpoint_id}"
        yield f"{where}/goal", checkpoint.goal
        yield f"{where}/success_condition", checkpoint.success_condition


def _stems(text: str) -> set[str]:
    return {word[:STEM_CHARS] for word in _WORD.findall(text.lower()) if word not in _SMALL_WORDS}
