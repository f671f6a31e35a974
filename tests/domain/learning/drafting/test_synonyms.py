"""A request is put in other words only where these say the same."""

import pytest

from domain.learning.drafting.synonyms import reworded


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("total the invoices", ["sum the invoices", "calculate the invoices"]),
        ("resize the photos", ["scale the photos", "shrink the photos"]),
        ("write the manifest", ["draft the manifest"]),
        ("write down the loans", ["note down the loans"]),
        ("write the loans of the week down", ["note down the loans of the week"]),
        ("put together the report, then mail it", ["assemble the report, then mail it"]),
        ("take out the draft pages", ["extract the draft pages"]),
        ("get rid of the old logs", ["remove the old logs"]),
        ("set up a project", ["prepare a project"]),
        ("report what was added", ["summarise what was added"]),
    ],
)
def test_a_verb_is_exchanged_with_its_particle_for_one_of_the_same_meaning(
    request_: str, expected: list[str]
) -> None:
    assert reworded(request_) == expected


@pytest.mark.parametrize(
    "request_",
    [
        "run the report of a month's hours",
        "put the jobs of a month beside their customers",
        "set the permissions right",
        "turn the pages into a book",
        "make the pictures smaller",
        "write off the old machines",
        "compare the prices down to the cent",
        "merge the branch of the prices",
        "merge",
        "x-ray the file",
    ],
)
def test_a_verb_whose_sense_hangs_on_other_words_is_not_exchanged(request_: str) -> None:
    assert reworded(request_) == []
