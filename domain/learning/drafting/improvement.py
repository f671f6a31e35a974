"""Improve an installed skill by a delta: three-way merge of its parts, manual edits preserved (DOC3 §0C.4, §0A.8).

``old`` → ``new`` is the proposed change, ``installed`` what was installed, ``present`` what is there now.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import Checkpoint, SemanticWorkflowInterpretation
from contracts.learning.proposal import (
    MAX_CONFLICTS,
    BaseConflict,
    BaseSkill,
    DraftedFile,
    SkillDraft,
)
from contracts.learning.session import LearnSession
from domain.learning.comparison.parameter_edits import (
    Taught,
    edited_parameters,
    fixed_values,
    known_again,
    renamed_in,
    renames,
    respoken,
    with_known,
)
from domain.learning.comparison.parameters import parameterised, placeholder
from domain.learning.conditions.stated_conditions import StatedConditions, stated_conditions
from domain.learning.drafting.drafting import draft_skill, states_success
from domain.learning.drafting.method import EXAMPLE, example_file
from domain.learning.drafting.revision import DEPENDENCIES
from domain.learning.drafting.skill_markdown import NOT_REPLAYED, parse_frontmatter, parts_of, texts_of
from domain.learning.interpretation.steps import DemonstratedStep, all_events

SKILL_FILE = "SKILL.md"

_TEXTS = ("title", "goal_summary")

_LISTS = ("use_conditions", "non_use_conditions", "success_conditions")

_SHOWN = (
    "checkpoints",
    "success_conditions",
    "observed_effects",
    "parameters",
    "optional_steps",
    "unseen_inputs",
    "preferred_control_surfaces",
)
"""What a new demonstration says better than the base; everything else keeps the base's words."""


@dataclass(frozen=True)
class Versions:
    """The four texts of one file."""

    installed: str
    present: str
    old: str
    new: str

    def all(self) -> tuple[str, str, str, str]:
        """The four in the order of the fields."""
        return self.installed, self.present, self.old, self.new


@dataclass(frozen=True)
class Merged:
    """The merged text, and the parts where the hand's text stayed against a proposed change."""

    text: str
    conflicts: tuple[BaseConflict, ...] = ()


@dataclass(frozen=True)
class BaseMaterial:
    """The base: how it was drafted, its installed files, and those edited since."""

    skill: BaseSkill
    draft: SkillDraft
    interpretation: SemanticWorkflowInterpretation
    installed: Mapping[str, str]
    edited: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Shown:
    """What new demonstrations say; ``stated`` are the fields whose words are a person's own.

    ``evidence`` is what the replay of the first one proved, where it was replayed.
    """

    interpretation: SemanticWorkflowInterpretation
    steps: Sequence[DemonstratedStep]
    stated: frozenset[str] = frozenset()
    evidence: LessonEvidence | None = None


@dataclass(frozen=True)
class ImprovementInput:
    """Everything an improvement is made of. Without ``shown`` the edits alone are the change."""

    interpretation_id: str
    proposal_id: str
    session: LearnSession
    now: datetime
    edits: Mapping[str, object]
    shown: Shown | None = None


@dataclass(frozen=True)
class _Speaking:
    """How texts speak of parameters now: by new names, or by the values of those that are fixed."""

    renamed: Mapping[str, str]
    fixed: Mapping[str, str]


@dataclass(frozen=True)
class Improvement:
    """The improved skill, and where the hand's text stayed against a proposed change."""

    interpretation: SemanticWorkflowInterpretation
    draft: SkillDraft
    conflicts: tuple[BaseConflict, ...]


