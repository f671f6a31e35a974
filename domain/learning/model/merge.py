"""Merge a model's wording into the deterministic draft, or refuse it as out of bounds.

A pure function, and every doubt refuses. What a person stated stays; effects, surfaces, commands, permissions and
safety notes are the demonstration's; no checkpoint, non-use condition or negative trigger of the deterministic draft
is lost. A draft ends up in a SKILL.md that an agent reads, so an instruction that a demonstration smuggled past the
prompt is stopped here: only what was shown may be named, and no text may order an agent to skip something.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from contracts.base import clipped
from contracts.errors import Refusal
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import Checkpoint, SemanticWorkflowInterpretation
from contracts.learning.model_draft import DETERMINISTIC, MOST_CONDITIONS, KeptModelEdits, ModelDraftEdits
from contracts.learning.observation import BoundaryKind, WorkflowBoundary
from contracts.learning.proposal import CheckpointLintReport, LintSeverity, RehearsedDemonstration, SkillDraft
from contracts.learning.questions import QuestionField
from contracts.learning.session import LearnSession
from domain.abilities.trigger_tests import decoys, run_trigger_tests, trigger_cases
from domain.learning.checkpoints.checkpoint_lint import lint, personal_value_in
from domain.learning.commands.command_line import name_set
from domain.learning.commands.command_safety import programs_used
from domain.learning.comparison.parameter_edits import respoken
from domain.learning.drafting.drafting import draft_skill
from domain.learning.drafting.revision import MAX_LIST, check_edits
from domain.learning.interpretation.questions import Doubt
from domain.learning.interpretation.steps import DemonstratedStep, all_events

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
"""Orders to the reader of the skill: to drop its rules, to leave out asking or checking, to disclose something."""

_WORD = re.compile(r"[^\W\d_]{3,}")

_SMALL_WORDS = name_set(
    "the and for with from this that into onto when what have has file files make made please them then"
)

_FIELD_OF = {
    QuestionField.NAME: "title",
    QuestionField.GOAL_SUMMARY: "goal_summary",
    QuestionField.USE_CONDITIONS: "use_conditions",
    QuestionField.NON_USE_CONDITIONS: "non_use_conditions",
}

_PARAMETER = re.compile(r"\{\w+\}")

_WORDED = frozenset(ModelDraftEdits.model_fields)


class OutOfBounds(Exception):
    """A wording that may not be used; the text names the field and the rule, never the wording."""


@dataclass(frozen=True)
class DeterministicDraft:
    """What the rules made of a demonstration, and what they made it of."""

    session: LearnSession
    steps: Sequence[DemonstratedStep]
    interpretation: SemanticWorkflowInterpretation
    draft: SkillDraft
    stated: frozenset[str] = frozenset()
    """The fields that a person has stated (``stated_fields``)."""
    edits: Mapping[str, object] | None = None
    """The fields that a person has set by hand."""
    further: tuple[RehearsedDemonstration, ...] = ()
    """The other demonstrations of the same task, as far as they are rehearsed."""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """What parameters were called before a person renamed them, and are called now."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The values of the parameters that a person has made fixed."""
    doubts: tuple[Doubt, ...] = ()
    """Values that may be parameters, or need not be, and files that may be inputs."""
    evidence: LessonEvidence | None = None
    """What the replay of the first demonstration proved, where it was replayed."""


@dataclass(frozen=True)
class ChosenDraft:
    """The draft that is staged, with the lint's report, who wrote it, and why the model did not."""

    interpretation: SemanticWorkflowInterpretation
    draft: SkillDraft
    lint: CheckpointLintReport
    drafted_by: str
    note: str


def stated_fields(
    interpretation: SemanticWorkflowInterpretation,
    boundaries: Sequence[WorkflowBoundary],
    edits: Mapping[str, object],
) -> frozenset[str]:
    """The fields whose wording is a person's own: edited, answered, or said as the goal while showing."""
    stated = {_FIELD_OF[c.field] for c in interpretation.confidences if c.confirmed and c.field in _FIELD_OF}
    if any(b.kind is BoundaryKind.MARK_GOAL and (b.label or "").strip() for b in boundaries):
        stated.add("goal_summary")
    return frozenset(stated | (set(edits) & _WORDED))


def as_it_is(base: DeterministicDraft, note: str = "") -> ChosenDraft:
    """The deterministic draft; ``note`` says why no model worded it, where one was asked."""
    report = lint(base.interpretation, base.draft)
    return ChosenDraft(base.interpretation, base.draft, report, DETERMINISTIC, clipped(note, 240))


def chosen(base: DeterministicDraft, answer: KeptModelEdits, model: str) -> ChosenDraft:
    """``base`` in the model's words, or as it is where they may not be used."""
    try:
        return word_draft(base, answer, model)
    except OutOfBounds as problem:
        return as_it_is(base, f"What {model} proposed was not used: {problem}.")


