"""A date that a command prints into a name is another one next time, in every format."""

import pytest

from domain.learning.conditions.made_dates import without_date

MADE = {
    "a year and a day": (
        'mv a.tsv "berichte/$(date +%Y)/fehler $(date +%Y-%m-%d).tsv"',
        "berichte/2026/fehler 2026-11-27.tsv",
        "berichte/*/fehler *.tsv",
    ),
    "a month": ('cp a.csv "genug $(date +%Y-%m).csv"', "genug 2026-11.csv", "genug *.csv"),
    "a week": ("cp a.csv kw$(date +%V).csv", "kw48.csv", "kw*.csv"),
    "the name of a month": ("cp a.csv out/umsatz_`date +%b`.csv", "out/umsatz_Nov.csv", "out/umsatz_*.csv"),
    "a day of the year": ("cp a.csv tag-$(date +%j)", "tag-331", "tag-*"),
    "seconds": ("cp a.csv a.$(date +%s)", "a.1795790716", "a.*"),
    "a month alone, beside the same number": (
        "cp 11.csv monat_$(date +%m)/11.csv",
        "monat_11/11.csv",
        "monat_*/11.csv",
    ),
    "a folder": (
        'mkdir -p "archiv/$(date +%Y)"; cd archiv; cp ../a.csv */',
        "archiv/2026/a.csv",
        "archiv/*/a.csv",
    ),
    "a setting": (
        'HEUTE=$(date +%d.%m.%y)\ncp a.csv "stand $HEUTE.csv"',
        "stand 27.11.26.csv",
        "stand *.csv",
    ),
    "the day of a file": (
        'for f in *.JPG; do mv "$f" "$(date -r "$f" +%F)_${f// /_}"; done',
        "2025-12-24_a_b.JPG",
        "*_a_b.JPG",
    ),
    "no date in the name": ("echo $(date +%F) > log.txt", "log.txt", "log.txt"),
    "a year that was typed": ("date; cp a.csv b_2026.csv", "b_2026.csv", "b_2026.csv"),
    "another name of the same lesson": (
        'cp a.csv "genug $(date +%Y-%m).csv"; sort a.csv > 2026-11.csv',
        "2026-11.csv",
        "2026-11.csv",
    ),
}


@pytest.mark.parametrize("case", MADE)
def test_what_a_date_program_printed_is_a_star(case: str) -> None:
    commands, path, expected = MADE[case]
    assert without_date(path, commands) == expected
