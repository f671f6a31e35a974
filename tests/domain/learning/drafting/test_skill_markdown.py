from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import Checkpoint, UnseenInput
from contracts.learning.session import LearnExecutionMode
from domain.learning.drafting.skill_markdown import (
    SkillDocument,
    parse_frontmatter,
    parts_of,
    render_skill_markdown,
    skill_description,
)
from domain.platform.frontmatter import split_frontmatter


def document(**changes: object) -> SkillDocument:
    values: dict[str, object] = {
        "name": "weekly-pack",
        "title": "Weekly pack",
        "description": "Packs the week. Use when asked for it.",
        "goal": "Pack the week",
        "use_conditions": ["On Mondays"],
        "non_use_conditions": [],
        "checkpoints": [
            Checkpoint(
                checkpoint_id="cp-01", goal="Packed", success_condition="week.tgz exists", order_hint=1
            )
        ],
        "success_conditions": ["The file week.tgz exists"],
        "inputs": ["Nothing"],
        "safety": ["Work here"],
        "programs": ["tar"],
        "triggers": ["pack the week"],
        "negative_triggers": [],
        "capability_id": "learned.weekly-pack",
        "execution_mode": LearnExecutionMode.GUIDED,
        "paths": ["week.tgz"],
    }
    return SkillDocument(**(values | changes))  # type: ignore[arg-type]


def front(text: str) -> str:
    return f"---\n{text}\n---\nbody\n"


def refused(text: str) -> str:
    with pytest.raises(Refusal) as refusal:
        parse_frontmatter(text)
    assert refusal.value.code is ErrorCode.VALIDATION_FAILED
    return refusal.value.message


def test_a_document_is_laid_out_in_its_sections() -> None:
    text = render_skill_markdown(document())
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Weekly pack", "## When to use", "## When not to use", "## Goal", "## Checkpoints", "## Done when",
        "## Inputs to ask for", "## Safety",
    ]  # fmt: skip
    assert "1. **Packed.** (cp-01)\n   Verify: `week.tgz` exists." in text
    assert "- No exception is known." in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_what_is_rendered_reads_back() -> None:
    values = parse_frontmatter(render_skill_markdown(document()))
    assert values == {
        "name": "weekly-pack",
        "description": "Packs the week. Use when asked for it.",
        "compatibility": "Needs these programs: tar.",
        "metadata": {
            "title": "Weekly pack",
            "capability-id": "learned.weekly-pack",
            "source": "learned from a demonstration",
            "triggers": "pack the week",
        },
    }


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_out_of_its_place(title: str, goal: str) -> None:
    text = render_skill_markdown(document(title=f"T {title}", goal=f"G {goal}", description=f"D {goal}"))
    _, body = split_frontmatter(text)
    assert str(parse_frontmatter(text)["description"]).startswith("D")
    assert [line for line in body.splitlines() if line.startswith("## ")] == [
        "## When to use", "## When not to use", "## Goal", "## Checkpoints", "## Done when",
        "## Inputs to ask for", "## Safety",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["true", "no", "123", "1e3", "null"])
def test_a_name_that_yaml_takes_for_something_else_stays_a_text(name: str) -> None:
    assert parse_frontmatter(render_skill_markdown(document(name=name)))["name"] == name


def test_links_html_and_code_in_a_persons_wording_are_taken_literally() -> None:
    text = render_skill_markdown(document(goal="See [x](http://e.example) <img src=x> `rm`"))
    assert r"See \[x\](http://e.example) \<img src=x\> \`rm\`." in text


@pytest.mark.parametrize("mode", list(LearnExecutionMode))
def test_each_execution_mode_says_how_closely_to_follow(mode: LearnExecutionMode) -> None:
    others = {render_skill_markdown(document(execution_mode=m)) for m in LearnExecutionMode}
    assert render_skill_markdown(document(execution_mode=mode)) in others
    assert len(others) == 3


