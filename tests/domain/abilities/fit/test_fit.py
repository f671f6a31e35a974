from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.lookup import AbilityLookupQuery, Fit
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.reading import read
from domain.abilities.fit.ruling import Profile
from domain.abilities.fit.same_words import said_in_its_words
from domain.learning.interpretation.naming import lower_first
from tests.domain.abilities.fit.tables import TABLES, rows_of
from tests.fixtures.abilities import ability

FITS = (Fit.YES, Fit.MAYBE)


def fit_of(
    said: str, entry: AbilityAvailabilityEntry, others: Iterable[AbilityAvailabilityEntry] = ()
) -> Fit:
    judged = FitIndex([entry, *others]).judged(said, entry.ability_id, caller_user_id="ada")
    assert judged is not None
    assert judged.reasons
    return judged.fit


def taught(title: str, *phrases: str, **fields: Any) -> AbilityAvailabilityEntry:
    return ability("it", title=title, trigger_phrases=(lower_first(title), *phrases), **fields)


def test_a_reason_says_what_it_is_about_where_the_object_is_read_as_another_word() -> None:
    judged = FitIndex([taught("Rotate the logs")]).judged(
        "roll over the application logs", "it", caller_user_id="ada"
    )
    assert judged is not None
    assert "it is about “logs”" in judged.reasons


def test_everyday_requests_find_their_ability_first_and_near_misses_do_not_fit() -> None:
    table = rows_of(TABLES["requests"])
    index = FitIndex(row.entry for row in table)
    lost: list[str] = []
    wrong: list[str] = []
    for row in table:
        mine = row.entry.ability_id
        for said in row.finds:
            fitting = index.fitting(AbilityLookupQuery(user_query=said), caller_user_id="ada")
            if not fitting or fitting[0].ability_id != mine:
                lost.append(f"{row.entry.title}: {said}")
        for said in row.misses:
            judged = index.judged(said, mine, caller_user_id="ada")
            if judged is None or judged.fit is not Fit.NO:
                wrong.append(f"{row.entry.title}: {said}")
    assert len(table) >= 60
    assert len(lost) <= 0.1 * sum(len(row.finds) for row in table), lost
    assert len(wrong) <= 0.05 * sum(len(row.misses) for row in table), wrong


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Total the invoices of each customer", "total the invoices per customer"),
        ("Total the invoices of each customer", "please total my invoices for every customer"),
        ("Count the lines of each log file", "can you count the lines per log file?"),
        ("Sort the train tickets by date", "sort our train tickets according to their date"),
        ("Copy the photos to the stick", "copy photos onto the stick"),
    ],
)
def test_a_request_in_the_words_of_the_goal_fits_without_a_doubt(title: str, said: str) -> None:
    assert fit_of(said, taught(title)) is Fit.YES


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Copy the photos to the stick", "copy the photos from the stick"),
        ("List the files with tests", "list the files without tests"),
        ("Delete the drafts before the release", "delete the drafts after the release"),
        ("Delete the drafts", "delete the drafts only if they are old"),
        ("Delete the drafts and keep the reports", "delete the reports and keep the drafts"),
        ("Replace the commas with semicolons", "replace the semicolons with commas"),
        ("Sync the laptop with the server", "sync the server with the laptop"),
        ("Sort the customers by orders", "sort the orders by customers"),
        ("Pack everything except the drafts", "pack the drafts except everything"),
        ("List the last 10 lines of the log", "list the first 10 lines of the log"),
        ("Archive the reports of this year", "archive the reports of last year"),
        ("Resize the photos to 800", "resize the photos to 1600"),
    ],
)
def test_the_same_words_turned_by_a_small_one_are_not_the_same_request(title: str, said: str) -> None:
    profile = Profile.of(taught(title))
    assert not said_in_its_words(read(said), profile)
    assert said_in_its_words(read(title), profile)


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Total the invoices", "delete the invoices"),
        ("Total the invoices", "total the working hours"),
        ("Back up the photos", "restore the photos"),
        ("Import orders.csv into SQLite", "export the orders from SQLite to CSV"),
        ("Convert Markdown to HTML", "convert HTML to Markdown"),
        ("Convert Markdown to HTML", "convert Markdown to PDF"),
        ("Pack the reports", "unpack the reports"),
        ("Find duplicate files", "delete the duplicate files"),
        ("Cook dinner for a friend", "total the invoices of a friend"),
        ("Total the invoices", "cook dinner for a friend"),
    ],
)
def test_another_verb_object_or_direction_does_not_fit(title: str, said: str) -> None:
    assert fit_of(said, taught(title)) is Fit.NO


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Total the invoices", "could you add up my invoices, please"),
        ("Total the invoices", "invoice totals"),
        ("Back up the photos", "make a backup of the pictures"),
        ("Import orders.csv into SQLite", "load the orders CSV into a database"),
        ("Convert Markdown to HTML", "make HTML from the markdown"),
        ("Rename the scans by date", "renaming the scans"),
        ("Sort, archive and checksum reports", "zip the reports"),
        ("Delete temporary files", "get rid of the temporary files"),
        ("Total the invoices", "Total the invoices"),
    ],
)
def test_the_same_in_other_words_fits(title: str, said: str) -> None:
    assert fit_of(said, taught(title)) in FITS