def improve(base: BaseMaterial, source: ImprovementInput) -> Improvement:
    """The base with the change that was shown or edited, part by part.

    Name, description, support files and whatever a hand has written stay, except where the change is about
    just that part and no hand has touched it. The commands come with all that they were proved with (starting
    state, conditions, what is not rehearsed): from the new demonstration, or without one from the base. So do the facts
    that the result depends on; where the new demonstration was not replayed, they say so.

    Raises:
        Refusal: ``REVISION_INVALID`` when an edit would rename the skill, or is about a parameter it has not.
    """
    if source.edits.get("proposed_skill_slug", base.skill.skill_slug) != base.skill.skill_slug:
        raise Refusal(
            ErrorCode.REVISION_INVALID,
            f"An improvement keeps the name {base.skill.skill_slug}; teach a new skill for another name.",
            fields=["proposed_skill_slug"],
        )
    interpretation, speaking = _interpretation(base, source)
    old, new = _renderings(base, interpretation, source)
    files, conflicts = _merged_files(base, old, new, speaking)
    taught = new if source.shown else base.draft
    draft = taught.changed(
        title=interpretation.title,
        slug=base.skill.skill_slug,
        description=_description(files[SKILL_FILE], new.description),
        trigger_phrases=new.trigger_phrases,
        negative_triggers=new.negative_triggers,
        files=tuple(DraftedFile(path=path, content=content) for path, content in sorted(files.items())),
        packed=(),
        capability_id=base.draft.capability_id,
        conditions=new.conditions,
        untested=new.untested,
    )
    return Improvement(interpretation, draft, conflicts)


def _interpretation(
    base: BaseMaterial, source: ImprovementInput
) -> tuple[SemanticWorkflowInterpretation, _Speaking]:
    """The improved meaning, and which parameters have another name in it or are fixed."""
    changes: dict[str, object] = {
        "interpretation_id": source.interpretation_id,
        "learn_session_id": source.session.learn_session_id,
        "proposal_id": source.proposal_id,
        "created_at": source.now,
    }
    if source.shown is not None:
        said = _said(base, source, source.shown)
        kept = (*_SHOWN, *_said_anew(base.interpretation, said, source.shown.stated))
        changes.update({name: getattr(said, name) for name in kept})
    for name in _TEXTS:
        if name in source.edits:
            changes[name] = str(source.edits[name])
    for name in (*_LISTS, "checkpoints", "project_scope"):
        if name in source.edits:
            changes[name] = source.edits[name]
    if DEPENDENCIES in source.edits:
        changes["dependencies"] = source.edits[DEPENDENCIES]
    values = {**base.interpretation.model_dump(mode="python"), **changes}
    found = SemanticWorkflowInterpretation.model_validate(values)
    commands = [text for one in base.draft.rehearsal for text in (one.command, one.working_folder)]
    if source.shown is not None:
        lines = (e.terminal for e in all_events(source.shown.steps) if e.terminal)
        commands += [text for one in lines for text in (one.command, one.working_folder)]
    parameters = edited_parameters(found.parameters, source.edits, commands)
    gone = fixed_values(base.interpretation.parameters, (*found.parameters, *parameters))
    speaking = _Speaking(
        renames(found.parameters, parameters), gone | fixed_values(found.parameters, parameters)
    )
    known = {p.examples for p in found.parameters}
    found = renamed_in(found, parameters, speaking.renamed, speaking.fixed)
    if added := [p for p in parameters if p.examples not in known]:
        found = parameterised(found, added, source.edits, names_the_task=False).changed(parameters=parameters)
    ordered: tuple[Checkpoint, ...] = tuple(sorted(found.checkpoints, key=lambda c: c.order_hint))
    return found.changed(checkpoints=ordered), speaking


def _said_anew(
    base: SemanticWorkflowInterpretation, said: SemanticWorkflowInterpretation, stated: frozenset[str]
) -> Iterator[str]:
    """The fields whose words a person has stated, and those in which the base speaks of a parameter that is gone."""
    gone = [placeholder(p) for p in base.parameters if p.name not in {one.name for one in said.parameters}]
    for name in (*_TEXTS, *_LISTS):
        words: str | tuple[str, ...] = getattr(base, name)
        if (name in _TEXTS and name in stated) or any(mark in str(words) for mark in gone):
            yield name


