"""An imported skill is judged by each of its uses; what was taught is one goal."""

import pytest

from contracts.abilities.availability import (
    IMPORTED_FAMILY,
    AbilityAvailabilityEntry,
    AbilitySource,
    InstallLane,
)
from contracts.abilities.lookup import AbilityLookupQuery, Fit
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.goals import ability_of, goal_said, goals_of
from domain.imports.described_uses import described_uses
from tests.fixtures.abilities import ability

DESCRIBED = {
    "invoice-desk": "Create, edit, and archive invoices. Use when the user wants to send a payment reminder or refund a"
    " customer. Do NOT use for payroll.",
    "recordings": "Use this skill whenever the user wants to transcribe a meeting, caption a video, or translate an"
    " interview.",
    "letters": "Create and edit Word documents. Do NOT use for PDFs.",
    "garden": "Guides users through planting a garden: choosing seeds, laying out beds, and watering schedules.",
}


def imported(name: str, family: str = IMPORTED_FAMILY) -> AbilityAvailabilityEntry:
    """The skill of this name as it is installed for Ada."""
    said = described_uses(DESCRIBED[name])
    return AbilityAvailabilityEntry(
        ability_id=f"imported.{name}",
        owner_user_id="ada",
        title=name.replace("-", " ").capitalize(),
        family=family,
        source=AbilitySource.LEARNED,
        skill_slug=name,
        install_lane=InstallLane.EXPERIMENTAL_PRIVATE,
        enabled=True,
        usable_now=True,
        trigger_phrases=said.uses,
        negative_triggers=said.not_for,
    )


@pytest.fixture(scope="module")
def index() -> FitIndex:
    """All of them, by the rules alone."""
    return FitIndex([imported(name) for name in DESCRIBED])


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("create an invoice for the Miller job", "invoice-desk"),
        ("send Bob a payment reminder", "invoice-desk"),
        ("refund this customer", "invoice-desk"),
        ("transcribe yesterday's meeting", "recordings"),
        ("translate the interview", "recordings"),
        ("edit this Word document", "letters"),
        ("choose seeds for the spring", "garden"),
    ],
)
def test_a_request_for_one_of_many_uses_finds_the_skill(
    index: FitIndex, request_text: str, name: str
) -> None:
    found = index.fitting(AbilityLookupQuery(user_query=request_text), caller_user_id="ada")
    assert [one.ability_id for one in found] == [f"imported.{name}"]
    judged = index.judged(request_text, f"imported.{name}", caller_user_id="ada")
    assert judged is not None
    assert (judged.fit, judged.closeness) == (found[0].fit, found[0].closeness)


@pytest.mark.parametrize(
    "request_text", ["run the payroll", "edit this PDF", "archive the meeting", "book a flight to Rome"]
)
def test_other_work_finds_none(index: FitIndex, request_text: str) -> None:
    assert index.fitting(AbilityLookupQuery(user_query=request_text), caller_user_id="ada") == ()


def test_what_a_skill_is_not_for_rules_out_all_of_its_uses(index: FitIndex) -> None:
    judged = index.judged(
        "send a payment reminder about payroll", "imported.invoice-desk", caller_user_id="ada"
    )
    assert judged is not None
    assert (judged.fit, judged.reasons) == (Fit.NO, ("its negative trigger “payroll” means this",))


def test_a_skill_is_listed_once_and_by_its_own_title(index: FitIndex) -> None:
    found = index.fitting(AbilityLookupQuery(user_query="edit or archive an invoice"), caller_user_id="ada")
    assert [(one.ability_id, one.title) for one in found] == [("imported.invoice-desk", "Invoice desk")]


def test_each_use_is_a_goal_of_an_imported_skill_and_what_was_taught_is_one_goal() -> None:
    entry = imported("recordings")
    goals = goals_of(entry)
    assert [goal.title for goal in goals] == [entry.title, *entry.trigger_phrases]
    assert {ability_of(goal.ability_id) for goal in goals} == {entry.ability_id}
    taught = imported("recordings", family="learned")
    assert goals_of(taught) == (taught,)


def test_a_goal_is_said_whole_and_its_parameters_by_their_names() -> None:
    taught = ability(
        "scans", title="Number scans", method=("Rename the scans to {first_page}-001.tif.", "fact")
    )
    assert goal_said(taught) == "Rename the scans to first page-001.tif."
    assert goal_said(ability("scans", title="Number scans")) == "Number scans"
