"""Conditions in words are read back by the sentences that state them."""

import pytest

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.condition_reading import read_condition
from domain.learning.conditions.condition_wording import condition

KINDS = ConditionKind

STATED = (
    condition(KINDS.NOT_EMPTY, "nie da.txt"),
    condition(KINDS.NOT_EMPTY, "daten/alt.txt", is_new=False),
    condition(KINDS.NOT_EMPTY, "berichte/*.csv"),
    condition(KINDS.EXISTS, "a.txt"),
    condition(KINDS.EXISTS, "*.gz"),
    condition(KINDS.ABSENT, "o.tmp"),
    condition(KINDS.ABSENT, "Projekt */**/*.log"),
    condition(KINDS.SORTED, "a.csv", argument="by=semicolon:2 as=numbers order=descending header=1"),
    condition(KINDS.SORTED, "a.csv", argument="sort=tab keys=2-3:text:ascending header=0"),
    condition(KINDS.SORTED, "a.csv", argument="sort=tab keys=2-:folded:ascending header=0"),
    condition(KINDS.SORTED, "a.csv", argument="by=space:0 as=text order=ascending header=0"),
    condition(KINDS.LINE_COUNT, "a.csv", argument="3"),
    condition(KINDS.LINE_COUNT, "a.csv", argument="0"),
    condition(KINDS.LINE_COUNT, "a.csv", other="b c.csv", argument="-1"),
    condition(KINDS.LINE_COUNT, "a.csv", other="b c.csv", argument="4"),
    condition(KINDS.FILE_COUNT, "out/*.pdf", other="in/*.txt", argument="0"),
    condition(KINDS.FILE_COUNT, "out/*.pdf", other="namen.csv", argument="-1"),
    condition(KINDS.LINES_OF, "a.csv", other="b c.csv"),
    condition(KINDS.DISTINCT_LINES, "a.csv"),
    condition(KINDS.HEADER_OF, "a.csv", other="b c.csv"),
    condition(KINDS.HOLDS_TEXT, "a.csv", argument="port=8181"),
    condition(KINDS.LACKS_TEXT, "a.csv", argument="1.4.0"),
    condition(KINDS.LACKS_WORD, "a.csv", argument="Nord"),
    condition(KINDS.COLUMNS, "a.csv", argument="semicolon:4"),
    condition(KINDS.VALID_JSON, "a.json"),
    condition(KINDS.SAME_CONTENT, "a.csv", other="b c.csv"),
    condition(KINDS.SAME_CONTENT, "neu/*.jpg", other="alt/*.JPG", argument="all", other_stays=False),
    condition(KINDS.MEMBERS_OF, "a.tar.gz", other="Projekt A"),
    condition(KINDS.MODE, "a.csv", argument="600"),
    condition(KINDS.STATE, "git: tag v1.5.0", argument="annotated"),
    condition(KINDS.STATE, "git in sub folder: branch main", argument="there"),
    condition(KINDS.STATE, "git: commits", argument="+2"),
    condition(KINDS.STATE, "git: last message", argument="Release 1.5.0"),
    condition(KINDS.STATE, "konto.db: table buchungen: rows", other="konto.csv", argument="-1"),
    condition(KINDS.STATE, "neuester: target", argument="Brief Mai.txt.gz"),
    condition(KINDS.STATE, "aktiv/*.conf: target", argument="../alle/*.conf"),
    condition(KINDS.STATE, "my tools: package tabulate", argument="*"),
    condition(KINDS.STATE, "tools: environment", argument="*"),
    condition(KINDS.LINE_COUNT, "alle.csv", other="teil/*.csv", argument="0"),
    condition(KINDS.LINES_OF, "alle.csv", other="teil/*.csv"),
    condition(KINDS.HEADER_OF, "neu/*.csv", other="teil/*.csv"),
    condition(KINDS.COMPARES, "neu.txt", other="a b.csv | c.csv", argument="only-second"),
    condition(KINDS.COMPARES, "neu.txt", other="a.csv | c.csv", argument="common comma:2"),
    condition(KINDS.COMPARES, "neu.txt", other="a.csv | c.csv", argument="differing"),
    condition(KINDS.COMPARES, "neu.txt", other="a.csv", argument="repeated semicolon:3"),
    condition(KINDS.COMPARES, "neu.txt", other="a.csv", argument="single tab:1"),
    condition(KINDS.COMPARES, "neu.txt", other="alt | neu", argument="trees"),
    condition(KINDS.COMPARES, "neu.txt", other="bilder/*.jpg", argument="equal-files"),
    condition(KINDS.COMPARES, "neu.txt", other="bilder", argument="equal-files"),
)


@pytest.mark.parametrize("stated", STATED, ids=lambda one: one.statement)
def test_every_sentence_of_the_table_is_read_back_as_its_condition(stated: ProofCondition) -> None:
    found = read_condition(stated.statement)
    assert found is not None
    assert found.changed(statement="") == stated.changed(
        statement="", argument="*" if stated.argument == "there" else stated.argument
    )


SAID = {
    "the file nie.txt has been made and is not empty.": (KINDS.NOT_EMPTY, "nie.txt", ""),
    "nie.txt exists and is not empty": (KINDS.NOT_EMPTY, "nie.txt", ""),
    "The file `summe alt.txt` exists": (KINDS.EXISTS, "summe alt.txt", "there"),
    "app.conf contains “port=8181”": (KINDS.HOLDS_TEXT, "app.conf", "port=8181"),
    'app.conf holds "port=8181"': (KINDS.HOLDS_TEXT, "app.conf", "port=8181"),
    "o.tmp does not exist": (KINDS.ABSENT, "o.tmp", ""),
    "the tag v1.5.0 exists": (KINDS.STATE, "git: tag v1.5.0", "*"),
    "In git, tag v1.5.0 is there": (KINDS.STATE, "git: tag v1.5.0", "*"),
    "The archive alles.zip is a readable archive that holds every file of Musik": (
        KINDS.MEMBERS_OF, "alles.zip", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", SAID)
def test_what_people_say_for_it_is_read_too(said: str) -> None:
    found = read_condition(said)
    assert found is not None
    assert (found.kind, found.path, found.argument) == SAID[said]


@pytest.mark.parametrize(
    "said",
    [
        "The totals agree with what the bank says",
        "The report has been made",
        "The work is there",
        "Everybody has been told",
        "In short, everything: fine",
        "The chart looks right",
        "The customer exists",
    ],
)
def test_what_is_of_no_known_kind_is_not_read(said: str) -> None:
    assert read_condition(said) is None


def test_a_tag_is_one_of_the_repository_that_the_lesson_is_about() -> None:
    found = read_condition("the tag v2 exists", ["git in werk"])
    assert found is not None
    assert found.path == "git in werk: tag v2"
