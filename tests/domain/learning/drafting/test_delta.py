"""An improvement changes what it is about and keeps everything else of the installed skill."""

import json

import pytest

from contracts.errors import Refusal
from contracts.learning.observation import ObservedActionEvent
from contracts.learning.proposal import BaseSkill
from domain.learning.comparison.demonstrations import compared, shown_demonstrations
from domain.learning.comparison.parameters import parameterised, parameters_of
from domain.learning.drafting.drafting import draft_skill
from domain.learning.drafting.improvement import BaseMaterial, Improvement, ImprovementInput, Shown, improve
from domain.learning.drafting.skill_markdown import parse_frontmatter
from domain.learning.interpretation.interpretation import InterpretationInput, interpret
from tests.domain.conftest import Learned, Teaching

T = Teaching()


def report(at: int, quarter: str, *more: tuple[str, str]) -> list[ObservedActionEvent]:
    shown = [(f"sort -n in/{quarter}.csv > out/{quarter}.txt", f"+out/{quarter}.txt"), *more]
    return [T.command(at + n, command, made) for n, (command, made) in enumerate(shown)]


def learned(events: list[ObservedActionEvent], *, twice: bool = False) -> Learned:
    marks = [T.mark("start", 0), *([T.mark("start", 10)] if twice else [])]
    demonstrations = shown_demonstrations(events, marks)
    source = InterpretationInput(
        interpretation_id=T.id(2), proposal_id=T.id(3), session=T.session(), events=events,
        boundaries=marks, now=T.now, steps=demonstrations[0],
    )  # fmt: skip
    found = interpret(source)
    comparison = compared(demonstrations)
    if comparison is not None:
        found = parameterised(found, parameters_of(comparison), {})
    return Learned(found, demonstrations[0], draft_skill(found, demonstrations[0], T.session()))


def base_of(taught: Learned, edited: dict[str, str] | None = None, **extra: str) -> BaseMaterial:
    return BaseMaterial(
        skill=BaseSkill(
            ability_id=taught.draft.capability_id,
            skill_slug=taught.draft.slug,
            version=1,
            content_hash="0" * 64,
        ),
        draft=taught.draft,
        interpretation=taught.interpretation,
        installed={**{f.path: f.content for f in taught.draft.files}, **extra},
        edited=edited or {},
    )


def improved(base: BaseMaterial, shown: Learned | None = None, **edits: object) -> Improvement:
    source = ImprovementInput(
        interpretation_id=T.id(12), proposal_id=T.id(13), session=T.session(), now=T.now, edits=edits,
        shown=Shown(shown.interpretation, shown.steps) if shown else None,
    )  # fmt: skip
    return improve(base, source)


def files_of(found: Improvement) -> dict[str, str]:
    return {file.path: file.content for file in found.draft.files}


def test_an_improvement_of_nothing_is_the_installed_skill() -> None:
    taught = learned(report(1, "q3"))
    base = base_of(taught, **{"references/notes.md": "of a hand\n"})
    found = improved(base)

    assert files_of(found) == base.installed
    assert found.draft.rehearsal == taught.draft.rehearsal
    assert (found.draft.slug, found.draft.capability_id) == (taught.draft.slug, taught.draft.capability_id)
    assert found.conflicts == ()


def test_a_new_demonstration_changes_checkpoints_and_keeps_name_description_and_support_files() -> None:
    taught = learned(report(1, "q3"))
    better = learned(report(1, "q3", ("sha256sum out/q3.txt > out/q3.sum", "+out/q3.sum")))
    base = base_of(taught, **{"references/notes.md": "of a hand\n"})
    found = improved(base, better)
    files = files_of(found)

    assert "out/q3.sum" in files["SKILL.md"]
    assert parse_frontmatter(files["SKILL.md"])["description"] == taught.draft.description
    assert found.draft.description == taught.draft.description
    assert found.draft.trigger_phrases == taught.draft.trigger_phrases
    assert files["references/notes.md"] == "of a hand\n"
    assert [command.command for command in found.draft.rehearsal][-1].startswith("sha256sum")


def test_edited_checkpoints_replace_those_of_the_base_in_order() -> None:
    taught = learned(report(1, "q3"))
    checkpoints = [
        {
            "checkpoint_id": "cp-02",
            "goal": "It is packed",
            "success_condition": "x.tgz is there",
            "order_hint": 2,
        },
        {
            "checkpoint_id": "cp-01",
            "goal": "It is sorted",
            "success_condition": "x.txt is there",
            "order_hint": 1,
        },
    ]
    found = improved(base_of(taught), checkpoints=checkpoints)

    assert [c.checkpoint_id for c in found.interpretation.checkpoints] == ["cp-01", "cp-02"]
    assert "**It is packed.** (cp-02)" in files_of(found)["SKILL.md"]