def _said(base: BaseMaterial, source: ImprovementInput, shown: Shown) -> SemanticWorkflowInterpretation:
    """What was shown, still speaking of the base's parameters by the names they have there."""
    taught = Taught(base.draft.rehearsal, shown.steps, source.session.learn_session_id, source.now)
    fresh, known = shown.interpretation.parameters, base.interpretation.parameters
    again = known_again(fresh, known, taught)
    said = renamed_in(shown.interpretation, again, renames(fresh, again))
    kept = with_known(again, known, taught)
    left = [p for p in kept if p.name not in {one.name for one in again}]
    return parameterised(said, left, source.edits).changed(parameters=kept)


def _renderings(
    base: BaseMaterial, interpretation: SemanticWorkflowInterpretation, source: ImprovementInput
) -> tuple[SkillDraft, SkillDraft]:
    """The base and its improvement as the same drafter writes them: their difference is the change."""
    phrases = {
        "proposed_skill_slug": base.skill.skill_slug,
        "trigger_phrases": base.draft.trigger_phrases,
        "negative_triggers": base.draft.negative_triggers,
    }
    edits = {**phrases, **source.edits}
    if source.shown is None:
        tests_files = bool(base.draft.rehearsal)
        said = StatedConditions(base.draft.conditions, base.draft.untested, tests_files)
        old = _in_words(base, base.interpretation, source.session, phrases, said)
        if states_success(interpretation, source.edits):
            said = stated_conditions(
                interpretation.success_conditions,
                base.draft.conditions,
                base.interpretation.success_conditions,
                interpretation.parameters,
                tests_files=tests_files,
            )
        return old, _in_words(base, interpretation, source.session, edits, said)
    return base.draft, draft_skill(
        interpretation,
        source.shown.steps,
        source.session,
        edits=edits,
        evidence=source.shown.evidence,
        earlier=base.draft.files,
    )


def _in_words(
    base: BaseMaterial,
    interpretation: SemanticWorkflowInterpretation,
    session: LearnSession,
    edits: Mapping[str, object],
    stated: StatedConditions,
) -> SkillDraft:
    """What the words alone say, the example of the base among it: it speaks of title and parameters too."""
    draft = draft_skill(interpretation, (), session, edits=edits, stated=stated)
    drafted = next((file.content for file in base.draft.files if file.path == EXAMPLE), None)
    if drafted is None:
        return draft
    example = example_file(
        interpretation.title,
        base.draft.rehearsal,
        interpretation.parameters,
        is_replayed=NOT_REPLAYED not in drafted,
    )
    return draft.changed(files=(*draft.files, *example))


def _merged_files(
    base: BaseMaterial, old: SkillDraft, new: SkillDraft, speaking: _Speaking
) -> tuple[dict[str, str], tuple[BaseConflict, ...]]:
    manifest = f"capabilities/{base.draft.capability_id}.json"
    before = {_renamed(f.path, old, manifest): f.content for f in old.files}
    after = {_renamed(f.path, new, manifest): f.content for f in new.files}
    files: dict[str, str] = {}
    conflicts: list[BaseConflict] = []
    for path in dict.fromkeys((*base.installed, *base.edited, *after)):
        installed = base.installed.get(path, before.get(path, ""))
        present = base.edited.get(path, installed)
        drafted = before.get(path, "")
        texts = Versions(installed, present, drafted, after.get(path, drafted))
        if path in (SKILL_FILE, manifest):
            # A name that no parameter has any more would be of no use in a hand's text either.
            texts = Versions(*(str(respoken(text, speaking.renamed, speaking.fixed)) for text in texts.all()))
        merged = _merge(path, manifest, texts)
        files[path] = merged.text
        conflicts += merged.conflicts
    return files, tuple(conflicts[:MAX_CONFLICTS])


def _merge(path: str, manifest: str, texts: Versions) -> Merged:
    if path == SKILL_FILE:
        return merge_markdown(path, texts)
    return merge_json_object(path, texts) if path == manifest else merge_whole(path, texts)


