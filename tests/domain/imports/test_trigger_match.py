import pytest

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, InstallLane
from contracts.abilities.lookup import TriggerCase, TriggerCaseKind
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from domain.abilities.trigger_tests import decoys, missing_cases, trigger_outcomes
from domain.imports.trigger_match import import_candidate, overlaps, trigger_match

_SKILL = PortableSkillFrontmatter(
    name="pdf-merge",
    title="Merge PDF files",
    description="Merges several PDF files into one. Use it when somebody wants to combine PDF documents.",
    version="1.0.0",
    triggers=("merge pdf files", "combine pdf documents into one"),
    negative_triggers=("split a pdf",),
)
_CANDIDATE = import_candidate(_SKILL, "ada")


def _installed(name: str, title: str, *phrases: str) -> AbilityAvailabilityEntry:
    return AbilityAvailabilityEntry(
        ability_id=f"learned.{name}",
        owner_user_id="ada",
        title=title,
        family="learned",
        source=AbilitySource.LEARNED,
        skill_slug=name,
        install_lane=InstallLane.APPROVED_WORKSPACE,
        enabled=True,
        usable_now=True,
        trigger_phrases=phrases,
    )


@pytest.mark.parametrize("said", ["merge pdf files", "please combine these PDF documents into one"])
def test_a_text_that_means_the_import_matches_it_with_its_reasons(said: str) -> None:
    found = trigger_match(said, _CANDIDATE, decoys())
    assert found.matched
    assert 0 < found.score <= 1
    assert found.reasons
    assert not found.rejection_reasons


@pytest.mark.parametrize("said", ["book a table for dinner", "split a pdf", "water the tomato plants"])
def test_a_text_that_means_something_else_does_not_match_and_says_why(said: str) -> None:
    found = trigger_match(said, _CANDIDATE, decoys())
    assert not found.matched
    assert found.rejection_reasons


def test_an_installed_ability_that_fits_as_well_comes_first() -> None:
    rival = _installed("join-pdfs", "Merge PDF files", "merge pdf files")
    found = trigger_match("merge pdf files", _CANDIDATE, (rival,))
    assert not found.matched
    assert found.ahead == ("learned.join-pdfs",)
    assert "learned.join-pdfs" in found.rejection_reasons[0]


def test_an_installed_version_of_the_same_skill_is_no_rival() -> None:
    before = _installed("pdf-merge", "Merge PDF files", "merge pdf files")
    assert trigger_match("merge pdf files", _CANDIDATE, (before,)).matched
    assert overlaps(_CANDIDATE, (before,)) == ()


def test_an_overlap_names_the_ability_and_the_triggers_that_it_answers() -> None:
    rival = _installed("join-pdfs", "Merge PDF files", "merge pdf files", "combine pdf documents into one")
    (found,) = overlaps(_CANDIDATE, (rival, *decoys()))
    assert (found.ability_id, found.title) == ("learned.join-pdfs", "Merge PDF files")
    assert found.triggers == ("merge pdf files", "combine pdf documents into one")


def test_an_import_needs_three_cases_of_each_kind() -> None:
    cases = [
        TriggerCase(input="merge pdf files", should_trigger=True, kind=TriggerCaseKind.POSITIVE),
        *(
            TriggerCase(input=said, should_trigger=False, kind=TriggerCaseKind.NEGATIVE)
            for said in ("a", "b", "c")
        ),
    ]
    assert [one.test_case_id for one in missing_cases(cases)] == [
        "trigger/minimum-positive",
        "trigger/minimum-paraphrase",
    ]


def test_the_cases_of_an_import_run_by_the_rule_of_learned_skills() -> None:
    cases = (
        TriggerCase(input="merge pdf files", should_trigger=True, kind=TriggerCaseKind.POSITIVE),
        TriggerCase(input="book dinner table", should_trigger=False, kind=TriggerCaseKind.NEGATIVE),
    )
    assert all(one.passed for one in trigger_outcomes(_CANDIDATE, cases, decoys(), ()))
