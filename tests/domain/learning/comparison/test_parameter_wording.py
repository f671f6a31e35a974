"""Texts speak of a parameter where the demonstration had a value, and of nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.interpretation import SkillParameter
from domain.learning.comparison.demonstrations import compared, shown_demonstrations
from domain.learning.comparison.parameters import (
    ParameterWording,
    parameter_schema,
    parameterised,
    parameters_of,
)
from domain.learning.drafting.drafting import draft_skill
from domain.learning.interpretation.interpretation import InterpretationInput, interpret
from tests.domain.conftest import Learned, Teaching

T = Teaching()


def parameter(name: str, *examples: str, kind: str = "text") -> SkillParameter:
    return SkillParameter.model_validate(
        {"name": name, "type": kind, "description": "d", "examples": examples, "required": all(examples)}
    )


QUARTER = parameter("quarter", "q3", "q4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The file reports/q3/top.txt exists", "The file reports/{quarter}/top.txt exists"),
        ("q4.csv is there", "{quarter}.csv is there"),
        ("Pack q3 and q4", "Pack {quarter} and {quarter}"),
        ("The seq3 of q33", "The seq3 of q33"),
    ],
)
def test_every_example_of_a_parameter_is_spoken_of_by_its_name(text: str, said: str) -> None:
    assert ParameterWording([QUARTER]).formal(text) == said


def test_a_title_speaks_of_the_parameter_in_words() -> None:
    wording = ParameterWording([parameter("input_file", "sales.csv", "costs.csv")])

    assert wording.spoken("Sort sales.csv") == "Sort input file"
    assert wording.unbraced("Sort {input_file}") == "Sort input file"


def test_a_bare_short_number_is_replaced_in_names_only() -> None:
    wording = ParameterWording([parameter("number", "3", "12", kind="number")])

    assert wording.formal("The 3 largest of out-3.csv") == "The 3 largest of out-{number}.csv"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("python3 check_config.py config", "python3 check_config.py {folder}"),
        ("python3 pre-config.py ./config/a.json", "python3 pre-config.py ./{folder}/a.json"),
        ("cat app.config", "cat app.config"),
        ("tool --config config", "tool --config {folder}"),
        ("tool --from=config", "tool --from={folder}"),
        ("cp old_config/x new/config/x", "cp old_config/x new/{folder}/x"),
        ("grep -r port 'config'", "grep -r port '{folder}'"),
        ("tar czf config-2026.tar.gz config", "tar czf {folder}-2026.tar.gz {folder}"),
        ("reconfig and configs", "reconfig and configs"),
        ("config/settings.ini", "{folder}/settings.ini"),
    ],
)
def test_a_path_is_replaced_by_its_own_name_and_not_within_another(text: str, said: str) -> None:
    assert ParameterWording([parameter("folder", "config", kind="path")]).formal(text) == said


@pytest.mark.parametrize(
    ("value", "kind", "text", "said"),
    [
        (".", "path", "find . -type f; cd ../usb > ../usb/a.txt; ./a.sh", None),
        ("..", "path", "ls .. ../usb ../.. a../b", None),
        ("/", "path", "ls / /usr/bin a/b", None),
        ("~", "path", "cp ~ ~/a b~c.txt", None),
        (",", "text", "sort -t, a.csv | awk -F, '{print $1,$2}' > a,b.csv", None),
        (";", "text", "cut -d';' a; paste -d ';' b", "cut -d'{x}' a; paste -d '{x}' b"),
        ("-", "text", "tar cf - a-b | tar tf -", None),
        ("a", "text", "ls -a --a plan-a.txt", "ls -a --a plan-{x}.txt"),
        ("a", "path", "sed s/a/b/ ./a > a.txt; grep -a x", "sed s/a/b/ ./{x} > {x}.txt; grep -a x"),
        ("5", "number", "head -5 a > top-5.txt", "head -{x} a > top-{x}.txt"),
        (".env", "path", "cat .env ./.env prod.env a..env", "cat {x} ./{x} prod.env a..env"),
        ("1.4", "text", "v1.4 1.4.2 2.1.4 v1.4.0 1.40 1.4", "v{x} 1.4.2 2.1.4 v1.4.0 1.40 {x}"),
        ("art", "path", "cp art chart.txt; cat start/art.txt", "cp {x} chart.txt; cat start/{x}.txt"),
    ],
)
def test_a_value_is_replaced_where_it_stands_for_itself(
    value: str, kind: str, text: str, said: str | None
) -> None:
    assert ParameterWording([parameter("x", value, kind=kind)]).formal(text) == (said or text)


def test_the_longer_example_goes_first() -> None:
    wording = ParameterWording([parameter("name", "anna", "bob"), parameter("place", "anna-lena", "ulm")])

    assert wording.formal("reports/anna-lena.csv of anna") == "reports/{place}.csv of {name}"


def test_a_text_that_speaks_of_a_parameter_named_like_its_value_stays_as_it_is() -> None:
    wording = ParameterWording([parameter("overdue", "overdue"), parameter("name", "anna")])
    said = wording.formal("write overdue.txt for anna")

    assert said == "write {overdue}.txt for {name}"
    assert wording.formal(said) == said
    assert wording.formal('test -n "${overdue}"') == 'test -n "${{overdue}}"'


@given(st.text())
def test_without_parameters_a_text_stays_as_it_is(text: str) -> None:
    wording = ParameterWording([])

    assert (wording.formal(text), wording.spoken(text), wording.speaks_in(text)) == (text, text, False)


def learned_twice(edits: dict[str, object] | None = None) -> Learned:
    events = [
        T.command(1, "sort -n in/q3.csv > out/q3.txt", "+out/q3.txt"),
        T.command(11, "sort -n in/q4.csv > out/q4.txt", "+out/q4.txt"),
    ]
    marks = [T.mark("start", 0), T.mark("mark_goal", 0.5, "Sort the figures of q3"), T.mark("start", 10)]
    shown = shown_demonstrations(events, marks)
    comparison = compared(shown)
    assert comparison is not None
    source = InterpretationInput(
        interpretation_id=T.id(2), proposal_id=T.id(3), session=T.session(), events=events,
        boundaries=marks, now=T.now, edits=edits or {}, steps=shown[0],
    )  # fmt: skip
    interpretation = parameterised(interpret(source), parameters_of(comparison), edits or {})
    return Learned(interpretation, shown[0], draft_skill(interpretation, shown[0], T.session(), edits=edits))


def test_goal_checkpoints_triggers_and_text_speak_of_the_parameter() -> None:
    learned = learned_twice()
    said = [
        learned.interpretation.goal_summary,
        *learned.interpretation.success_conditions,
        *(c.success_condition for c in learned.interpretation.checkpoints),
        *learned.draft.trigger_phrases,
        learned.draft.title,
    ]
    section = learned.file("SKILL.md").partition("## Parameters")[2].partition("##")[0]

    assert not any("q3" in text or "q4" in text for text in said)
    assert learned.interpretation.goal_summary == "Sort the figures of {quarter}"
    assert learned.draft.title == "Sort the figures of quarter"
    assert "{quarter} (text): The quarter: “q3” and “q4”" in section


def test_the_observed_effects_and_the_rehearsal_stay_as_they_were_seen() -> None:
    learned = learned_twice()

    assert [e.path for e in learned.interpretation.observed_effects] == ["out/q3.txt"]
    assert [r.command for r in learned.draft.rehearsal] == ["sort -n in/q3.csv > out/q3.txt"]


def test_what_a_person_edited_keeps_its_words() -> None:
    learned = learned_twice({"goal_summary": "Sort what q3 brought", "title": "Sort q3"})

    assert learned.interpretation.goal_summary == "Sort what q3 brought"
    assert learned.interpretation.title == "Sort q3"


def test_the_manifest_asks_for_the_parameters() -> None:
    schema = learned_twice().json("capabilities/learned.sort-the-figures-of-quarter.json")["input_schema"]

    assert schema["required"] == ["quarter"]
    assert schema["properties"]["quarter"]["examples"] == ["q3", "q4"]
    assert schema["additionalProperties"] is False


def test_each_type_has_its_schema() -> None:
    properties = parameter_schema(
        [
            parameter("limit", "5", "7.5", kind="number"),
            parameter("day", "2026-01-05", "2026-02-05", kind="date"),
            parameter("mode", "-r", "", kind="choice"),
        ]
    )["properties"]

    assert properties == {
        "limit": {"type": "number", "description": "d", "examples": [5, 7.5]},
        "day": {
            "type": "string",
            "description": "d",
            "format": "date",
            "examples": ["2026-01-05", "2026-02-05"],
        },
        "mode": {"type": "string", "description": "d", "enum": ["-r", ""]},
    }


def test_an_example_that_is_personal_is_masked_in_the_skill() -> None:
    found = parameter_schema([parameter("to", "anna@example.org", "bob@example.org")])["properties"]

    assert "example.org" not in str(found)


def test_a_word_of_the_goal_is_no_folder_that_is_called_so(teach: Teaching) -> None:
    learned = teach.learn(
        [teach.command(1, "cat logs/a.log > top.txt", "+top.txt")],
        [teach.mark("mark_goal", 0, "List the pages of the access logs")],
    )
    folder = parameter("folder", "logs", kind="path")

    assert (
        parameterised(learned.interpretation, [folder], {}).goal_summary
        == "List the pages of the access logs"
    )