def test_a_description_says_what_and_when_within_its_limit() -> None:
    assert skill_description("Pack the week", "T", ["When asked to pack"], ["Never for photos"]) == (
        "Pack the week. Use when asked to pack. Do not use when it is about photos."
    )
    assert skill_description("", "Weekly pack", [], []) == "Weekly pack. Use when asked for: Weekly pack."
    assert skill_description("Pack", "T", ["On Mondays", "Someone asks"], []) == (
        "Pack. Use on Mondays; or when someone asks."
    )
    long = skill_description("x" * 600, "T", ["y" * 240] * 9, ["z" * 240] * 9)
    assert len(long) <= 1024


def test_plain_scalars_stay_what_they_look_like() -> None:
    values = parse_frontmatter(
        front("a: 1.10\nb: 2026-01-31\nc: 12\nd: true\ne:\nf: yes\ng: '5'\nh: 1:30\ni: 010")
    )
    assert values == {
        "a": "1.10", "b": "2026-01-31", "c": 12, "d": True, "e": None, "f": "yes", "g": "5", "h": "1:30", "i": "010",
    }  # fmt: skip


def test_lists_mappings_and_windows_line_ends_are_read() -> None:
    assert parse_frontmatter("---\r\ntags:\r\n  - a\r\n  - b\r\nm: {k: v}\r\n---\r\nx") == {
        "tags": ["a", "b"],
        "m": {"k": "v"},
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no front matter", "between two lines"),
        ("---\nname: x\n", "between two lines"),
        (front("a: &x 1\nb: 2"), "anchors"),
        (front("a: *x"), "anchors"),
        (front("a: !!python/object:os.system x"), "tags"),
        (front("a: !local x"), "tags"),
        (front("<<: {a: b}"), "merge keys"),
        (front("a: 1\na: 2"), "twice"),
        (front("m:\n  a: 1\n  a: 2"), "twice"),
        (front("1: x"), "must be a text"),
        (front("? [a]\n: x"), "must be a text"),
        (front("- a"), "mapping"),
        (front(""), "mapping"),
        (front("a: [" + "[" * 9 + "]" * 9 + "]"), "deeper"),
        (front("a: " + "[" * 8000), "deeper"),
        (front("a: '" + "x" * 17_000 + "'"), "larger"),
        (front("a: [1"), "line"),
        (front("a: \x07"), "SKILL.md"),
    ],
)
def test_what_a_front_matter_must_not_hold_is_refused(text: str, complaint: str) -> None:
    message = refused(text)
    assert complaint in message
    assert message.startswith("SKILL.md")


def test_a_refusal_names_the_line_of_the_file() -> None:
    assert "(line 3)" in refused(front("a: 1\nb: !x y"))


def read_or_code(text: str) -> Any:
    try:
        return parse_frontmatter(text)
    except Refusal as refusal:
        return refusal.code


@given(st.text(alphabet="-ab:&*!{}[]'\"\n <|>#?%@`,1", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_or_code(front(text))
    assert found is ErrorCode.VALIDATION_FAILED or all(isinstance(name, str) for name in found)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("select * from a;", "as a person says: `select * from a;`"),
        (
            "begin;\n## Safety\ncommit;",
            "as a person says:\n\n  ```\n  begin;\n  ## Safety\n  commit;\n  ```\n",
        ),
        ("echo `date` ```", "as a person says: ```` echo `date` ``` ````"),
    ],
)
def test_what_a_person_said_of_unseen_work_stands_word_for_word_and_is_no_markup(
    said: str, shown: str
) -> None:
    unseen = UnseenInput(program="sqlite3", command="sqlite3 a.db", change="changed a.db", said=said)
    text = render_skill_markdown(document(unseen=[unseen]))
    assert shown in text
    assert [part.name for part in parts_of(text)].count("section Safety") == 1
    assert parts_of(text)[-1].name == "section Safety"
