"""A proposed change is put onto what is there, part by part; a hand's text is never replaced."""

import json

from hypothesis import given
from hypothesis import strategies as st

from domain.learning.drafting.improvement import Versions, merge_json_object, merge_markdown, merge_whole
from domain.learning.drafting.skill_markdown import parts_of, texts_of

SKILL = """---
name: report
description: "Writes the report."
metadata:
  title: "Report"
  triggers: "write the report"
---

# Report

## Goal

Write the report.

## Safety

- Keep a copy.
"""

PIECES = st.sampled_from(
    ["# T\n", "## A\n\ntext\n\n", "## B\n- x\n", "---\n", "name: n\n", "  k: v\n", "```\n"]
)


def merged(present: str, new: str, old: str = SKILL, installed: str = SKILL) -> str:
    return merge_markdown("SKILL.md", Versions(installed, present, old, new)).text


@given(st.text())
def test_the_parts_of_any_text_are_the_text(text: str) -> None:
    assert "".join(part.text for part in parts_of(text)) == text


@given(st.lists(PIECES, max_size=12).map("".join))
def test_the_parts_of_a_document_have_distinct_names_and_lose_nothing(text: str) -> None:
    parts = parts_of(text)

    assert "".join(part.text for part in parts) == text
    assert len({part.name for part in parts}) == len(parts)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_change_of_nothing_changes_nothing_in_what_is_there(present: str) -> None:
    assert {**texts_of(merged(present, SKILL))}.keys() == {**texts_of(present)}.keys()


def test_front_matter_keys_and_sections_are_parts() -> None:
    assert [part.name for part in parts_of(SKILL)] == [
        "opening",
        "name",
        "description",
        "metadata",
        "metadata.title",
        "metadata.triggers",
        "body",
        "title",
        "section Goal",
        "section Safety",
    ]


def test_a_heading_in_a_code_block_is_no_section() -> None:
    text = "# T\n\n```\n## not one\n```\n\n## One\n"

    assert [part.name for part in parts_of(text)] == ["title", "section One"]


def test_an_untouched_text_becomes_the_new_one() -> None:
    new = SKILL.replace("Write the report.", "Write and send the report.")

    assert merged(SKILL, new) == new


def test_a_changed_section_leaves_hand_edits_elsewhere_alone() -> None:
    by_hand = SKILL.replace("- Keep a copy.", "- Keep two copies.").replace("Writes the", "Does the")
    new = SKILL.replace("Write the report.", "Write and send the report.")
    text = merged(by_hand, new)

    assert "Write and send the report." in text
    assert "- Keep two copies." in text
    assert "Does the report." in text


def test_where_both_change_one_section_the_hands_text_stays_and_the_conflict_is_told() -> None:
    by_hand = SKILL.replace("- Keep a copy.", "- Keep two copies.")
    new = SKILL.replace("- Keep a copy.", "- Keep no copy.")
    found = merge_markdown("SKILL.md", Versions(SKILL, by_hand, SKILL, new))
    (conflict,) = found.conflicts

    assert found.text == by_hand
    assert conflict.part == "section Safety"
    assert "two copies" in conflict.yours
    assert "no copy" in conflict.proposed


def test_the_same_change_by_hand_and_by_proposal_is_no_conflict() -> None:
    both = SKILL.replace("- Keep a copy.", "- Keep two copies.")
    found = merge_markdown("SKILL.md", Versions(SKILL, both, SKILL, both))

    assert (found.text, found.conflicts) == (both, ())


def test_a_new_section_comes_where_the_new_text_has_it() -> None:
    new = SKILL.replace("## Safety", "## Parameters\n\n- {month}: The month.\n\n## Safety")

    assert merged(SKILL, new) == new


def test_a_section_of_ones_own_survives_every_change() -> None:
    by_hand = SKILL + "\n## Notes\n\nAsk Maria.\n"
    new = SKILL.replace("Write the report.", "Write and send the report.")
    text = merged(by_hand, new)

    assert text.endswith("\n\n## Notes\n\nAsk Maria.\n")
    assert "Write and send the report." in text


def test_a_removed_section_goes_unless_a_hand_has_written_in_it() -> None:
    new = SKILL.partition("\n## Safety")[0]
    by_hand = SKILL.replace("- Keep a copy.", "- Keep two copies.")

    assert "## Safety" not in merged(SKILL, new)
    assert "- Keep two copies." in merged(by_hand, new)


def test_a_json_object_is_merged_by_its_keys() -> None:
    installed = json.dumps({"title": "a", "aliases": ["x"]})
    by_hand = json.dumps({"title": "a", "aliases": ["mine"], "note": 1})
    new = json.dumps({"title": "b", "aliases": ["y"]})
    found = merge_json_object("m.json", Versions(installed, by_hand, installed, new))

    assert json.loads(found.text) == {"title": "b", "aliases": ["mine"], "note": 1}
    assert [conflict.part for conflict in found.conflicts] == ["aliases"]


def test_json_that_cannot_be_read_is_merged_as_a_whole() -> None:
    found = merge_json_object("m.json", Versions("{}", "{broken", "{}", '{"a": 1}'))

    assert found.text == "{broken"
    assert [conflict.part for conflict in found.conflicts] == ["m.json"]


@given(st.text(), st.text(), st.text(), st.text())
def test_a_whole_file_is_either_what_is_there_or_what_is_proposed(a: str, b: str, c: str, d: str) -> None:
    found = merge_whole("f", Versions(a, b, c, d))

    assert found.text in (b, d)
    assert found.text == b or b == a
