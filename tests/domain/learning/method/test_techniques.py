"""Techniques of commands in technical words, as in a search query."""

import pytest

from contracts.abilities.availability import MAX_TECHNIQUES, AbilityAvailabilityEntry
from domain.learning.commands.operations import NetChange, NetEffect
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


JOINED = "left join of files on a common key, with rows without a match"


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (
            [
                "tail -n +2 a.csv | sort -t';' -k1,1 > a.sorted; tail -n +2 b.csv | sort -t';' -k2,2 > b.sorted",
                "join -t';' -a 1 a.sorted b.sorted >> out.csv",
                "rm a.sorted b.sorted",
            ],
            [JOINED],
        ),
        (["sort -k2 a.txt > /tmp/s; grep x /tmp/s > out; rm /tmp/s"], [
            "sort text files by a column", "search lines that match a pattern",
        ]),
        (["join <(sort -k1,1 a.csv) <(sort -k2,2 b.csv) > out"], ["join csv files on a common key"]),
        (["sort -t, -k1,1 a.csv | join -t, - b.csv > out"], ["join csv files on a common key"]),
        (["sort -t, -k1,1 -k3,3nr a.csv | join -t, - b.csv > out"], [
            "sort csv files by a column numerically in descending order", "join csv files on a common key",
        ]),
        (["sort a.txt | uniq -c | sort -rn > out"], [
            "count how often each line occurs", "sort files numerically in descending order",
        ]),
        (["sort a.txt | uniq > out"], ["sort text files", "remove duplicate lines"]),
        (["comm -12 <(sort a.txt) <(sort b.txt) | wc -l"], ["set difference of two sorted lists", "count lines"]),
        (["sort -k1,1 a.csv > a.sorted", "join a.sorted b.csv > out"], [
            "sort csv files by a column", "join csv files on a common key",
        ]),
        (["sort -k1,1 a.csv > by-key.txt", "join by-key.txt b.csv > c; head by-key.txt > top", "rm by-key.txt"], [
            "sort csv files by a column", "join text and csv files on a common key", "take the first lines",
        ]),
        (["sort a.txt; cut -d, -f1 b.csv | tac"], [
            "sort text files", "extract columns of csv files", "reverse the order of lines",
        ]),
    ],
)  # fmt: skip
def test_a_sort_that_another_program_needs_is_no_technique_of_its_own(
    commands: list[str], said: list[str]
) -> None:
    assert list(techniques_of(commands)) == said


def effect(path: str, change: NetChange) -> NetEffect:
    return NetEffect(path, change, "e")


@pytest.mark.parametrize(
    ("commands", "effects", "is_said"),
    [
        (["nl a.txt > b", "rm b"], [], False),
        (["rm old.txt"], [], True),
        (["tmp=$(mktemp); nl a.txt > $tmp; tac $tmp > out; rm -f \"$tmp\""], [], False),
        (["d=$(mktemp -d); nl a > $d/x", 'rm -r "${d}"'], [], False),
        (["mkdir work; nl a > work/x", "rm -r work"], [], False),
        (["split -l 9 a.txt part_", "rm part_*"], [effect("part_aa", NetChange.TRANSIENT)], False),
        (["split -l 9 a.txt part_", "rm part_*"], [effect("part_of_me", NetChange.DELETED)], True),
        (["unzip a.zip -d t", "rm -r t", "unzip a.zip -x b -d t"], [effect("t/a.csv", NetChange.CREATED)], False),
        (["nl a.txt > b", "rm b c"], [effect("c", NetChange.DELETED)], True),
        (["cd in; nl a.txt > a.new", "rm a.txt"], [effect("in/a.txt", NetChange.DELETED)], True),
        (['for f in *.log; do rm "$f"; done'], [effect("old/x.log", NetChange.DELETED)], True),
        (["for f in *.txt; do nl $f > $f.new; done", "rm *.new"], [effect("a.txt.new", NetChange.TRANSIENT)], False),
        (["nl a.txt > a.new && cp a.new b", "rm *"], [], True),
    ],
)  # fmt: skip
def test_removing_what_the_commands_made_is_no_deleting_of_files(
    commands: list[str], effects: list[NetEffect], is_said: bool
) -> None:
    assert any(one.startswith("delete") for one in techniques_of(commands, effects)) is is_said


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (["sort a.txt > a.new && mv a.new a.txt"], ("sort text files",)),
        (["mv a.txt b.txt"], ("rename text files",)),
        (["cp a.txt w.txt; mv w.txt v.txt"], ("copy text files", "rename text files")),
    ],
)
def test_putting_a_result_in_its_place_is_no_renaming(commands: list[str], said: tuple[str, ...]) -> None:
    assert techniques_of(commands) == said


@pytest.mark.parametrize(
    ("commands", "kind"),
    [
        (
            [
                "n=1",
                'ls -v *.tif | while read -r f; do new=$(printf \'lease-%03d.tif\' "$n"); mv -n -- "$f" "$new"; '
                "n=$((n + 1)); done",
            ],
            "image",
        ),
        (['i=0; for f in *; do ((i++)); mv "$f" "p-$i.jpg"; done'], "image"),
        (['i=0; for f in *; do i=$((i+1)); mv "$f" p-${i}.pdf; done'], "pdf"),
        (['i=1; for f in *; do mv "$f" "$(printf %02d "$i").txt"; let i++; done'], "text"),
        (['for f in *; do printf -v new "p-%03d.png" $((++k)); mv "$f" "$new"; done'], "image"),
        (['ls | nl | while read n f; do mv "$f" "$n-x.log"; done'], "log"),
        (['fs=(*); for i in "${!fs[@]}"; do mv "${fs[$i]}" "$((i+1)).csv"; done'], "csv"),
        (["rename 's/.*/sprintf(\"p-%03d.jpg\", ++$n)/e' *.jpg"], "image"),
    ],
)
def test_giving_names_with_a_running_number_is_numbering(commands: list[str], kind: str) -> None:
    assert f"number {kind} files consecutively, batch rename with a counter" in techniques_of(commands)


def test_copies_with_a_running_number_are_numbered_copies() -> None:
    assert techniques_of(['n=0; for f in *.jpg; do n=$((n+1)); cp "$f" "out/$n.jpg"; done']) == (
        "number copies of image files consecutively",
    )


@pytest.mark.parametrize(
    "command",
    [
        'for i in $(seq 1 9); do mv "page$i.txt" "page0$i.txt"; done',
        'for f in *.txt; do d=${f%.txt}; mv "$f" "$(printf p-%03d.txt "$d")"; done',
        'n=0; for f in *.txt; do mv "$f" "old-$f"; n=$((n+1)); done; echo $n',
        "mv 001.txt 002.txt",
        "rename 's/ /_/g' *.txt",
        'mv report.txt "report-$(date +%F).txt"',
    ],
)
def test_a_number_that_the_former_name_has_as_well_is_no_numbering(command: str) -> None:
    assert not [one for one in techniques_of([command]) if "number" in one]
