"""Draft a skill bundle from an interpretation (DOC3 §0C.9A, §0C.23, §1.3; rows P-26, P-37, P-38)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.base import clipped
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import (
    OptionalStep,
    SemanticWorkflowInterpretation,
    SkillParameter,
    UnseenInput,
)
from contracts.learning.proposal import DraftedFile, SkillDraft
from contracts.learning.questions import ASK_BELOW_CONFIDENCE, QuestionField
from contracts.learning.session import LearnSession
from domain.learning.comparison.demonstrations import (
    in_some_only,
    rehearsal_commands,
    unrehearsed_actions,
    unrehearsed_commands,
)
from domain.learning.comparison.parameters import ParameterWording, placeholder
from domain.learning.conditions.stated_conditions import (
    StatedConditions,
    also_tested,
    marked,
    stated_conditions,
    untested_checkpoints,
)
from domain.learning.drafting.bundle import TOOL_BINDINGS, capability_manifest
from domain.learning.drafting.demonstrated_work import DemonstratedWork
from domain.learning.drafting.inputs_and_safety import inputs_to_ask_for, safety_rules
from domain.learning.drafting.method import example_file, method_facts
from domain.learning.drafting.revision import in_words, support_packs
from domain.learning.drafting.skill_markdown import SkillDocument, render_skill_markdown, skill_description
from domain.learning.drafting.triggers import (
    edited_phrases,
    negative_triggers,
    trigger_cases,
    trigger_phrases,
)
from domain.learning.interpretation.confidence import REQUIRED_FIELDS
from domain.learning.interpretation.naming import slug_from_title
from domain.learning.interpretation.steps import DemonstratedStep, all_events, total_effects
from domain.learning.lesson_folders import lesson_folders
from domain.learning.method.techniques import techniques_of
from domain.learning.proof.wording import proven_statements
from domain.learning.redaction.redaction import redact

_FIELD_NAMES = {
    QuestionField.NAME: "the name",
    QuestionField.GOAL_SUMMARY: "the goal",
    QuestionField.USE_CONDITIONS: "when to use it",
    QuestionField.SUCCESS_CONDITION: "how to tell success",
}


def draft_skill(
    interpretation: SemanticWorkflowInterpretation,
    events_kept: Sequence[DemonstratedStep],
    session: LearnSession,
    *,
    trigger_hints: Sequence[str] = (),
    edits: Mapping[str, object] | None = None,
    evidence: LessonEvidence | None = None,
    stated: StatedConditions | None = None,
    earlier: Sequence[DraftedFile] = (),
) -> SkillDraft:
    """The skill bundle: SKILL.md, capability manifest, trigger and success tests, rehearsal commands.

    ``edits`` are a revision's fields as ``check_edits`` returns them; of these, slug and trigger phrases are
    used here, the others are in the interpretation already. Secrets in a person's wording are masked. With ``evidence``
    of a replay the draft begins with its starting state and states the conditions that it proved. ``stated`` is what is
    tested of the conditions of success, where that does not follow from these; ``earlier`` are the files of the skill
    that this one improves, whose scripts stay where they are still run.
    """
    edited = edits or {}
    rehearsal = rehearsal_commands(events_kept)
    stated = stated or conditions_tested(interpretation, evidence, edited, can_be_tested=bool(rehearsal))
    interpretation, stated = _masked(interpretation, stated)
    wording = ParameterWording(interpretation.parameters)
    work = DemonstratedWork(events_kept, rehearsal, evidence, wording, earlier)
    phrases, blocked = _triggers(interpretation, work, trigger_hints, edited)
    manifest = capability_manifest(
        interpretation,
        events_kept,
        session,
        slug=str(edited.get("proposed_skill_slug") or slug_from_title(interpretation.title)),
        phrases=phrases,
        programs=work.programs,
        rehearsal=rehearsal,
    )
    document = _document(interpretation, work, manifest, stated, session, triggers=(phrases, blocked))
    return SkillDraft(
        title=interpretation.title,
        slug=document.name,
        description=document.description,
        trigger_phrases=phrases,
        negative_triggers=blocked,
        files=_files(interpretation, work, manifest, document),
        rehearsal=rehearsal,
        capability_id=manifest.capability_id,
        dependencies=work.programs,
        starting_state_id=evidence.state_id if evidence else None,
        folders=lesson_folders(all_events(events_kept)),
        conditions=stated.tested,
        untested=stated.untested,
        unrehearsed=(
            *(evidence.unrehearsed if evidence and evidence.kept else unrehearsed_commands(events_kept)),
            *unrehearsed_actions(events_kept, interpretation.observed_effects),
        ),
        left_out=evidence.left_out if evidence else (),
    )


def _triggers(
    interpretation: SemanticWorkflowInterpretation,
    work: DemonstratedWork,
    hints: Sequence[str],
    edits: Mapping[str, object],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The trigger phrases and the negative triggers: those of a revision, else made up."""
    wording = work.wording
    phrases = edited_phrases(edits, "trigger_phrases") or trigger_phrases(
        interpretation,
        work.verbs,
        work.names.spoken_of(path for path in work.materials.results if not wording.speaks_in(path)),
        [redact(hint, personal=True).text for hint in hints],
    )
    phrases = tuple(dict.fromkeys(wording.unbraced(phrase) for phrase in phrases))
    blocked = edited_phrases(edits, "negative_triggers")
    return phrases, negative_triggers(interpretation, phrases) if blocked is None else blocked