@pytest.mark.parametrize(
    ("negative", "said"),
    [
        ("draft only", "total the invoices, but draft only"),
        ("total paid invoices", "add up the invoices that are paid"),
        ("payroll", "total the invoices of the payrolls"),
    ],
)
def test_a_negative_trigger_excludes_what_means_the_same(negative: str, said: str) -> None:
    plain = taught("Total the invoices")
    assert fit_of(said, plain) in FITS
    assert fit_of(said, plain.changed(negative_triggers=(negative,))) is Fit.NO


def test_a_negative_trigger_about_other_work_excludes_nothing() -> None:
    entry = taught("Total the invoices", negative_triggers=("delete invoices",))
    assert fit_of("add up the invoices", entry) is Fit.YES


def test_a_rare_word_counts_for_more_than_one_that_all_abilities_have() -> None:
    entry = taught("Check sales pivot")
    others = [
        ability(f"o{n}", title=f"Check sales {word}") for n, word in enumerate(["tax", "stock", "staff"])
    ]
    crowded = FitIndex([entry, *others]).weight("ada", read("sales").words[0])
    assert crowded < FitIndex([entry]).weight("ada", read("sales").words[0])
    assert crowded < FitIndex([entry, *others]).weight("ada", read("pivot").words[0])


def test_reasons_name_the_verb_and_the_object() -> None:
    index = FitIndex([taught("Total the invoices")])
    reasons = {
        said: judged.reasons
        for said in ("delete the invoices", "total the hours", "add up the invoices")
        if (judged := index.judged(said, "it", caller_user_id="ada"))
    }
    assert reasons == {
        "delete the invoices": ("“delete” is not what it does",),
        "total the hours": ("it is about something else: “hours”",),
        "add up the invoices": ("“add up” means what it does", "it is about “invoices”"),
    }


def test_files_and_programs_that_it_works_with_can_be_named() -> None:
    said = "load the deliveries csv with sqlite3"
    plain = taught("Load the parcels")
    assert fit_of(said, plain) is Fit.NO
    assert fit_of(said, plain.changed(aliases=("with deliveries.csv", "with sqlite3"))) in FITS


def test_a_verb_on_the_way_is_less_than_the_first_one() -> None:
    entry = taught("Check the delivered parcels, weigh them and count the labels")
    assert fit_of("check the parcels", entry) is Fit.YES
    assert fit_of("count the parcels", entry) is Fit.NO


def test_only_what_the_asking_person_may_see_fits() -> None:
    private = taught("Total the invoices", install_lane=InstallLane.EXPERIMENTAL_PRIVATE, owner_user_id="bob")
    asked = AbilityLookupQuery(user_query="total the invoices")
    index = FitIndex([private])
    assert index.fitting(asked, caller_user_id="ada") == ()
    assert [one.ability_id for one in index.fitting(asked, caller_user_id="bob")] == ["it"]
    assert index.fitting(asked.changed(include_private_owned_by_user=False), caller_user_id="bob") == ()


def test_words_of_another_persons_private_abilities_do_not_weigh() -> None:
    private = {"install_lane": InstallLane.EXPERIMENTAL_PRIVATE, "owner_user_id": "bob"}
    theirs = [ability(f"b{n}", title=f"Total invoices {n}", **private) for n in range(5)]
    mine = taught("Total the invoices")
    word = read("invoices").words[0]
    assert FitIndex([mine, *theirs]).weight("ada", word) == FitIndex([mine]).weight("ada", word)


def test_what_no_lookup_lists_does_not_fit() -> None:
    asked = AbilityLookupQuery(user_query="total the invoices")
    index = FitIndex([taught("Total the invoices", enabled=False)])
    assert index.fitting(asked, caller_user_id="ada") == ()
    assert index.judged("total the invoices", "it", caller_user_id="ada") is None


@given(title=st.text(min_size=1, max_size=60), said=st.text(max_size=60))
def test_any_text_is_judged_and_an_abilitys_own_words_fit_it(title: str, said: str) -> None:
    entry = ability("it", title=title)
    fit_of(said, entry)
    assert fit_of(title, entry) is Fit.YES
