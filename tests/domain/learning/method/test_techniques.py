"""Techniques of commands in technical words, as in a search query."""

import pytest

from contracts.abilities.availability import MAX_TECHNIQUES, AbilityAvailabilityEntry
from domain.learning.method.program_forms import form_of
from domain.learning.method.techniques import options_by_program, techniques_of


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sort -t, -k2,2nr loans.csv", ["sort csv files by a column numerically in descending order"]),
        ("sort --key=2r notes.txt", ["sort text files by a column in descending order"]),
        ("cut -d, -f3 a.csv | sort | uniq -c", ["extract columns of csv files", "count how often each line occurs"]),
        ("join -t, -a 1 a.csv b.csv", ["left join of csv files on a common key, with rows without a match"]),
        ("join -t, -v 1 a.csv b.csv", ["anti join of csv files, rows without a match"]),
        ("comm -23 <(sort a.txt) <(sort b.txt)", ["sort text files", "set difference of two sorted lists"]),
        ("diff -rq old new", ["compare two directories, list differing files"]),
        ("diff -u a.txt b.txt > b.patch", ["unified diff of two files, a patch"]),
        ("awk '{ t[$1] += $2 } END { for (c in t) print c, t[c] }'", ["sum by group, totals per key of files"]),
        ("awk '!seen[$0]++' a.txt", ["drop duplicates by key of text files"]),
        ("awk -F, '$3 > 100' a.csv", ["filter rows by a condition of csv files"]),
        ("sed -i 's/Linden/Maple/g' *.txt", ["search and replace in text files in place"]),
        ("sed '/^#/d' a.conf", ["delete lines of configuration files"]),
        ("grep -rl Linden notes", ["find files that contain a text recursively in a directory"]),
        ("find . -name '*.log' -mtime +30 -delete", ["delete log files by name by age"]),
        ("tar -xzf a.tgz", ["extract a tar archive"]),
        ("tar --exclude=x -czf a.tgz d", ["create a compressed tar archive"]),
        ("tar tzf a.tgz", ["list a tar archive"]),
        ("git tag -a v1 -m one", ["tag a release in git"]),
        (
            "python3 -m venv .venv && .venv/bin/pip install tabulate",
            ["create a virtual environment (venv)", "install python packages with pip"],
        ),
        ("sqlite3 a.db 'select a, sum(b) from t group by a'", ["sql group by, totals per group"]),
        ("for f in *.jpg; do convert \"$f\" -resize 800x \"small/$f\"; done", ["resize images"]),
        ("sha256sum -c list.sha256", ["verify checksums"]),
    ],
)  # fmt: skip
def test_a_command_is_told_by_its_technique_and_kind_of_files(command: str, said: list[str]) -> None:
    assert list(techniques_of([command])) == said


@pytest.mark.parametrize(
    "command",
    [
        "cd notes",
        "mkdir -p out",
        "ls -l",
        "echo done",
        "frobnicate a.csv",
        "head -1 a.csv",
        "find . -type f",
        "sort",
    ],
)
def test_what_says_nothing_of_the_work_is_left_out(command: str) -> None:
    assert techniques_of([command]) == ()


def test_a_line_that_is_no_shell_says_nothing() -> None:
    assert techniques_of(["sort a.csv | | (", "wc -l a.csv"]) == ("count lines",)


def test_each_technique_is_told_once_and_a_few_of_them() -> None:
    commands = ["wc -l a.txt", "wc -l b.txt", "nl a.txt", "tac a.txt", "shuf a.txt", "sha256sum a.txt"]
    assert techniques_of(commands) == (
        "count lines",
        "number lines",
        "reverse the order of lines",
        "shuffle lines, random sample",
    )


def test_a_phrase_fits_into_an_entry() -> None:
    longest = techniques_of(["sort -t, -k1,1nr -u -V -R a.csv b.json"])
    schema = AbilityAvailabilityEntry.model_json_schema()["properties"]["techniques"]
    assert all(len(one) <= schema["items"]["maxLength"] for one in longest)
    assert schema["maxItems"] == MAX_TECHNIQUES


def test_options_in_the_table_are_those_that_the_programs_have() -> None:
    unknown = [
        (program, option)
        for program, options in options_by_program().items()
        if (form := form_of(program)).is_known and form.options
        for option in options
        if option.partition("=")[0] not in {one.name for one in form.options.values()}
    ]
    assert unknown == []