def _renamed(path: str, draft: SkillDraft, manifest: str) -> str:
    return manifest if path == f"capabilities/{draft.capability_id}.json" else path


def _description(markdown: str, otherwise: str) -> str:
    """What the merged text says of itself, where it can be read."""
    try:
        found = parse_frontmatter(markdown).get("description")
    except Refusal:
        return otherwise
    return clipped(found, 1024) if isinstance(found, str) and found.strip() else otherwise


def merge_markdown(path: str, texts: Versions) -> Merged:
    """Merges a SKILL.md by its parts; the order is that of the present text."""
    installed, old, new = texts_of(texts.installed), texts_of(texts.old), texts_of(texts.new)
    present = texts_of(texts.present)
    order = [part.name for part in parts_of(texts.present)]
    merged = dict(present)
    conflicts: list[BaseConflict] = []
    for name in _changed(old, new):
        here, proposed = present.get(name), new.get(name)
        if here == proposed:
            continue
        if here != installed.get(name):
            conflicts.append(_conflict(path, name, here, proposed))
        elif proposed is None:
            merged.pop(name)
        else:
            if name not in merged:
                order.insert(_place(name, [part.name for part in parts_of(texts.new)], order), name)
            merged[name] = proposed
    return Merged("".join(_spaced(merged, order)), tuple(conflicts))


def merge_json_object(path: str, texts: Versions) -> Merged:
    """Merges a file that holds one JSON object by its keys; any other one as a whole."""
    parsed = [_object(text) for text in (texts.installed, texts.present, texts.old, texts.new)]
    if any(value is None for value in parsed):
        return merge_whole(path, texts)
    installed, present, old, new = (cast("dict[str, Any]", value) for value in parsed)
    merged = dict(present)
    conflicts: list[BaseConflict] = []
    for name in _changed(old, new):
        here, proposed = present.get(name), new.get(name)
        if here == proposed:
            continue
        if here != installed.get(name):
            conflicts.append(_conflict(path, name, _shown(here), _shown(proposed)))
        elif name in new:
            merged[name] = proposed
        else:
            merged.pop(name, None)
    if merged == present:
        return Merged(texts.present, tuple(conflicts))
    return Merged(json.dumps(merged, indent=2, ensure_ascii=False, sort_keys=True) + "\n", tuple(conflicts))


def merge_whole(path: str, texts: Versions) -> Merged:
    """Takes the new text where the hand has left the file alone."""
    if texts.old == texts.new or texts.present == texts.new:
        return Merged(texts.present)
    if texts.present == texts.installed:
        return Merged(texts.new)
    return Merged(texts.present, (_conflict(path, path, texts.present, texts.new),))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys((*new, *old)) if old.get(name) != new.get(name)]


def _place(name: str, wanted: Sequence[str], order: Sequence[str]) -> int:
    """Behind the nearest part that stands before it in the new text."""
    for before in reversed(wanted[: wanted.index(name)]):
        if before in order:
            return order.index(before) + 1
    return len(order)


def _spaced(merged: Mapping[str, str], order: Sequence[str]) -> list[str]:
    """The parts, a section never glued to the one before it."""
    kept = [name for name in order if name in merged]
    texts = [merged[name] for name in kept]
    for position in range(len(texts) - 1):
        if kept[position + 1].startswith("section ") and not texts[position].endswith("\n\n"):
            texts[position] = texts[position].rstrip("\n") + "\n\n"
    if texts and kept[-1].startswith("section "):
        texts[-1] = texts[-1].rstrip("\n") + "\n"
    return texts


def _conflict(path: str, part: str, yours: str | None, proposed: str | None) -> BaseConflict:
    return BaseConflict(
        path=clipped(path, 240),
        part=clipped(part, 160),
        yours=clipped(yours or "(removed)", 400),
        proposed=clipped(proposed or "(removed)", 400),
    )


def _object(text: str) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _shown(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