def _document(
    interpretation: SemanticWorkflowInterpretation,
    work: DemonstratedWork,
    manifest: CapabilityManifest,
    stated: StatedConditions,
    session: LearnSession,
    *,
    triggers: tuple[Sequence[str], Sequence[str]],
) -> SkillDocument:
    """What SKILL.md says. ``triggers`` are the trigger phrases and the negative triggers."""
    phrases, blocked = triggers
    parameters, conditions = interpretation.parameters, interpretation.success_conditions
    return SkillDocument(
        name=manifest.origin_skill,
        title=interpretation.title,
        description=skill_description(
            interpretation.goal_summary,
            interpretation.title,
            interpretation.use_conditions,
            interpretation.non_use_conditions,
        ),
        goal=interpretation.goal_summary,
        use_conditions=interpretation.use_conditions,
        non_use_conditions=interpretation.non_use_conditions,
        checkpoints=interpretation.checkpoints,
        untested_checkpoints=untested_checkpoints(
            interpretation, stated.tested, tests_files=stated.tests_files
        ),
        success_conditions=marked(conditions, stated.untested),
        also_tested=also_tested(stated.tested, conditions, parameters),
        inputs=inputs_to_ask_for(work),
        safety=safety_rules(work),
        programs=work.programs,
        triggers=phrases,
        negative_triggers=blocked,
        capability_id=manifest.capability_id,
        execution_mode=session.execution_mode,
        parameters=[_parameter(p) for p in parameters],
        method=method_facts(work.shown, parameters, work.written, is_replayed=work.is_replayed),
        is_replayed=work.is_replayed,
        techniques=techniques_of((one.command for one in work.rehearsal), total_effects(work.steps)),
        scripts=[script.path for script in work.written.files],
        unseen=[_unseen(one, work.wording) for one in interpretation.unseen_inputs],
        optional_steps=[_optional(step) for step in interpretation.optional_steps],
        documents=[in_words(one) for one in interpretation.dependencies],
        paths=(*work.paths, *(one.dependency_ref for one in interpretation.dependencies)),
        unconfirmed=_unconfirmed(interpretation),
    )


