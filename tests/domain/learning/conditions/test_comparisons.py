"""The result of a comparison names every row or file that differs, and nothing that is equal."""

import pytest

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import objection
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

A = "name,town\nAda,Linz\nBob,Graz\nCleo,Wels\nDora,Enns\n"
B = "name,town\nAda,Linz\nBob,Steyr\nDora,Enns\nEmil,Wels\n"


def stated(command: str, result: str, files: dict[str, str]) -> list[str]:
    """What is said of the comparison that made out.txt."""
    before, after = Folder(files), Folder({**files, "out.txt": result})
    found = candidates(before, after, [command], sorted(files))
    return [one.statement for one in found if one.kind is ConditionKind.COMPARES]


@pytest.mark.parametrize(
    ("command", "result", "expected"),
    [
        (
            "comm -13 <(sort a.csv) <(sort b.csv) > out.txt",
            "Bob,Steyr\nEmil,Wels\n",
            "has every line of b.csv that a.csv does not have, and no other",
        ),
        (
            "comm -23 <(cut -d, -f1 a.csv|sort) <(cut -d, -f1 b.csv|sort) > out.txt",
            "Cleo\n",
            "has every value of field 1 (comma) of a.csv that b.csv does not have, and no other",
        ),
        (
            "comm -12 <(sort a.csv) <(sort b.csv) > out.txt",
            "Ada,Linz\nDora,Enns\nname,town\n",
            "has every line that a.csv and b.csv both have, and no other",
        ),
        (
            "diff a.csv b.csv > out.txt",
            "3,4c3\n< Bob,Graz\n< Cleo,Wels\n---\n> Bob,Steyr\n5a5\n> Emil,Wels\n",
            "shows every line that only one of a.csv and b.csv has, and nothing for equal files",
        ),
    ],
)
def test_a_comparison_of_rows_says_which_rows_it_holds(command: str, result: str, expected: str) -> None:
    assert stated(command, result, {"a.csv": A, "b.csv": B}) == [f"The file out.txt {expected}"]


def test_repeated_rows_are_said_to_be_all_that_are_repeated() -> None:
    said = stated("sort a.txt | uniq -d > out.txt", "b\n", {"a.txt": "a\nb\nc\nb\nd\n"})
    assert said == ["The file out.txt has every line that a.txt has more than once, and no other"]


def test_what_does_not_follow_from_the_sources_is_not_said() -> None:
    assert stated("comm -13 a.csv b.csv > out.txt", "Emil,Wels\n", {"a.csv": A, "b.csv": B}) == []
    assert stated("sort a.csv b.csv > out.txt", "Bob,Steyr\nEmil,Wels\n", {"a.csv": A, "b.csv": B}) == []


TREES = {
    "old/a.txt": "1",
    "old/sub/b.txt": "2",
    "old/gone.txt": "3",
    "old/run.log": "x",
    "new/a.txt": "1",
    "new/sub/b.txt": "two",
    "new/more/c.txt": "4",
    "new/run.log": "y",
}


def test_a_comparison_of_folders_names_the_files_that_differ_and_leaves_aside_what_it_is_told_to() -> None:
    result = "Only in new: more\nOnly in old: gone.txt\nFiles old/sub/b.txt and new/sub/b.txt differ\n"
    assert stated("diff -rq -x '*.log' old new > out.txt", result, TREES) == [
        "The file out.txt names every file that differs between old and new or that only one of them has,"
        " and no equal one, *.log aside"
    ]
    assert stated("diff -rq old new > out.txt", result, TREES) == []


def test_a_list_of_files_with_the_same_content_names_all_of_them() -> None:
    files = {"in/a.jpg": "1", "in/b.jpg": "2", "in/c.jpg": "1", "in/d.jpg": "3"}
    command = "md5sum in/*.jpg | sort | uniq -w32 -D > out.txt"
    assert stated(command, "c4ca  in/a.jpg\nc4ca  in/c.jpg\n", files) == [
        "The file out.txt names every file in/*.jpg whose content another of them has, and no other"
    ]
    assert stated(command, "c4ca  in/a.jpg\n", files) == []


def compared(argument: str, other: str = "a.csv | b.csv") -> ProofCondition:
    return condition(ConditionKind.COMPARES, "out.txt", other=other, argument=argument)


@pytest.mark.parametrize(
    ("argument", "result", "said"),
    [
        ("only-second", "Bob,Steyr\n", "out.txt: it lacks “Emil,Wels”"),
        ("only-second", "Bob,Steyr\nEmil,Wels\nAda,Linz\n", "out.txt: “Ada,Linz” does not belong in it"),
        ("differing", "> Bob,Steyr\n> Emil,Wels\n< Bob,Graz\n", "out.txt: it does not show “Cleo,Wels”"),
    ],
)
def test_a_wrong_result_is_said_with_its_row(argument: str, result: str, said: str) -> None:
    files = {"a.csv": A, "b.csv": B}
    assert objection(compared(argument), Folder(files), Folder({**files, "out.txt": result})) == said


def test_equal_sources_have_nothing_to_be_named() -> None:
    files = {"a.csv": A, "b.csv": A}
    for argument in ("differing", "only-second"):
        assert objection(compared(argument), Folder(files), Folder({**files, "out.txt": ""})) is None
        assert objection(compared(argument), Folder(files), Folder({**files, "out.txt": "> x\n"}))


def test_a_file_that_is_equal_may_not_be_named() -> None:
    result = "old/sub/b.txt\nold/gone.txt\nnew/more/c.txt\nold/a.txt\n"
    found = objection(
        compared("trees *.log", "old | new"), Folder(TREES), Folder({**TREES, "out.txt": result})
    )
    assert found == "out.txt: it names a.txt, which does not differ"


def test_files_of_a_folder_are_compared_without_those_that_find_passes_over() -> None:
    files = {
        "in/a.jpg": "1",
        "in/sub/b (2).jpg": "1",
        "in/thumbs/c.jpg": "1",
        "in/d.jpg": "2",
        "in/e.txt": "3",
    }
    command = "find in -type f ! -path '*/thumbs/*' | xargs sha256sum | sort | uniq -w64 -D > out.txt"
    assert stated(command, "6b86  in/a.jpg\n6b86  in/sub/b (2).jpg\n", files) == [
        "The file out.txt names every file of in whose content another of them has, and no other,"
        " */thumbs/* aside"
    ]
