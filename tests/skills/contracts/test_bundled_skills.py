"""Every bundled skill against the documents: its manifest, each bound of its input, its error codes and their causes.

The skills are those of the folder ``skills/bundled``; one that is added is held to the same without a change here.
A test that has a skill produce an error code by a real cause says so with ``@pytest.mark.produces(SKILL, CODE)``
(``"*"`` for what any skill can end with).
"""

import ast
import csv
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import skills
from contracts.skills.catalog import SkillAllowlist, SkillRecord, SkillState
from contracts.skills.errors import SKILL_ERRORS, SkillError
from contracts.skills.manifest import SkillManifest
from domain.platform.json_schema import schema_problem
from domain.skills.arguments import InputRefused, clean_input
from domain.skills.policy import unknown_tags
from domain.skills.retrying import attempts_allowed, rule_of
from skills.runtime.roots import SkillRoots
from tests.skills.contracts.schema_edges import Edges, shown

HERE = Path(__file__).parent
BUNDLED = Path(*skills.__path__) / "bundled"
FOLDERS = sorted(
    one.name for one in BUNDLED.iterdir() if one.is_dir() and not one.name.startswith(("_", "."))
)
NOT_THERE = HERE / "there-is-no-such-root"
EVERY_SKILL = "*"


def _table(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


CODES = _table("error_codes.tsv")
NUMBERS = {row["skill"]: row for row in _table("numbers.tsv")}


@cache
def bundled() -> dict[str, SkillRecord]:
    roots = SkillRoots(workspace=NOT_THERE, managed=NOT_THERE, bundled=BUNDLED)
    return {one.name: one for one in roots.scan(SkillAllowlist(), datetime.now(UTC))}


def manifest(folder: str) -> SkillManifest:
    found = bundled()[folder.partition("@")[0]].manifest
    assert found is not None
    return found


def refusal_of(given: Any, found: SkillManifest) -> SkillError | None:
    try:
        clean_input(given, found)
    except InputRefused as refused:
        return refused.error
    return None


def documented(skill: str) -> list[dict[str, str]]:
    return [row for row in CODES if row["skill"] in (skill, EVERY_SKILL)]


@cache
def produced() -> frozenset[tuple[str, str]]:
    """What the tests say they produce: pairs of a skill and a code."""
    found: set[tuple[str, str]] = set()
    for file in HERE.parents[1].rglob("test_*.py"):
        text = file.read_text(encoding="utf-8")
        if "mark.produces" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.produces":
                skill, *codes = (ast.literal_eval(argument) for argument in node.args)
                found |= {(skill, code) for code in codes}
    return frozenset(found)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.acceptance("AI-05", "AI-07", "CH-02")
def test_the_folder_is_a_ready_skill(folder: str) -> None:
    record = bundled().get(folder.partition("@")[0])
    assert record is not None
    assert record.state is SkillState.READY, record.reason
    found = manifest(folder)
    assert schema_problem(found.input_schema) is None
    assert schema_problem(found.output_schema) is None
    assert unknown_tags(found) == (), "each side effect has a rule in the policy's defaults"
    assert found.acts or found.effect.value == "read"
    assert record.documentation.strip()
    for place in ("AKIA", "/root/", "/home/", "localhost"):
        assert place not in record.documentation


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.acceptance("AM-12", "CH-02")
@pytest.mark.produces("*", "INVALID_INPUT")
def test_every_bound_of_the_input_is_refused_one_past_its_edge(folder: str) -> None:
    found = manifest(folder)
    edges = Edges(found.input_schema)
    assert refusal_of(edges.fitting, found) is None
    known = {"INVALID_INPUT", *found.input_errors.values()}
    tried = 0
    for edge in edges.past():
        how = f"{edge.place or 'input'} {edge.how}: {shown(edge.value)}"
        if not isinstance(edge.value, dict):
            continue
        error = refusal_of(edge.value, found)
        assert error is not None, f"taken: {how}"
        assert error.code in known, how
        assert error.http_status == rule_of(found, error.code).http_status, how
        assert error.fields, how
        tried += 1
    assert tried > len(found.input_schema.get("properties", {})), "at least the types, and an unknown name"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_lies_on_a_bound_is_taken(folder: str) -> None:
    found = manifest(folder)
    for edge in Edges(found.input_schema).on():
        error = refusal_of(edge.value, found)
        assert error is None, f"{edge.place} {edge.how}: {error}"


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.acceptance("CH-63", "CH-13", "CH-50", "CH-56")
def test_each_documented_code_has_its_status_and_a_recovery(folder: str) -> None:
    found = manifest(folder)
    for row in documented(found.name):
        rule = rule_of(found, row["code"])
        assert rule.http_status == int(row["http"]), row
        assert rule.retryable is (row["retryable"] == "yes"), row
        assert rule.recovery, row
        assert attempts_allowed(found, row["code"]) <= found.max_attempts
    for code in found.errors:
        assert code in SKILL_ERRORS, f"{code} is in no document"


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_documented_code_is_produced_by_a_real_cause(folder: str) -> None:
    name = manifest(folder).name
    wanted = {(row["skill"], row["code"]) for row in documented(name) if not row["no_cause"]}
    missing = sorted(wanted - produced())
    assert not missing, f"no test says with @pytest.mark.produces that it brings about {missing}"


def test_what_the_tests_say_they_produce_is_documented() -> None:
    own = {(row["skill"], row["code"]) for row in CODES}
    of_any = {row["code"] for row in CODES if row["skill"] == EVERY_SKILL}
    documented_skills = {row["skill"] for row in CODES}
    for skill, code in produced():
        assert code in SKILL_ERRORS, (skill, code)
        assert skill in documented_skills | set(FOLDERS), (skill, code)
        if skill in documented_skills - {EVERY_SKILL}:
            assert (skill, code) in own or code in of_any, (skill, code)


@pytest.mark.parametrize("folder", [one for one in FOLDERS if one in NUMBERS])
@pytest.mark.acceptance("CH-05")
def test_the_documented_numbers_stand_in_the_manifest(folder: str) -> None:
    found, row = manifest(folder), NUMBERS[folder]
    assert found.timeout_ms == int(row["timeout_ms"])
    if row["cache_ttl_ms"]:
        assert found.cache_ttl_ms == int(row["cache_ttl_ms"])