def _files(
    interpretation: SemanticWorkflowInterpretation,
    work: DemonstratedWork,
    manifest: CapabilityManifest,
    document: SkillDocument,
) -> tuple[DraftedFile, ...]:
    """The files of the bundle, SKILL.md first."""
    cases = trigger_cases(interpretation.title, document.triggers, document.negative_triggers, work.verbs)
    effects = [{"kind": e.kind, "path": e.path} for e in interpretation.observed_effects]
    bindings = [one.model_dump(mode="json") for one in manifest.tool_bindings]
    return (
        DraftedFile(path="SKILL.md", content=render_skill_markdown(document)),
        _json_file(f"capabilities/{manifest.capability_id}.json", _manifest_json(manifest)),
        _json_file("support-packs.json", support_packs(interpretation.dependencies)),
        _json_file("tests/success.json", effects),
        _json_file("tests/triggers.json", [c.model_dump(mode="json") for c in cases]),
        *([_json_file(TOOL_BINDINGS, {"schema_version": 1, "bindings": bindings})] if bindings else []),
        *work.written.files,
        *example_file(
            interpretation.title, work.shown, interpretation.parameters, is_replayed=work.is_replayed
        ),
    )


def _manifest_json(manifest: CapabilityManifest) -> dict[str, Any]:
    return manifest.model_dump(mode="json", exclude=None if manifest.input_schema else {"input_schema"})


def _json_file(path: str, value: Any) -> DraftedFile:
    return DraftedFile(
        path=path, content=json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    )


def conditions_tested(
    interpretation: SemanticWorkflowInterpretation,
    evidence: LessonEvidence | None,
    edits: Mapping[str, object],
    *,
    can_be_tested: bool,
) -> StatedConditions:
    """What is tested: what was proven, and where a person states the conditions, those of them that can be read."""
    proven = evidence.conditions if evidence else ()
    if not states_success(interpretation, edits):
        return StatedConditions(proven, tests_files=can_be_tested)
    if not can_be_tested:
        return StatedConditions((), interpretation.success_conditions, tests_files=False)
    return stated_conditions(
        interpretation.success_conditions, proven, proven_statements(evidence), interpretation.parameters
    )


def states_success(interpretation: SemanticWorkflowInterpretation, edits: Mapping[str, object]) -> bool:
    """Whether a person has stated the conditions of success."""
    return "success_conditions" in edits or any(
        one.confirmed for one in interpretation.confidences if one.field is QuestionField.SUCCESS_CONDITION
    )


def _masked(
    interpretation: SemanticWorkflowInterpretation, stated: StatedConditions
) -> tuple[SemanticWorkflowInterpretation, StatedConditions]:
    """Both as they may be written into a skill; the lint sees the original."""
    texts = {"title": 160, "goal_summary": 600}
    lists = ("use_conditions", "non_use_conditions", "success_conditions")
    changes: dict[str, Any] = {
        name: clipped(redact(getattr(interpretation, name), personal=True).text, limit)
        for name, limit in texts.items()
    }
    for name in lists:
        changes[name] = tuple(
            clipped(redact(t, personal=True).text, 240) for t in getattr(interpretation, name)
        )
    masked = interpretation.changed(**changes)
    pairs = zip(interpretation.success_conditions, masked.success_conditions, strict=True)
    untested = tuple(said for original, said in pairs if original in stated.untested)
    return masked, replace(stated, untested=untested)


def _parameter(parameter: SkillParameter) -> str:
    need = "" if parameter.required else ", optional"
    return f"{placeholder(parameter)} ({parameter.type.value}{need}): {parameter.description}"


def _unseen(unseen: UnseenInput, wording: ParameterWording) -> UnseenInput:
    """Speaking of the parameters."""
    said = clipped(wording.formal(unseen.said), 2000) if unseen.said is not None else None
    command, change = (clipped(wording.formal(text), 400) for text in (unseen.command, unseen.change))
    return unseen.changed(command=command, change=change, said=said)


def _optional(step: OptionalStep) -> str:
    return f"{step.label} (shown {in_some_only(step)})"


def _unconfirmed(interpretation: SemanticWorkflowInterpretation) -> list[str]:
    """The required fields that rest on a weak guess."""
    return [
        _FIELD_NAMES[c.field]
        for c in interpretation.confidences
        if c.field in REQUIRED_FIELDS and not c.confirmed and c.confidence < ASK_BELOW_CONFIDENCE
    ]
