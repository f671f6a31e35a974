"""Vacuous conditions are told from those that prove something."""

import pytest

from contracts.learning.evidence import ConditionKind, ConditionVerdict, ProofCondition
from domain.learning.proof.vacuity import Effect, Trial, effect_on, judged, says_nothing
from tests.domain.learning.proof.folders import Folder, stating

ROWS = "name,amount\nx,1\ny,2\nz,3\n"
BEFORE = Folder(
    {
        "in.csv": ROWS,
        "short.csv": "name,amount\nx,1\n",
        "notes.txt": "port=80\nname=x\n",
        "sorted.txt": "a\nb\nc\n",
        "empty.txt": "",
    },
    state={"git: current branch": "main"},
)
AFTER = Folder(
    {
        **BEFORE.texts,
        "copy.csv": ROWS,
        "one.txt": "only\n",
        "out.txt": "c\nb\na\n",
        "empty-copy.txt": "",
        "notes.txt": "port=81\nname=x\n",
    },
    modes={"run.sh": 0o755},
    archives={"pack.tar": ["in.csv"]},
    state={"git: current branch": "main", "git: tag v1": "annotated"},
)
ASCENDING = "by=space:0 as=text order=ascending header=0"
DESCENDING = "by=space:0 as=text order=descending header=0"
KINDS = ConditionKind

VACUOUS = {
    "already true of a file that nobody writes": stating(KINDS.HOLDS_TEXT, "in.csv", argument="x,1"),
    "a file that nobody writes is there": stating(KINDS.EXISTS, "in.csv"),
    "a file that nobody writes is not empty": stating(KINDS.NOT_EMPTY, "in.csv"),
    "a file that nobody writes is sorted": stating(KINDS.SORTED, "sorted.txt", argument=ASCENDING),
    "one line is sorted": stating(KINDS.SORTED, "one.txt", argument=ASCENDING),
    "one line comes once": stating(KINDS.DISTINCT_LINES, "one.txt"),
    "the header of a whole copy": stating(KINDS.HEADER_OF, "copy.csv", other="in.csv"),
    "the lines of a whole copy": stating(KINDS.LINES_OF, "copy.csv", other="in.csv"),
    "as many lines as in a whole copy": stating(KINDS.LINE_COUNT, "copy.csv", other="in.csv", argument="0"),
    "compared with itself": stating(KINDS.SAME_CONTENT, "copy.csv", other="copy.csv"),
    "the content of an empty file": stating(KINDS.SAME_CONTENT, "empty-copy.txt", other="empty.txt"),
    "at most so many lines as there ever were": stating(KINDS.LINE_COUNT, "out.txt", argument="9"),
    "holds nothing": stating(KINDS.HOLDS_TEXT, "out.txt", argument=""),
    "held before and still": stating(KINDS.HOLDS_TEXT, "notes.txt", argument="name=x"),
    "lacks what was never there": stating(KINDS.LACKS_TEXT, "out.txt", argument="TODO"),
    "lacks what it never had": stating(KINDS.LACKS_TEXT, "notes.txt", argument="port=99"),
    "permissions of any new file": stating(KINDS.MODE, "out.txt", argument="644"),
    "the members of a folder without files": stating(KINDS.MEMBERS_OF, "pack.tar", other="nothing"),
    "state that was so before": stating(KINDS.STATE, "git: current branch", argument="main"),
    "a check that is not named": stating(KINDS.CHECK_PASSES, "out.txt"),
}


@pytest.mark.parametrize("name", VACUOUS)
def test_a_statement_that_is_true_without_work_is_vacuous(name: str) -> None:
    found = judged(VACUOUS[name], 0, BEFORE, AFTER, [Trial((Effect.GONE,), command=1)])
    assert found.verdict is ConditionVerdict.VACUOUS
    assert found.reason


