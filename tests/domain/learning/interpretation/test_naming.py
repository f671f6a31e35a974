import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.interpretation.label_states import state_of
from domain.learning.interpretation.naming import (
    cut_at_word,
    listed,
    lower_first,
    other_slug,
    plain,
    sentence,
    slug_from_title,
    title_from_goal,
)


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        ("I want to publish the weekly figures.", "Publish the weekly figures"),
        ("The goal is to pack it. Then send it.", "Pack it"),
        ("show you how to bake bread", "Bake bread"),
        ("Quarterly report", "Quarterly report"),
        ("to v1.2 and back", "V1.2 and back"),
        ("übersicht.txt is to be renewed", "übersicht.txt is to be renewed"),
        ("word " * 40, f"Word{' word' * 31}…"),
        (
            "Make release 1.4.0: set the version, give the change log its heading and date, commit and tag it",
            "Make release 1.4.0: set the version…",
        ),
        (
            "The room Linden is now called Maple: change the name in all texts.",
            "Change the name in all texts",
        ),
        ("Our supplier has sent new prices; update the price list.", "Update the price list"),
        ("The disk is full. I want to delete logs older than a month", "Delete logs older than a month"),
        ("The guests were counted twice\nremove the duplicate rows", "Remove the duplicate rows"),
        (
            "Invoices must be kept for ten years. Pack them. Send a note.",
            "Invoices must be kept for ten years",
        ),
        ("The room got a new name: put it everywhere", "The room got a new name: put it everywhere"),
        ("Monthly report: export the hours as CSV", "Monthly report: export the hours as CSV"),
        ("Sort what is there: remove the old ones", "Sort what is there: remove the old ones"),
        ("The ratio is 16:9 everywhere", "The ratio is 16:9 everywhere"),
        (
            "Write one letter to every member in the list from the letter template with the date of today in it",
            "Write one letter to every member in the list from the letter template with the date of today in it",
        ),
    ],
)
def test_a_title_is_the_goal_without_its_lead_in(goal: str, title: str) -> None:
    assert title_from_goal(goal) == title


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Sort, archive and checksum reports", "sort-archive-and-checksum-reports"),
        ("  Ünïcode -- Tïtle!  ", "unicode-title"),
        ("Ada's report", "adas-report"),
        ("../../etc", "etc"),
        ("a" * 100, "a" * 56),
    ],
)
def test_a_slug_is_made_of_the_titles_words(title: str, slug: str) -> None:
    assert slug_from_title(title) == slug


def test_titles_without_latin_letters_get_distinct_slugs() -> None:
    assert re.fullmatch(r"skill-[0-9a-f]{8}", slug_from_title("週報"))
    assert slug_from_title("週報") != slug_from_title("月報")


@given(st.text(max_size=200))
def test_any_title_gives_a_valid_slug(title: str) -> None:
    slug = slug_from_title(title)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= 56


@given(st.text(max_size=100))
def test_plain_text_is_one_printable_line(text: str) -> None:
    line = plain(text)
    assert plain(line) == line
    assert line.isprintable()
    assert "---" not in line


def test_sentences_keep_file_names_as_they_are() -> None:
    assert sentence("all is well") == "All is well."
    assert sentence("reports/top.txt, a.md exist") == "reports/top.txt, a.md exist."
    assert sentence("Really?") == "Really?"
    assert sentence(" ") == ""
    assert lower_first("PDF is ready") == "PDF is ready"
    assert lower_first("The end") == "the end"


def test_lists_are_spelled_out() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b"], last="or") == "a or b"
    assert listed(["a"]) == "a"
    assert listed([]) == ""
    assert listed(["a", "b", "c", "d"], most=2) == "a, b and 2 more"
    assert listed(["a", "b"], most=2) == "a and b"


@pytest.mark.parametrize(
    ("label", "state"),
    [
        ("Open the export dialog", "The export dialog is open"),
        ("Select PDF format.", "The PDF format is selected"),
        ("Send the reports to the client", "The reports to the client are sent"),
        ("Copy invoices", "The invoices are copied"),
        ("The list is sorted", "The list is sorted"),
        ("Export confirmed", "Export confirmed"),
        ("Choose menu Export report", "The menu Export report is chosen"),
        ("Pick the newest row", "The newest row is picked"),
        ("Tell the customer", "The customer is told"),
        ("Reboot the machine", "The machine is rebooted"),
        ("Choose the button “Save”", "The button “Save” is chosen"),
        ("Turn off the lamp", "The lamp is turned off"),
        ("Back up the database", "The database is backed up"),
        ("See the page “Start”", "The page “Start” is shown"),
        ("Give the guest a key", None),
        ("Make sure the light is on", None),
        ("Log in to the portal", None),
        ("Click Save", None),
        ("Sort and archive", None),
        ("Open div-8472", None),
        ("Save", None),
        ("", None),
    ],
)
def test_a_label_becomes_the_state_it_leads_to(label: str, state: str | None) -> None:
    assert state_of(label) == state


def test_another_name_is_always_the_same_for_its_owner_and_fits_the_limit() -> None:
    name = other_slug("x" * 56, "ada")
    assert re.fullmatch(r"x{56}-[0-9a-f]{4}", name)
    assert other_slug("x" * 56, "ada") == name
    assert other_slug("x" * 56, "bob") != name


def test_a_text_without_spaces_is_cut_to_the_limit() -> None:
    assert len(cut_at_word("x" * 300, 120)) <= 120


@pytest.mark.parametrize("text", ["Bericht.md is missing", "Fotos/2026 is there", "übersicht.txt is a link"])
def test_a_file_name_keeps_its_case_at_the_start_of_a_sentence_and_within_one(text: str) -> None:
    assert sentence(text) == f"{text}."
    assert lower_first(text) == text