def test_an_improvement_cannot_rename_the_skill() -> None:
    with pytest.raises(Refusal) as refused:
        improved(base_of(learned(report(1, "q3"))), proposed_skill_slug="another-name")

    assert refused.value.code == "REVISION_INVALID"


def test_the_manifest_keeps_what_a_hand_has_added_to_it() -> None:
    taught = learned(report(1, "q3"))
    path = f"capabilities/{taught.draft.capability_id}.json"
    by_hand = {**taught.json(path), "requires_supervision": True}
    found = improved(base_of(taught, {path: json.dumps(by_hand)}), title="Sort the new figures")
    manifest = json.loads(files_of(found)[path])

    assert manifest["requires_supervision"] is True
    assert manifest["title"] == "Sort the new figures"


def test_one_new_demonstration_keeps_the_parameters_and_adds_its_value_as_an_example() -> None:
    taught = learned([*report(1, "q3"), *report(11, "q4")], twice=True)
    better = learned(report(1, "q1", ("sha256sum out/q1.txt > out/q1.sum", "+out/q1.sum")))
    found = improved(base_of(taught), better)
    (parameter,) = found.interpretation.parameters
    text = files_of(found)["SKILL.md"]

    assert (parameter.name, parameter.examples) == ("quarter", ("q1", "q3", "q4"))
    assert "out/{quarter}.sum" in text
    assert "out/q1" not in text


def test_a_new_demonstration_of_another_task_speaks_of_no_old_parameter() -> None:
    taught = learned([*report(1, "q3"), *report(11, "q4")], twice=True)
    other = learned(
        [T.command(1, "pandoc a.md -o a.pdf", "+a.pdf"), T.command(2, "gzip -k a.pdf", "+a.pdf.gz")]
    )

    assert improved(base_of(taught), other).interpretation.parameters == ()


def twice(first: str, second: str, **edits: object) -> BaseMaterial:
    taught = learned([*report(1, first), *report(11, second)], twice=True)
    found = improved(base_of(taught), **edits)
    return BaseMaterial(
        skill=base_of(taught).skill,
        draft=found.draft,
        interpretation=found.interpretation,
        installed={f.path: f.content for f in found.draft.files},
    )


RENAMED = {
    "parameters": [
        {"name": "quarter", "new_name": "period", "description": "The period to report on", "required": False}
    ]
}


def test_a_renamed_parameter_is_called_so_in_every_part_of_an_improved_skill() -> None:
    found = improved(base_of(learned([*report(1, "q3"), *report(11, "q4")], twice=True)), **RENAMED)
    files = files_of(found)
    manifest = json.loads(files[f"capabilities/{found.draft.capability_id}.json"])

    assert "{period}" in files["SKILL.md"]
    assert not any("{quarter}" in text for text in files.values())
    assert manifest["input_schema"]["properties"]["period"]["description"] == "The period to report on"
    assert manifest["input_schema"]["required"] == []


def test_what_a_person_changed_about_a_parameter_outlives_one_new_demonstration() -> None:
    found = improved(twice("q3", "q4", **RENAMED), learned(report(1, "q1")))
    (parameter,) = found.interpretation.parameters

    assert (parameter.name, parameter.required) == ("period", False)
    assert parameter.description == "The period to report on"
    assert parameter.examples == ("q1", "q3", "q4")


def test_what_a_person_changed_about_a_parameter_outlives_two_new_demonstrations() -> None:
    better = learned([*report(1, "q1"), *report(11, "q2")], twice=True)
    found = improved(twice("q3", "q4", **RENAMED), better)
    (parameter,) = found.interpretation.parameters

    assert (parameter.name, parameter.required) == ("period", False)
    assert parameter.description == "The period to report on"
    assert parameter.examples == ("q1", "q2")
    assert not any("{quarter}" in text for text in files_of(found).values())


def test_a_type_that_new_values_are_not_of_becomes_text() -> None:
    base = twice("2024", "2025")
    found = improved(base, learned(report(1, "latest")))

    assert [p.type for p in base.interpretation.parameters] == ["number"]
    assert [(p.type, p.examples[0]) for p in found.interpretation.parameters] == [("text", "latest")]


def test_a_parameter_that_the_base_has_not_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        improved(base_of(learned(report(1, "q3"))), **RENAMED)

    assert refused.value.extra["fields"] == ["parameters/quarter/name"]
