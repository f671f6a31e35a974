"""Draft a skill bundle from an interpretation (DOC3 §0C.9A, §0C.23, §1.3; rows P-26, P-37, P-38)."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.base import clipped
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import OptionalStep, SemanticWorkflowInterpretation, SkillParameter
from contracts.learning.observation import BrowserAction, BrowserObservation
from contracts.learning.proposal import DraftedFile, RehearsalCommand, SkillDraft
from contracts.learning.questions import ASK_BELOW_CONFIDENCE, QuestionField
from contracts.learning.session import LearnSession
from domain.learning.checkpoints.checkpoint_lint import is_semantic, may_be_named
from domain.learning.checkpoints.checkpoints import may_be_shown, shown_path
from domain.learning.commands.command_line import hosts_in
from domain.learning.commands.command_safety import deleted_patterns, programs_used
from domain.learning.commands.operations import NetChange
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
from domain.learning.drafting.method import example_file, method_facts, script_files
from domain.learning.drafting.removals import moved_away, removals
from domain.learning.drafting.revision import in_words, support_packs
from domain.learning.drafting.skill_markdown import SkillDocument, render_skill_markdown, skill_description
from domain.learning.drafting.triggers import (
    edited_phrases,
    negative_triggers,
    trigger_cases,
    trigger_phrases,
)
from domain.learning.interpretation.browser import PASSWORD, submits
from domain.learning.interpretation.confidence import REQUIRED_FIELDS
from domain.learning.interpretation.inference import Materials, materials_of, operations_in, sites_of
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.naming import listed, slug_from_title
from domain.learning.interpretation.steps import DemonstratedStep, all_events, total_effects
from domain.learning.lesson_folders import lesson_folders
from domain.learning.proof.trial import ability_folders
from domain.learning.proof.wording import proven_files, proven_statements
from domain.learning.redaction.redaction import redact

_FIELD_NAMES = {
    QuestionField.NAME: "the name",
    QuestionField.GOAL_SUMMARY: "the goal",
    QuestionField.USE_CONDITIONS: "when to use it",
    QuestionField.SUCCESS_CONDITION: "how to tell success",
}

_FILES_LISTED = 6

_MOST_NAMED = 12

_MOST_PROGRAMS = 40


def draft_skill(
    interpretation: SemanticWorkflowInterpretation,
    events_kept: Sequence[DemonstratedStep],
    session: LearnSession,
    *,
    trigger_hints: Sequence[str] = (),
    edits: Mapping[str, object] | None = None,
    evidence: LessonEvidence | None = None,
    stated: StatedConditions | None = None,
) -> SkillDraft:
    """The skill bundle: SKILL.md, capability manifest, trigger and success tests, rehearsal commands.

    ``edits`` are a revision's fields as ``check_edits`` returns them; of these, slug and trigger phrases are
    used here, the others are in the interpretation already. Secrets in a person's wording are masked. With ``evidence``
    of a replay the draft begins with its starting state and states the conditions that it proved. ``stated`` is what is
    tested of the conditions of success, where that does not follow from these.
    """
    edited = edits or {}
    rehearsal = rehearsal_commands(events_kept)
    stated = stated or _stated(interpretation, evidence, edited, can_be_tested=bool(rehearsal))
    interpretation, untested = _masked(interpretation, stated.untested)
    slug = str(edited.get("proposed_skill_slug") or slug_from_title(interpretation.title))
    materials = materials_of(events_kept)
    names = LastingNames(events_kept, proven_files(evidence))
    wording = ParameterWording(interpretation.parameters)
    verbs = [o.verb for o in operations_in(events_kept)]
    phrases = edited_phrases(edited, "trigger_phrases") or trigger_phrases(
        interpretation,
        verbs,
        names.spoken_of(path for path in materials.results if not wording.speaks_in(path)),
        [redact(h, personal=True).text for h in trigger_hints],
    )
    phrases = tuple(dict.fromkeys(wording.unbraced(phrase) for phrase in phrases))
    blocked = edited_phrases(edited, "negative_triggers")
    blocked = negative_triggers(interpretation, phrases) if blocked is None else blocked
    scripts = script_files(evidence)
    programs = tuple(sorted(programs_used(r.command for r in rehearsal)))[:_MOST_PROGRAMS]
    capability_id = f"learned.{slug}"
    description = skill_description(
        interpretation.goal_summary,
        interpretation.title,
        interpretation.use_conditions,
        interpretation.non_use_conditions,
    )
    markdown = render_skill_markdown(
        SkillDocument(
            name=slug,
            title=interpretation.title,
            description=description,
            goal=interpretation.goal_summary,
            use_conditions=interpretation.use_conditions,
            non_use_conditions=interpretation.non_use_conditions,
            checkpoints=interpretation.checkpoints,
            untested_checkpoints=untested_checkpoints(
                interpretation, stated.tested, tests_files=stated.tests_files
            ),
            success_conditions=marked(interpretation.success_conditions, untested),
            also_tested=also_tested(
                stated.tested, interpretation.success_conditions, interpretation.parameters
            ),
            inputs=_inputs(events_kept, materials, rehearsal, wording, evidence),
            safety=[
                *(wording.formal(text) for text in _safety(events_kept, materials, rehearsal, names)),
                *([_tried_with(evidence.begun)] if evidence and evidence.begun else ()),
            ],
            programs=programs,
            triggers=phrases,
            negative_triggers=blocked,
            capability_id=capability_id,
            execution_mode=session.execution_mode,
            parameters=[_parameter(p) for p in interpretation.parameters],
            method=method_facts(rehearsal, interpretation.parameters, evidence) if evidence else (),
            scripts=[script.path for script in scripts],
            optional_steps=[_optional(step) for step in interpretation.optional_steps],
            documents=[in_words(one) for one in interpretation.dependencies],
            paths=tuple(
                dict.fromkeys(
                    (
                        *(wording.formal(p) for p in _paths(events_kept, materials, names)),
                        *map(wording.formal, _deleted_patterns(rehearsal)),
                        *_supplied(materials, rehearsal, evidence),
                        *(one.dependency_ref for one in interpretation.dependencies),
                        *(evidence.begun if evidence else ()),
                    )
                )
            ),
            unconfirmed=_unconfirmed(interpretation),
        )
    )
    manifest = capability_manifest(
        interpretation,
        events_kept,
        session,
        slug=slug,
        phrases=phrases,
        programs=programs,
        rehearsal=rehearsal,
    )
    cases = trigger_cases(interpretation.title, phrases, blocked, verbs)
    effects = [{"kind": e.kind, "path": e.path} for e in interpretation.observed_effects]
    return SkillDraft(
        title=interpretation.title,
        slug=slug,
        description=description,
        trigger_phrases=phrases,
        negative_triggers=blocked,
        files=(
            DraftedFile(path="SKILL.md", content=markdown),
            _json_file(f"capabilities/{capability_id}.json", _manifest_json(manifest)),
            _json_file("support-packs.json", support_packs(interpretation.dependencies)),
            _json_file("tests/success.json", effects),
            _json_file("tests/triggers.json", [c.model_dump(mode="json") for c in cases]),
            *(
                (_json_file(TOOL_BINDINGS, {"schema_version": 1, "bindings": bindings}),)
                if (bindings := [one.model_dump(mode="json") for one in manifest.tool_bindings])
                else ()
            ),
            *scripts,
            *(example_file(interpretation.title, rehearsal, interpretation.parameters) if evidence else ()),
        ),
        rehearsal=rehearsal,
        capability_id=capability_id,
        dependencies=programs,
        starting_state_id=evidence.state_id if evidence else None,
        folders=lesson_folders(all_events(events_kept)),
        conditions=stated.tested,
        untested=untested,
        unrehearsed=(
            *(evidence.unrehearsed if evidence and evidence.kept else unrehearsed_commands(events_kept)),
            *unrehearsed_actions(events_kept, interpretation.observed_effects),
        ),
    )


def _manifest_json(manifest: CapabilityManifest) -> dict[str, Any]:
    return manifest.model_dump(mode="json", exclude=None if manifest.input_schema else {"input_schema"})


def _json_file(path: str, value: Any) -> DraftedFile:
    return DraftedFile(
        path=path, content=json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    )


def _stated(
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
    interpretation: SemanticWorkflowInterpretation, untested: Collection[str]
) -> tuple[SemanticWorkflowInterpretation, tuple[str, ...]]:
    """The interpretation as it may be written into a skill, and what is ``untested``; the lint sees the original."""
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
    return masked, tuple(said for original, said in pairs if original in untested)


def _inputs(
    steps: Sequence[DemonstratedStep],
    materials: Materials,
    rehearsal: Sequence[RehearsalCommand],
    wording: ParameterWording,
    evidence: LessonEvidence | None,
) -> list[str]:
    found = browser_inputs(steps)
    folders = ability_folders(lesson_folders(all_events(steps)))
    found += [
        f"The folder {one.path}"
        + (f"; in the demonstration this was {one.shown}" if one.shown != one.name else "")
        for one in folders
        if len(folders) > 1
    ]
    if supplied := _supplied(materials, rehearsal, evidence):
        names = _named(supplied)
        found.append(f"The input to work on; in the demonstration this was {names}")
    if materials.scripts:
        found.append(f"The script {_named(materials.scripts)}, which does a part of the work")
    if materials.by_hand:
        names = _named(materials.by_hand)
        found.append(f"The content of {names}; in the demonstration it was entered by hand")
    if varying := [value for value in materials.varying if not wording.speaks_in(value)]:
        shown = listed(varying)
        found.append(f"The period, date or version that the names stand for; in the demonstration {shown}")
    hosts = [h for h in dict.fromkeys(h for r in rehearsal for h in hosts_in(r.command)) if may_be_named(h)]
    if hosts:
        found.append(
            f"The address to fetch from; in the demonstration it was on {listed(hosts[:_FILES_LISTED])}"
        )
    if materials.results:
        found.append("Other names for the results, if those of the demonstration do not suit")
    return found or ["Nothing beyond the request itself"]


def _supplied(
    materials: Materials, rehearsal: Sequence[RehearsalCommand], evidence: LessonEvidence | None
) -> list[str]:
    """The files to work on; a name with a blank in it is known as one by the replay alone."""
    blank = [path for path in (evidence.inputs if evidence else ()) if " " in path and may_be_shown(path)]
    named = (p for p in blank if any(p.rpartition("/")[2] in one.command for one in rehearsal))
    others = {*materials.by_hand, *materials.results, *materials.removed, *materials.scripts}
    return [path for path in dict.fromkeys((*materials.supplied, *named)) if path not in others]


def _safety(
    steps: Sequence[DemonstratedStep],
    materials: Materials,
    rehearsal: Sequence[RehearsalCommand],
    names: LastingNames,
) -> list[str]:
    totals = [e for e in total_effects(steps) if may_be_shown(e.path)]
    changed = [e.path for e in totals if e.change is NetChange.MODIFIED and names.lasts(e)]
    in_folder = any(e.terminal for e in all_events(steps))
    place = "the folder" if in_folder else "the site" if sites_of(steps) else "the app and the document"
    found = [f"Work only in {place} agreed on; leave everything else as it is"]
    gone = (*materials.removed, *materials.moved)
    if removed := removals(steps, gone, names):
        found.append(f"It removes {_named(removed)}: name what will go, and get a yes first")
    if moved := moved_away(steps, gone, names):
        found.append(
            f"It moves, renames or packs {_named(moved)}: name what becomes of them, and get a yes first"
        )
    if patterns := _deleted_patterns(rehearsal):
        found.append(
            f"It removes whatever {_named(patterns)} names, also files that were there before: name them all,"
            " and get a yes first"
        )
    if changed:
        found.append(f"It changes {_named(names.of_all(changed))}: keep a copy until the result is accepted")
    if materials.results and set(materials.results) - set(changed):
        found.append("If a result exists already, ask before replacing it")
    if any(hosts_in(r.command) for r in rehearsal):
        found.append(
            "It reaches the network: fetch only from addresses the person has named, and send nothing"
        )
    found += browser_safety(steps)
    found.append("If a checkpoint cannot be verified, stop and say which one and why; do not work around it")
    found.append("Keep passwords, keys and personal data out of files, file names and messages")
    return found


def _deleted_patterns(rehearsal: Sequence[RehearsalCommand]) -> tuple[str, ...]:
    found = (pattern for one in rehearsal for pattern in deleted_patterns(one.command))
    return tuple(pattern for pattern in dict.fromkeys(found) if may_be_shown(pattern))


def _tried_with(begun: Sequence[str]) -> str:
    return (
        f"It was tried with the first lines of {_named(begun)} alone: look at what it makes of a whole file"
    )


def _named(paths: Sequence[str]) -> str:
    shown = [shown_path(p) for p in paths[:_FILES_LISTED]]
    rest = len(paths) - len(shown)
    return listed([*shown, *([f"{rest} more"] if rest else [])])


def _paths(steps: Sequence[DemonstratedStep], materials: Materials, names: LastingNames) -> tuple[str, ...]:
    shown = [e.path for e in total_effects(steps) if may_be_shown(e.path)]
    every = (*shown, *names.of_all(shown), *materials.supplied, *materials.scripts)
    return tuple(dict.fromkeys(map(shown_path, every)))


def _parameter(parameter: SkillParameter) -> str:
    need = "" if parameter.required else ", optional"
    return f"{placeholder(parameter)} ({parameter.type.value}{need}): {parameter.description}"


def _optional(step: OptionalStep) -> str:
    return f"{step.label} (shown {in_some_only(step)})"


def _unconfirmed(interpretation: SemanticWorkflowInterpretation) -> list[str]:
    """The required fields that rest on a weak guess."""
    return [
        _FIELD_NAMES[c.field]
        for c in interpretation.confidences
        if c.field in REQUIRED_FIELDS and not c.confirmed and c.confidence < ASK_BELOW_CONFIDENCE
    ]


def browser_inputs(steps: Sequence[DemonstratedStep]) -> list[str]:
    """What to ask for before working on the sites of the demonstration; empty where none was worked on."""
    sites = sites_of(steps)
    if not sites:
        return []
    found = [f"The site to work on; in the demonstration it was {listed(sites[:_MOST_NAMED])}"]
    entered = _entered(steps, is_secret=False)
    if fields := entered[:_MOST_NAMED]:
        found.append(
            clipped(f"The values for {listed([f'“{name}”' for name in fields])}; none was kept", 400)
        )
    if others := _left_alone(steps, {*entered, *_entered(steps, is_secret=True)})[:_MOST_NAMED]:
        named = listed([f"“{name}”" for name in others])
        found.append(
            clipped(f"Whether {named} of the same page should be filled in; they were left alone", 400)
        )
    if _entered(steps, is_secret=True):
        found.append("A signed-in session: the person signs in; this skill holds no password")
    return found


def browser_safety(steps: Sequence[DemonstratedStep]) -> list[str]:
    """What to be careful of where the work sends something to a site."""
    if not any(submits(s.events) for s in steps):
        return []
    return ["It sends what is entered to a site: show the values, and get a yes before each form is sent"]


def _entered(steps: Sequence[DemonstratedStep], *, is_secret: bool) -> list[str]:
    """The names of the fields that were filled in, each once, those of a sign-in among the secret ones."""
    names: dict[str, None] = {}
    forms = _filled_in(steps)
    sign_ins = _sign_ins(forms)
    for form, observed in forms:
        name = observed.accessible_name or ""
        if (form in sign_ins) is is_secret and _is_a_name(name):
            names[name] = None
    return list(names)


_Form = tuple[str, str | None, int]


def _filled_in(steps: Sequence[DemonstratedStep]) -> list[tuple[_Form, BrowserObservation]]:
    """Every field that was filled in, with its form: a form without a name is told by what is sent in between."""
    found: list[tuple[_Form, BrowserObservation]] = []
    sent = 0
    for event in all_events(steps):
        observed = event.browser
        if observed is None:
            continue
        if observed.action in (BrowserAction.SUBMIT, BrowserAction.NAVIGATE):
            sent += 1
        elif observed.action in (BrowserAction.INPUT, BrowserAction.SELECT):
            number = 0 if observed.form_name else sent
            found.append(((observed.page_path, observed.form_name, number), observed))
    return found


def _sign_ins(forms: Sequence[tuple[_Form, BrowserObservation]]) -> set[_Form]:
    return {form for form, observed in forms if observed.value and observed.value.kind == PASSWORD}


def _left_alone(steps: Sequence[DemonstratedStep], filled: Collection[str]) -> list[str]:
    """The other fields of the pages on which some were filled in, as the pages showed them."""
    forms = _filled_in(steps)
    sign_ins = _sign_ins(forms)
    pages = {(form[0], observed.page_title) for form, observed in forms if form not in sign_ins}
    names: dict[str, None] = {}
    for event in all_events(steps):
        observed = event.browser
        if (
            observed is None
            or observed.outcome is None
            or (observed.page_path, observed.page_title) not in pages
        ):
            continue
        names |= {name: None for name in observed.outcome.fields if name not in filled and _is_a_name(name)}
    return list(names)


def _is_a_name(name: str) -> bool:
    return bool(name) and is_semantic(f"The field {name} is filled in")
