"""The draft of an imported skill: its trigger cases, and the list of what nothing proves."""

import pytest

from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from contracts.learning.proposal import PackedFile
from domain.abilities.trigger_tests import decoys, run_trigger_tests, trigger_cases
from domain.imports.import_draft import imported_draft
from domain.imports.unproved import is_script, unproved_of, unrehearsed_of

IMPORT = "0199aa10-7c00-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("title", "triggers"),
    [
        ("Brand guidelines", ("Applies the company's colours and fonts to documents.", "Use for styling.")),
        ("Template skill", ("Replace with a description of the skill and when it should be used.",)),
        (
            "Tidy tables",
            ("Sorts the rows of a CSV file.", "Use when asked to tidy a table.", "Sort a table."),
        ),
        ("Webapp testing", ("Toolkit for testing local web applications with a browser.",)),
    ],
)
def test_a_skill_with_few_triggers_has_three_cases_of_each_kind_and_passes_them(
    title: str, triggers: tuple[str, ...]
) -> None:
    front = PortableSkillFrontmatter(
        name=title.lower().replace(" ", "-"), title=title, description=triggers[0], version="1.0.0",
        triggers=triggers,
    )  # fmt: skip
    draft = imported_draft(IMPORT, front, "---\n---\n", ())
    outcomes = run_trigger_tests(draft, trigger_cases(draft), decoys(), (), "alice")
    assert [(one.label, one.details) for one in outcomes if not one.passed] == []


def test_each_script_is_named_among_what_nothing_proves_and_what_is_over_is_summed_up() -> None:
    few = unproved_of(unrehearsed_of(IMPORT, ["SKILL.md", "scripts/a.py", "assets/logo.png", "bin/run"]))
    assert [one.step for one in few][1:] == ["The script bin/run works", "The script scripts/a.py works"]
    many = unproved_of(unrehearsed_of(IMPORT, [f"scripts/{n:03d}.sh" for n in range(100)]))
    assert len(many) == 60
    assert many[-1].step == "42 more scripts work"
    assert not is_script("references/columns.md")


def test_the_content_of_every_file_is_part_of_the_drafts_identity() -> None:
    front = PortableSkillFrontmatter(
        name="tidy", title="Tidy", description="Tidies.", version="1.0.0", triggers=("Tidy it.",)
    )
    one, other = (
        imported_draft(
            IMPORT, front, "---\n---\n", (PackedFile(path="a.bin", sha256=digit * 64, size_bytes=1),)
        )
        for digit in "ab"
    )
    assert one != other