BROKEN = {
    "another order": stating(KINDS.SORTED, "out.txt", argument=ASCENDING),
    "a file that is not there": stating(KINDS.EXISTS, "absent.txt"),
    "gone, though it is there": stating(KINDS.ABSENT, "in.csv"),
    "gone, though it was never there": stating(KINDS.ABSENT, "absent.txt"),
    "another state": stating(KINDS.STATE, "git: tag v1", argument="lightweight"),
    "no such files": stating(KINDS.NOT_EMPTY, "letters/*.txt"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_statement_that_is_false_on_the_demonstration_is_broken(name: str) -> None:
    assert judged(BROKEN[name], 0, BEFORE, AFTER, []).verdict is ConditionVerdict.BROKEN


TELLING = {
    "an order": stating(KINDS.SORTED, "out.txt", argument=DESCENDING),
    "a copy": stating(KINDS.SAME_CONTENT, "copy.csv", other="in.csv"),
    "a changed text": stating(KINDS.HOLDS_TEXT, "notes.txt", argument="port=81"),
    "a replaced text": stating(KINDS.LACKS_TEXT, "notes.txt", argument="port=80"),
    "new state": stating(KINDS.STATE, "git: tag v1", argument="annotated"),
}


@pytest.mark.parametrize("name", TELLING)
def test_a_statement_that_an_omission_breaks_is_told_apart(name: str) -> None:
    trial = Trial((Effect.BROKEN,), reduced="without “sort -r” in command 1")
    assert judged(TELLING[name], 0, BEFORE, AFTER, [trial]).verdict is ConditionVerdict.TOLD_APART


@pytest.mark.parametrize("name", TELLING)
def test_a_statement_that_no_omission_breaks_is_vacuous(name: str) -> None:
    trials = [Trial((Effect.HOLDS,), command=1), Trial((Effect.HOLDS,), is_variation=True)]
    assert judged(TELLING[name], 0, BEFORE, AFTER, trials).verdict is ConditionVerdict.VACUOUS


@pytest.mark.parametrize("name", TELLING)
def test_a_statement_that_changed_input_breaks_is_a_coincidence(name: str) -> None:
    trials = [Trial((Effect.BROKEN,), command=1), Trial((Effect.BROKEN,), is_variation=True)]
    assert judged(TELLING[name], 0, BEFORE, AFTER, trials).verdict is ConditionVerdict.COINCIDENCE


def test_an_order_that_only_the_missing_file_breaks_proves_nothing() -> None:
    gone = Trial((Effect.GONE,), command=1)
    assert judged(TELLING["an order"], 0, BEFORE, AFTER, [gone]).verdict is ConditionVerdict.VACUOUS
    shuffled = Trial((Effect.HOLDS,), is_variation=True)
    assert (
        judged(TELLING["an order"], 0, BEFORE, AFTER, [gone, shuffled]).verdict is ConditionVerdict.TOLD_APART
    )


def test_rows_that_come_twice_say_nothing_of_how_many_files_there_are() -> None:
    after = Folder({**BEFORE.texts, "out/x.txt": "x", "out/y.txt": "y", "out/z.txt": "z"})
    counted = stating(KINDS.FILE_COUNT, "out/*.txt", other="in.csv", argument="-1")
    broken = Trial((Effect.BROKEN,), command=1)
    twice = Trial((Effect.BROKEN,), is_variation=True, has_repeated_rows=True)
    shuffled = Trial((Effect.HOLDS,), is_variation=True)
    assert judged(counted, 0, BEFORE, after, [broken, twice, shuffled]).verdict is ConditionVerdict.TOLD_APART


def test_an_omission_that_leaves_a_trivial_file_has_broken_the_condition() -> None:
    condition: ProofCondition = TELLING["an order"]
    assert effect_on(condition, BEFORE, Folder({"out.txt": "c\n"}), is_omission=True) is Effect.GONE
    assert effect_on(condition, BEFORE, Folder({"out.txt": "c\n"}), is_omission=False) is Effect.HOLDS
    assert effect_on(condition, BEFORE, Folder(), is_omission=True) is Effect.GONE
    assert effect_on(condition, BEFORE, Folder({"out.txt": "a\nb\n"}), is_omission=True) is Effect.BROKEN


def test_only_a_statement_without_content_says_nothing() -> None:
    assert all(says_nothing(one, BEFORE, AFTER) is None for one in TELLING.values())
