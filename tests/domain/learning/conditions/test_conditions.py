"""Conditions on the folder before and after the work, one file or a family of files."""

import pytest

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.conditions import is_there, objection
from domain.learning.conditions.orders import Order
from domain.learning.conditions.sort_orders import order_of
from tests.domain.learning.proof.folders import Folder, stating

KINDS = ConditionKind
BEFORE = Folder({"in/a.md": "one\n", "in/b.md": "two\nlines\n", "list.csv": "name\na\nb\n", "keep.txt": "x"})


def test_every_new_or_changed_file_of_a_pattern_is_checked() -> None:
    after = Folder({**BEFORE.texts, "out/a.txt": "ok", "out/b.txt": "ok"})
    holds = stating(KINDS.HOLDS_TEXT, "out/*.txt", argument="ok")
    assert objection(holds, BEFORE, after) is None
    assert objection(holds, BEFORE, Folder({**after.texts, "out/c.txt": "no"})) is not None


def test_files_of_a_pattern_that_were_there_and_have_not_changed_do_not_count() -> None:
    before = Folder({"out/old.txt": "no"})
    holds = stating(KINDS.HOLDS_TEXT, "out/*.txt", argument="ok")
    assert objection(holds, before, Folder({"out/old.txt": "no", "out/a.txt": "ok"})) is None
    assert objection(holds, before, before) == "no file out/*.txt was made or changed"


def test_no_file_of_a_pattern_is_left() -> None:
    gone = stating(KINDS.ABSENT, "in/*.md")
    assert objection(gone, BEFORE, Folder()) is None
    assert objection(gone, BEFORE, Folder({"in/b.md": "two\n"})) == "in/b.md is still there"
    assert objection(gone, Folder(), Folder()) == "in/*.md was never there"


def test_a_source_by_pattern_is_the_one_of_the_same_name() -> None:
    same = stating(KINDS.LINE_COUNT, "out/*.txt", other="in/*.md", argument="0")
    assert objection(same, BEFORE, Folder({"out/a.txt": "1\n", "out/b.txt": "1\n2\n"})) is None
    assert objection(same, BEFORE, Folder({"out/a.txt": "1\n2\n"})) is not None


def test_moved_files_keep_their_content_and_none_is_lost() -> None:
    moved = stating(KINDS.SAME_CONTENT, "out/*/x-*.md", other="in/*.md", argument="all")
    both = Folder({"out/1/x-1.md": "one\n", "out/2/x-2.md": "two\nlines\n"})
    assert objection(moved, BEFORE, both) is None
    assert objection(moved, BEFORE, Folder({"out/1/x-1.md": "one\n"})) is not None
    assert objection(moved, BEFORE, Folder({"out/1/x-1.md": "other\n"})) is not None


def test_files_are_counted_against_rows_and_against_other_files() -> None:
    after = Folder({"out/a.txt": "x", "out/b.txt": "y"})
    assert (
        objection(stating(KINDS.FILE_COUNT, "out/*.txt", other="list.csv", argument="-1"), BEFORE, after)
        is None
    )
    assert (
        objection(stating(KINDS.FILE_COUNT, "out/*.txt", other="in/*.md", argument="0"), BEFORE, after)
        is None
    )
    assert (
        objection(stating(KINDS.FILE_COUNT, "out/*.txt", other="list.csv", argument="0"), BEFORE, after)
        is not None
    )


def test_an_archive_holds_a_folder_by_full_or_by_inner_paths() -> None:
    for members in (["in/a.md", "in/b.md"], ["./a.md", "./b.md"], ["in/a.md", "in/b.md", "more"]):
        after = Folder(archives={"pack.tar": members})
        assert objection(stating(KINDS.MEMBERS_OF, "pack.tar", other="in"), BEFORE, after) is None
        assert objection(stating(KINDS.MEMBERS_OF, "pack.tar", other="in/*.md"), BEFORE, after) is None
    lacking = Folder(archives={"pack.tar": ["in/a.md"]})
    assert (
        objection(stating(KINDS.MEMBERS_OF, "pack.tar", other="in"), BEFORE, lacking)
        == "pack.tar lacks in/b.md"
    )


def test_a_word_on_its_own_is_not_one_within_a_longer_word() -> None:
    lacks = stating(KINDS.LACKS_WORD, "keep.txt", argument="Linden")
    assert objection(lacks, BEFORE, Folder({"keep.txt": "Lindenstraße"})) is None
    assert objection(lacks, BEFORE, Folder({"keep.txt": "the Linden room"})) is not None


@pytest.mark.parametrize(
    ("argument", "other", "was", "now", "holds"),
    [
        ("annotated", None, None, "annotated", True),
        ("annotated", None, None, "lightweight", False),
        ("*", None, None, "0.9", True),
        ("*", None, None, None, False),
        ("", None, "there", None, True),
        ("", None, "there", "there", False),
        ("+1", None, "4", "5", True),
        ("+1", None, "4", "6", False),
        ("-1", "list.csv", None, "2", True),
        ("-1", "list.csv", None, "3", False),
    ],
)
def test_state_behind_files_is_compared(
    argument: str, other: str | None, was: str | None, now: str | None, holds: bool
) -> None:
    before = Folder(BEFORE.texts, state={} if was is None else {"git: x": was})
    after = Folder(BEFORE.texts, state={} if now is None else {"git: x": now})
    condition = stating(KINDS.STATE, "git: x", argument=argument, other=other)
    assert (objection(condition, before, after) is None) == holds


def test_quoted_fields_are_read_as_one() -> None:
    order = Order("comma", 2, "numbers", True, 0)
    assert order.holds(['"a, b",10', "c,9", '"d","8"'])
    assert order_of(order.argument) == order


def test_a_file_named_with_a_star_is_itself() -> None:
    after = Folder({"a*.txt": "x", "ab.txt": "y"})
    assert objection(stating(KINDS.HOLDS_TEXT, "a*.txt", argument="x"), Folder(), after) is None


def test_a_pattern_is_there_where_a_file_of_it_was_made() -> None:
    condition = stating(KINDS.NOT_EMPTY, "out/*.txt")
    assert is_there(condition, Folder(), Folder({"out/a.txt": ""}))
    assert not is_there(condition, Folder({"out/a.txt": ""}), Folder({"out/a.txt": ""}))


@pytest.mark.parametrize("kind", [ConditionKind.EXISTS, ConditionKind.NOT_EMPTY])
def test_a_file_that_was_made_again_as_it_was_has_been_made(kind: ConditionKind) -> None:
    before, made = Folder({"top.txt": "1 a\n"}), stating(kind, "top.txt")
    assert "has not changed since" in (objection(made, before, before) or "")
    assert objection(made, before, Folder({"top.txt": "1 a\n"}, written={"top.txt"})) is None
