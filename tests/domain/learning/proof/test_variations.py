"""Variations of the input: rows, records and files."""

import json

import pytest

from domain.learning.conditions.conditions import lines_of
from domain.learning.conditions.rows import with_exchanged_numbers
from domain.learning.proof.variations import quiet_variations, variations
from tests.domain.learning.proof.folders import Folder

TABLE = "name,amount\n" + "".join(f"row {n},{n}\n" for n in range(12))


def test_rows_are_shuffled_left_out_and_repeated_below_the_first_line() -> None:
    found = variations(Folder({"in.csv": TABLE}), ["in.csv"], ["in.csv"])
    rows = lines_of(TABLE)[1:]
    texts = [lines_of(one.written["in.csv"]) for one in found]
    assert all(lines[0] == "name,amount" for lines in texts)
    assert sorted(texts[0][1:]) == sorted(rows)
    assert texts[0][1:] != rows
    assert [len(lines) - 1 for lines in texts] == [12, 8, 8, 8, 24, 12]
    assert [one.has_repeated_rows for one in found] == [False] * 4 + [True, False]


def test_each_row_is_left_out_once() -> None:
    found = variations(Folder({"in.csv": TABLE}), ["in.csv"], ["in.csv"])
    gone = [set(lines_of(TABLE)) - set(lines_of(one.written["in.csv"])) for one in found[1:4]]
    assert set().union(*gone) == set(lines_of(TABLE)[1:])
    assert sum(map(len, gone)) == 12


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["Ada,10", "Bob,5", "Cyd,2"], ["Ada,2", "Bob,5", "Cyd,10"]),
        (["1;Ada; 10", "2;Bob;5.5"], ["2;Ada;5.5", "1;Bob; 10"]),
        (["a\t-1", "b\t+2"], ["a\t+2", "b\t-1"]),
        (["a|1", "b|2"], ["a|2", "b|1"]),
        (["Ada,10", "Bob,"], None),
        (["Ada,10", "Bob,x"], None),
        (["Ada,10,1", "Bob,5"], None),
        (["1,2", "3,4"], None),
        (['"Ada, Lovelace",10', '"Bob",5'], None),
        (["GET /a 200", "GET /b 404"], None),
        (["2026-03-01,Ada", "2026-03-02,Bob"], None),
        (
            [{"name": "Ada", "n": 1, "paid": True}, {"name": "Bob", "n": 2.5, "paid": False}],
            [{"name": "Ada", "n": 2.5, "paid": True}, {"name": "Bob", "n": 1, "paid": False}],
        ),
        ([{"name": "Ada", "n": 1}, {"name": "Bob"}], None),
        ([{"name": "Ada", "n": 1}, "Bob,2"], None),
        ([], None),
    ],
)
def test_rows_exchange_their_numbers_and_keep_the_rest(
    rows: list[object], expected: list[object] | None
) -> None:
    assert with_exchanged_numbers(rows) == (rows if expected is None else expected)


def test_every_row_like_file_that_is_read_changes() -> None:
    found = variations(
        Folder({"a.csv": TABLE, "b.log": TABLE, "c.py": TABLE}), ["a.csv", "b.log", "c.py"], ["a.csv"]
    )
    assert set(found[0].written) == {"a.csv", "b.log"}


def test_records_of_json_are_varied_as_rows_are() -> None:
    text = json.dumps({"orders": [{"id": n} for n in range(9)], "names": ["a", "b"]})
    found = variations(Folder({"in.json": text}), ["in.json"], ["in.json"])
    counts = [len(json.loads(one.written["in.json"])["orders"]) for one in found]
    assert counts == [9, 6, 6, 6, 18]
    assert all(json.loads(one.written["in.json"])["names"] == ["a", "b"] for one in found)


def test_programs_short_files_and_damaged_json_are_left_alone() -> None:
    folder = Folder(
        {"run": "#!/bin/sh\n" + "a\n" * 9, "short.csv": "a\nb\n", "bad.json": "{", "x.ini": TABLE}
    )
    assert variations(folder, ["run", "short.csv", "bad.json", "x.ini"], []) == ()


def test_a_file_more_a_file_less_and_another_name_where_no_command_names_the_files() -> None:
    folder = Folder({"in/a.jpg": "1", "in/b.jpg": "2", "in/c.jpg": "3"})
    more, less, renamed = variations(folder, sorted(folder.paths()), [])
    assert more.copied == {"in/c-more.jpg": "in/c.jpg"}
    assert less.removed == ("in/c.jpg",)
    assert (renamed.copied, renamed.removed) == ({"in/a-more.jpg": "in/a.jpg"}, ("in/a.jpg",))


def test_files_that_a_command_names_keep_their_names() -> None:
    assert variations(Folder({"a.jpg": "1", "b.jpg": "2"}), ["a.jpg", "b.jpg"], ["a.jpg", "b.jpg"]) == ()


def test_the_same_folder_has_the_same_variations() -> None:
    folder = Folder({"in.csv": TABLE, "x/a.txt": TABLE, "x/b.txt": TABLE})
    assert variations(folder, sorted(folder.paths()), []) == variations(folder, sorted(folder.paths()), [])


def test_of_a_selection_the_rows_that_were_not_selected_are_left() -> None:
    (one,) = quiet_variations(Folder({"in.csv": TABLE}), ["in.csv"], ["in.csv"], ["row 3\nrow 5\n"])
    assert lines_of(one.written["in.csv"]) == [
        line for line in lines_of(TABLE) if "row 3" not in line and "row 5" not in line
    ]


def test_of_a_report_the_lines_and_the_files_are_left_that_it_does_not_speak_of() -> None:
    folder = Folder({"docs/a.md": "see b.md\nsee gone.md\n", "docs/b.md": "see a.md\n"})
    report = "docs/a.md: gone.md\n"
    lines, files = quiet_variations(folder, sorted(folder.paths()), [], [report])
    assert lines.written == {"docs/a.md": "see b.md\n"}
    assert files.removed == ("docs/a.md",)


def test_a_result_that_is_made_of_all_its_input_has_no_input_that_it_does_not_speak_of() -> None:
    folder = Folder({"in.csv": TABLE, "a.jpg": "1", "b.jpg": "2"})
    results = ["".join(sorted(TABLE.splitlines(keepends=True))), "a.jpg\nb.jpg\n"]
    assert quiet_variations(folder, sorted(folder.paths()), [], results) == ()
