"""Bundled skills are found by what people say who need them (AI-14, O-8)."""

import csv
from pathlib import Path

import pytest

from contracts.skills.catalog import SkillRecord
from contracts.skills.manifest import BrokerService
from contracts.skills.selection import FindSkillsRequest
from domain.skills.selection import World, find_skills
from host.sentence_model import nearest_by_meaning
from tests.skills.contracts.test_bundled_skills import bundled

WORLD = World(services=frozenset(BrokerService))

with (Path(__file__).parent / "steps_and_skills.tsv").open(encoding="utf-8", newline="") as lines:
    CASES = [(row["skill"], row["step"]) for row in csv.DictReader(lines, delimiter="\t")]
WANTED = [case for case in CASES if case[0] != "-"]
NOTHING_FITS = [step for skill, step in CASES if skill == "-"]


@pytest.fixture(scope="module")
def registry() -> list[SkillRecord]:
    return list(bundled().values())


def best_three(step: str, registry: list[SkillRecord]) -> list[str]:
    found = find_skills(registry, FindSkillsRequest(description=step), WORLD, likeness=nearest_by_meaning())
    return [one.skill for one in found.skills[:3]]


@pytest.mark.thorough
@pytest.mark.acceptance("AI-14")
def test_nine_of_ten_steps_find_their_skill_among_the_first_three(registry: list[SkillRecord]) -> None:
    missed = [(skill, step) for skill, step in WANTED if skill not in best_three(step, registry)]
    assert len(missed) <= len(WANTED) / 10, missed


def test_a_step_that_no_skill_does_finds_none(registry: list[SkillRecord]) -> None:
    alarms = [(step, found) for step in NOTHING_FITS if (found := best_three(step, registry))]
    assert len(alarms) <= len(NOTHING_FITS) / 20, alarms


def test_every_bundled_skill_is_among_the_cases(registry: list[SkillRecord]) -> None:
    assert {one.name for one in registry} == {skill for skill, _ in WANTED}


def test_without_the_sentence_model_words_decide_alone(registry: list[SkillRecord]) -> None:
    asked = FindSkillsRequest(description="remind me in a month to renew the passport")
    assert find_skills(registry, asked, WORLD).skills == ()
    (first, *_) = find_skills(registry, asked, WORLD, likeness=nearest_by_meaning()).skills
    assert (first.skill, first.reasons[-1].startswith("near in meaning to “")) == ("schedule-check-in", True)
