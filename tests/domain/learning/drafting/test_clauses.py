"""Main clauses of a goal that a person would say by themselves."""

import pytest

from domain.learning.drafting.clauses import clauses_of


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (
            "Check the delivered zip, take only the shops' CSV tables out of it and count the rows of each",
            ["Check the delivered zip", "take only the shops' CSV tables out of the delivered zip"],
        ),
        (
            "Back up the records into an archive with today's date in its name, without leftovers; check it",
            ["Back up the records into an archive with today's date in its name, without leftovers"],
        ),
        (
            "Rename the scanned pages to lease-001.tif and so on in the order of their scan; keep a list",
            ["Rename the scanned pages to lease-001.tif and so on in the order of their scan"],
        ),
        (
            "Load the deliveries into a database and export the value per supplier for the warehouse in Linz",
            [
                "Load the deliveries into a database",
                "export the value per supplier for the warehouse in Linz",
            ],
        ),
        (
            "Find the photos that are there more than once, by their checksum, and list them in groups",
            ["Find the photos that are there more than once, by their checksum"],
        ),
        (
            "Make release 1.4.0: set the version, give the change log its heading and date, commit and tag it",
            ["Make release 1.4.0", "give the change log its heading and date"],
        ),
        (
            "Add the rule for the table module that the Makefile lacks, build the program and keep its output",
            ["Add the rule for the table module that the Makefile lacks"],
        ),
        (
            "The room Linden is now called Maple: change the name in all our text files, except in the archive",
            ["change the name in all our text files, except in the archive"],
        ),
        (
            "Apply the patch that lies in the folder, run the tests, keep the result, file the patch in applied",
            ["Apply the patch that lies in the folder", "file the patch in applied"],
        ),
        (
            "Merge the branch new-prices; where the settings conflict, the branch's lines win; commit the merge",
            ["Merge the branch new-prices"],
        ),
        (
            "Resize the holiday pictures, then upload them to the gallery and mail the link to the club",
            [
                "Resize the holiday pictures",
                "upload the holiday pictures to the gallery",
                "mail the link to the club",
            ],
        ),
        (
            "Write the manifest of this month's deliveries: number of files and rows, total weight, checksums",
            ["Write the manifest of this month's deliveries"],
        ),
        ("Report what was added, removed and changed between two releases, without their logs", []),
        ("From the year's expenses make a table with count, sum and average of each category", []),
        ("Write a script to check and update the price table", []),
        ("Sort and count the rows of the table", []),
        ("Count the rows of the table", []),
        ("", []),
    ],
)
def test_the_clauses_of_a_goal_are_those_that_stand_alone(goal: str, expected: list[str]) -> None:
    assert clauses_of(goal) == expected