def word_draft(base: DeterministicDraft, answer: KeptModelEdits, model: str) -> ChosenDraft:
    """``base`` with the model's wording where no person has stated one.

    Raises:
        OutOfBounds: the wording may not be used; the text says why.
    """
    # The model may have been asked before parameters were renamed.
    spoken = respoken(answer.edits.model_dump(mode="json"), base.renamed, base.fixed)
    edits = ModelDraftEdits.model_validate(spoken) if base.renamed or base.fixed else answer.edits
    shown = shown_in(base.interpretation, base.draft, base.steps, answer.wish)
    check_bounds(edits, shown)
    interpretation = _interpretation(base, edits, model)
    phrases = phrases_about(edits.trigger_phrases, shown)
    draft = _draft(base, interpretation, phrases, edits.negative_triggers)
    if lost := set(base.draft.negative_triggers) - set(draft.negative_triggers):
        raise OutOfBounds(f"it takes away {len(lost)} negative trigger(s) of the draft")
    _pass_trigger_tests(base, draft)
    report = lint(interpretation, draft)
    if not report.passed:
        first = next(f for f in report.findings if f.severity is LintSeverity.ERROR)
        raise OutOfBounds(clipped(f"the lint refuses it: {first.rule} {first.location}", 160))
    note = f"In the person's own words: {', '.join(sorted(base.stated))}." if base.stated else ""
    return ChosenDraft(interpretation, draft, report, interpretation.written_by, clipped(note, 240))


def _interpretation(
    base: DeterministicDraft, edits: ModelDraftEdits, model: str
) -> SemanticWorkflowInterpretation:
    before, stated = base.interpretation, base.stated
    proposed: dict[str, object] = {
        "title": edits.title,
        "goal_summary": edits.goal_summary,
        "use_conditions": edits.use_conditions,
        "non_use_conditions": _joined(before.non_use_conditions, edits.non_use_conditions),
    }
    changes = {name: value for name, value in proposed.items() if name not in stated}
    if "checkpoints" not in stated:
        changes["checkpoints"] = _checkpoints(before.checkpoints, edits)
    return before.changed(**changes, written_by=clipped(f"model:{model}", 80))


def _checkpoints(before: Sequence[Checkpoint], edits: ModelDraftEdits) -> tuple[Checkpoint, ...]:
    """The same checkpoints in the model's words and order."""
    known = {c.checkpoint_id: c for c in before}
    if sorted(c.checkpoint_id for c in edits.checkpoints) != sorted(known):
        raise OutOfBounds("checkpoints are not those of the draft, each once")
    for c in edits.checkpoints:
        if _parameters(c.goal, c.success_condition) != _parameters(
            known[c.checkpoint_id].goal, known[c.checkpoint_id].success_condition
        ):
            raise OutOfBounds(f"checkpoints/{c.checkpoint_id} does not name the parameters of the draft's")
    return tuple(
        Checkpoint(
            checkpoint_id=c.checkpoint_id,
            goal=" ".join(c.goal.split()),
            success_condition=" ".join(c.success_condition.split()),
            order_hint=position,
        )
        for position, c in enumerate(edits.checkpoints, start=1)
    )


def _parameters(*texts: str) -> set[str]:
    return {name for text in texts for name in _PARAMETER.findall(text)}


def _joined(kept: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
    """What the rules found comes first: it is never crowded out."""
    texts = dict.fromkeys((*kept, *added[:MOST_CONDITIONS]))
    return tuple(texts)[: max(len(kept), MAX_LIST)]


def _draft(
    base: DeterministicDraft,
    interpretation: SemanticWorkflowInterpretation,
    phrases: Sequence[str],
    negatives: Sequence[str],
) -> SkillDraft:
    edits = dict(base.edits or {})

    def drafted(edits: Mapping[str, object]) -> SkillDraft:
        return draft_skill(
            interpretation,
            base.steps,
            base.session,
            trigger_hints=phrases,
            edits=edits,
            evidence=base.evidence,
        )

    draft = drafted(edits)
    if "negative_triggers" in edits or not negatives:
        return draft
    blocking = {"negative_triggers": list(_joined(draft.negative_triggers, [n.lower() for n in negatives]))}
    blocked = drafted({**edits, **blocking})
    if _answered(blocked) < _answered(draft):
        raise OutOfBounds("a negative trigger blocks the skill's own trigger phrases")
    return blocked


def _answered(draft: SkillDraft) -> int:
    return sum(case.should_trigger for case in trigger_cases(draft))


def _pass_trigger_tests(base: DeterministicDraft, draft: SkillDraft) -> None:
    failing = _failing_triggers(draft, base.session.owner_user_id)
    # What a person has set can fail by itself: that is no reason to refuse the rest.
    if failing and len(failing) > len(_failing_triggers(base.draft, base.session.owner_user_id)):
        raise OutOfBounds(f"its own trigger tests fail ({failing[0]})")


def _failing_triggers(draft: SkillDraft, owner: str) -> list[str]:
    outcomes = run_trigger_tests(draft, trigger_cases(draft), decoys(), (), owner)
    return [outcome.test_case_id for outcome in outcomes if not outcome.passed]


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
