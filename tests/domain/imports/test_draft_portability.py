"""The grade of a draft follows from what it needs and where it is bound to, by the rules for imported skills."""

import json

import pytest

from contracts.imports.portable_frontmatter import PortabilityGrade
from contracts.learning.proposal import DraftedFile, SkillDraft
from domain.imports.compatibility import Installed
from domain.imports.draft_portability import draft_portability

SKILL = """---
name: sort-receipts
description: Sorts receipts into a folder for each month. Use when asked to sort receipts.
{more}---

# Sort receipts

{body}
"""


def draft(
    body: str = "Each receipt lies in its month.", caps: tuple[str, ...] = (), more: str = ""
) -> SkillDraft:
    return SkillDraft(
        title="Sort receipts",
        slug="sort-receipts",
        description="Sorts receipts.",
        trigger_phrases=("sort receipts",),
        negative_triggers=(),
        files=(
            DraftedFile(path="SKILL.md", content=SKILL.format(body=body, more=more)),
            DraftedFile(
                path="capabilities/cap.sort-receipts.json",
                content=json.dumps({"required_runtime_caps": list(caps)}),
            ),
        ),
        capability_id="cap.sort-receipts",
    )


@pytest.mark.parametrize(
    ("made", "grade", "codes"),
    [
        (draft(), PortabilityGrade.DIRECT, []),
        (draft(caps=("exec", "mcp_server:here")), PortabilityGrade.DIRECT, []),
        (draft(caps=("mcp_server:gone",)), PortabilityGrade.ADAPTER_REQUIRED, ["CONNECTOR_MISSING"]),
        (draft(more="allowed-tools: fetch_rates\n"), PortabilityGrade.ADAPTER_REQUIRED, ["TOOL_MISSING"]),
        (
            draft("They lie in /home/grace/receipts.", ("mcp_server:gone",)),
            PortabilityGrade.LOCAL_ONLY,
            ["CONNECTOR_MISSING", "HOME_PATH"],
        ),
    ],
)
def test_the_grade_says_what_is_missing_here_or_bound_to_one_computer(
    made: SkillDraft, grade: PortabilityGrade, codes: list[str]
) -> None:
    found, findings = draft_portability(made, Installed(connectors=frozenset({"here"})))
    assert found is grade
    assert sorted(one.code for one in findings) == codes


def test_a_draft_that_is_no_skill_is_not_portable() -> None:
    empty = draft().changed(files=(DraftedFile(path="SKILL.md", content=" "),))
    grade, findings = draft_portability(empty, Installed())
    assert grade is PortabilityGrade.NON_PORTABLE
    assert [one.path_hint for one in findings] == ["SKILL.md"]
