"""Evidence of small lessons: what is kept, what is left out, and what proves it."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from contracts.learning.evidence import (
    ConditionKind,
    ConditionProof,
    ConditionVerdict,
    JudgedCondition,
    LessonEvidence,
    ProofCondition,
)
from contracts.learning.proposal import RehearsalCommand
from domain.learning.conditions.condition_reading import THERE
from domain.learning.proof.hollow import Verdicts
from skills.rehearsal.evidence import EvidenceBounds, EvidenceFinder, Lesson

pytestmark = pytest.mark.thorough

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LOG = "".join(f"{'ERROR' if n % 3 else 'INFO'} part {n * 7 % 5}\n" for n in range(20))
TABLE = "name,amount\n" + "".join(f"row {n},{n * 7 % 13}\n" for n in range(12))


class Taught:
    """A lesson on files, and its evidence."""

    def __init__(self, folder: Path, files: Mapping[str, str], *commands: str | RehearsalCommand) -> None:
        self.parent = folder
        self.files = files
        self.commands = tuple(command(one) if isinstance(one, str) else one for one in commands)
        self.asks_for_check = False
        self.in_vain: frozenset[str] = frozenset()
        self.needed: frozenset[str] | None = None
        self.labels: list[str] = []
        self.cancelled = threading.Event()
        self.evidence: LessonEvidence | None = None
        self.note: Callable[[str], None] = self.labels.append

    def find(self, *given: ProofCondition, seconds: float = 60.0) -> LessonEvidence:
        lesson = Lesson(
            str(uuid4()),
            self.commands,
            self.place,
            in_vain=self.in_vain,
            asks_for_check=self.asks_for_check,
        )
        bounds = EvidenceBounds(seconds=seconds)
        self.parent.chmod(0o755)
        finder = EvidenceFinder(
            lesson, self.parent / "jails", bounds, lambda label: self.note(label), self.cancelled
        )
        self.evidence = finder.find(NOW, given)
        self.needed = finder.needed
        assert list((self.parent / "jails").iterdir()) == []
        return self.evidence

    def kept(self) -> list[str]:
        assert self.evidence is not None
        return [one.command for one in self.commands if one.event_id in self.evidence.kept]

    def proof(self, kind: ConditionKind, path: str) -> ConditionProof:
        assert self.evidence is not None
        return next(p for p in self.evidence.proofs if (p.condition.kind, p.condition.path) == (kind, path))

    def place(self, work: Path) -> None:
        for path, text in self.files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text, encoding="utf-8")


def command(text: str, folder: str = ".", *, may_fail: bool = False) -> RehearsalCommand:
    return RehearsalCommand(event_id=str(uuid4()), command=text, working_folder=folder, may_fail=may_fail)


def kinds(evidence: LessonEvidence, path: str) -> set[ConditionKind]:
    return {one.kind for one in evidence.conditions if one.path == path}


def stating(kind: ConditionKind, path: str, argument: str = "", other: str | None = None) -> ProofCondition:
    return ProofCondition(kind=kind, path=path, argument=argument, other=other, statement="given")


def test_looking_around_and_a_corrected_error_fall_away_and_the_order_is_told_apart_by_the_sort(
    tmp_path: Path,
) -> None:
    wanted = "grep ERROR log.txt | sort | uniq -c | sort -nr > top.txt"
    taught = Taught(
        tmp_path,
        {"log.txt": LOG},
        "ls",
        command("gerp ERROR log.txt", may_fail=True),
        "grep ERROR log.txt | sort > top.txt",
        wanted,
        "cat top.txt",
    )
    sorted_by_input = stating(ConditionKind.SORTED, "log.txt", "by=space:0 as=text order=ascending header=0")
    unchanged = stating(ConditionKind.NOT_EMPTY, "log.txt")
    right = stating(ConditionKind.SORTED, "top.txt", "by=space:1 as=numbers order=descending header=0")
    evidence = taught.find(sorted_by_input, unchanged, right)
    assert evidence.reproduced
    assert taught.kept() == [wanted]
    order = taught.proof(ConditionKind.SORTED, "top.txt")
    assert "without “sort -nr” in command 1" in order.told_apart_in_words
    assert order.holds_for == order.tried > 0
    assert [one.verdict for one in evidence.judged[:3]] == [
        ConditionVerdict.BROKEN,
        ConditionVerdict.VACUOUS,
        ConditionVerdict.TOLD_APART,
    ]
    there = stating(ConditionKind.EXISTS, "top.txt", THERE)
    assert Verdicts(evidence, evidence.kept).on(there) == JudgedCondition(
        condition=there,
        verdict=ConditionVerdict.TOLD_APART,
        reason="leaving out a part of the work breaks it",
    )
    assert "the whole demonstration" in taught.labels


def test_a_typing_error_within_a_loop_names_no_program_that_the_lesson_needs(tmp_path: Path) -> None:
    loop = "for f in *.csv; do ecoh $f; sort $f > sorted-$f; done"
    taught = Taught(tmp_path, {"a.csv": "b\na\n"}, loop)
    evidence = taught.find()
    assert (evidence.reproduced, evidence.not_needed) == (True, ("ecoh",))


def test_an_order_that_the_input_had_already_is_no_proof(tmp_path: Path) -> None:
    rows = "".join(f"{n:02d} x\n" for n in range(12))
    taught = Taught(tmp_path, {"in.txt": rows}, "grep x in.txt > out.txt")
    evidence = taught.find(
        stating(ConditionKind.SORTED, "out.txt", "by=space:1 as=numbers order=ascending header=0")
    )
    assert ConditionKind.SORTED not in kinds(evidence, "out.txt")
    assert evidence.judged[0].verdict is ConditionVerdict.COINCIDENCE


def test_an_order_that_a_script_on_the_command_line_gives_is_told_apart_by_its_sort(tmp_path: Path) -> None:
    lesson = Taught(tmp_path, {"table.csv": TABLE}, "sh -c 'tail -n +2 table.csv | sort -t, -k2nr > top.csv'")
    lesson.find()
    assert any("sort" in one for one in lesson.proof(ConditionKind.SORTED, "top.csv").told_apart_in_words)


def test_an_order_that_only_the_shown_numbers_happened_to_give_is_no_proof(tmp_path: Path) -> None:
    """The totals fall as the names rise; the file is sorted by the names."""
    taught = Taught(
        tmp_path,
        {"march.csv": "customer,amount\nAda,10\nBob,5\nAda,7\nCyd,2\n"},
        "awk -F, 'NR>1{t[$1]+=$2} END{for(c in t) print c\",\"t[c]}' march.csv | sort > totals.csv",
    )
    orders = [one.argument for one in taught.find().conditions if one.kind is ConditionKind.SORTED]
    assert orders == ["sort=space keys=1-:text:ascending header=0"]


def test_of_columns_that_fall_together_the_one_that_was_sorted_by_is_stated(tmp_path: Path) -> None:
    rows = "".join(f"row {n * 5 % 12},{n * 5 % 12 + 1},{n * 5 % 12 * 3}\n" for n in range(12))
    taught = Taught(tmp_path, {"in.csv": rows}, "sort -t, -k3,3nr in.csv > out.csv")
    order = taught.proof(ConditionKind.SORTED, "out.csv") if taught.find() else None
    assert order is not None
    assert order.condition.argument == "sort=comma keys=3-3:numbers:descending header=0"


def test_that_a_file_was_emptied_is_proven_beside_its_copy(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"app.log": LOG}, "cp app.log app.log.1", ": > app.log")
    said = [one.statement for one in taught.find().conditions]
    assert "The file app.log.1 has the content that app.log had before" in said
    assert "The file app.log is empty" in said


def test_counts_of_files_are_in_no_order(tmp_path: Path) -> None:
    """By their names they are, until a name comes after the word “total”."""
    files = {f"{name}.txt": "one two\n" * n for n, name in enumerate("abcdef", start=5)}
    taught = Taught(tmp_path, files, "wc -w *.txt > counts.out")
    assert ConditionKind.SORTED not in kinds(taught.find(), "counts.out")


@pytest.mark.parametrize("before", ["1 part 3\n", "right"])
def test_the_result_of_an_earlier_try_does_not_hide_what_makes_it(tmp_path: Path, before: str) -> None:
    wanted = "grep -c ERROR log.txt > count.txt"
    right = f"{LOG.count('ERROR')}\n"
    taught = Taught(
        tmp_path,
        {"log.txt": LOG, "count.txt": right if before == "right" else before},
        "cat count.txt",
        wanted,
    )
    evidence = taught.find()
    assert (evidence.reproduced, taught.kept(), evidence.inputs) == (True, [wanted], ("log.txt",))
    assert taught.needed == {"log.txt"}
    assert ConditionKind.NOT_EMPTY in kinds(evidence, "count.txt")


def test_a_file_that_the_result_depends_on_stays_though_a_command_writes_it_first(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"notes.txt": "one\ntwo\n"}, "echo three >> notes.txt")
    evidence = taught.find()
    assert (evidence.reproduced, taught.kept(), taught.needed) == (
        True,
        ["echo three >> notes.txt"],
        None,
    )


def test_a_number_of_lines_that_the_shown_rows_had_by_chance_is_no_proof(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "grep -v 'row 5,' in.csv > out.csv")
    assert ConditionKind.LINE_COUNT not in kinds(taught.find(), "out.csv")


@pytest.mark.parametrize(
    "counting",
    [
        "find data -name '*.csv' | wc -l > n.txt",
        "for one in data/*.csv; do echo $one; done > n.txt",
        "ls ./data/ > n.txt",
        "(cd data && ls) > n.txt",
    ],
)
def test_a_folder_whose_files_count_by_their_names_is_a_folder_of_the_lesson(
    tmp_path: Path, counting: str
) -> None:
    files = {"data/a.csv": TABLE, "sorted/b.csv": TABLE, "notes.txt": "sorted data\n"}
    taught = Taught(tmp_path, files, counting, "grep -c sorted notes.txt >> n.txt")
    assert taught.find().folders == ("data",)


def test_files_made_for_each_row_are_stated_by_one_pattern(tmp_path: Path) -> None:
    taught = Taught(
        tmp_path,
        {"list.csv": TABLE},
        "mkdir letters",
        "tail -n +2 list.csv | while IFS=, read -r name amount; do\n"
        '  echo "Dear $name" > "letters/$amount $name.txt"\n'
        "done",
    )
    evidence = taught.find()
    assert {one.path for one in evidence.conditions} == {"letters/*.txt"}
    count = taught.proof(ConditionKind.FILE_COUNT, "letters/*.txt")
    assert count.condition.other == "list.csv"
    assert count.told_apart_by == (1, 2)
    assert count.holds_for == count.tried


def test_what_is_made_and_removed_again_goes_with_its_removal(tmp_path: Path) -> None:
    taught = Taught(
        tmp_path,
        {"in.csv": TABLE},
        "mkdir -p out; sort in.csv > out/wrong.txt",
        "rm out/wrong.txt",
        "mkdir -p out; sort -r in.csv > out/right.txt",
    )
    evidence = taught.find()
    assert taught.kept() == ["mkdir -p out; sort -r in.csv > out/right.txt"]
    assert len(evidence.left_out) == 2


WORDS = {"w.txt": "b\na\nc\na\n", "v.txt": "x\ny\n"}


@pytest.mark.parametrize(
    ("commands", "out"),
    [
        (
            [
                "sort w.txt > top.txt", "cat top.txt", "sort w.txt | uniq -c > counts.tsv", "rm top.txt",
                "mkdir -p reports", "mv counts.tsv reports/",
            ],
            [0, 1, 3],
        ),
        (["cp w.txt c", "gzip -k c", "rm *.gz", "gzip -9 c", "ls *.gz > index", "chmod 444 *.gz"], [1, 2]),
        (["mkdir d", "sort w.txt > d/a", "sort v.txt > d/b", "rm d/b", "mv d e"], [2, 3]),
        (["mkdir x", "cp w.txt v.txt x/", "rm -r x", "mkdir y", "cp w.txt y/", "mv y z"], [0, 1, 2]),
        (
            ["sort w.txt > o", "head -1 o", "rm o", "sort -r w.txt > o", "rm o", "sort -u w.txt > o", "mv o p"],
            [0, 1, 2, 3, 4],
        ),
        (["tar cf x.tar w.txt", "tar tf x.tar", "rm x.tar", "tar cf y.tar *.txt", "mkdir z", "mv y.tar z/"], [0, 1, 2]),
        (["split -l 1 w.txt p.", "ls p.* > index", "rm p.*", "sort w.txt > t", "cat t", "rm t"], [3, 4, 5]),
        # What removed something that was there before stays, without what it removed beside it.
        (["sort w.txt > out", "rm v.txt", "mkdir z", "mv out z/"], []),
        (["sort w.txt > a.txt", "rm [av].txt", "sort w.txt > r", "mkdir z", "mv r z/"], [0]),
        # What was read in between stays, with its removal.
        (["sort w.txt > top", "head -1 top > first", "rm top", "mkdir z", "mv first z/"], []),
        (["sort w.txt > a.tmp", "sort v.txt > b.tmp", "cat *.tmp > all", "rm *.tmp", "chmod 600 all"], []),
    ],
)  # fmt: skip
def test_an_attempt_that_was_removed_again_goes_whatever_was_done_before_and_after_it(
    tmp_path: Path, commands: list[str], out: list[int]
) -> None:
    taught = Taught(tmp_path, WORDS, *commands)
    evidence = taught.find()
    assert evidence.reproduced
    assert taught.kept() == [one for number, one in enumerate(commands) if number not in out]


HOURS = "name;team;hours\nLee;Q;3\nAda;R;5\nBob;Q;9\nCyd;R;1\n"
REPORT = "tail -n +2 hours.csv | sort -t';' -k2,2 -k3,3nr | awk -F';' '{print $2, $1, $3}' > report.txt"


@pytest.mark.parametrize(
    "undone",
    [
        ("sed -i 's/;/,/' hours.csv", "sed -i 's/,/;/' hours.csv"),
        ("tr ';' '|' < hours.csv > t", "mv t hours.csv", "sed -i 's/|/;/g' hours.csv"),
        ("mv hours.csv old.csv", "mv old.csv hours.csv"),
        ("chmod 600 hours.csv", "chmod 644 hours.csv"),
        ("export LC_ALL=C.UTF-8 TZ=Asia/Tokyo", "unset TZ"),
        ("mkdir neu", "rmdir neu"),
    ],
)
def test_what_is_changed_back_goes_with_what_it_undid(tmp_path: Path, undone: tuple[str, ...]) -> None:
    taught = Taught(tmp_path, {"hours.csv": HOURS}, *undone, REPORT)
    evidence = taught.find()
    assert evidence.reproduced
    assert taught.kept() == [REPORT]


def test_what_is_put_aside_in_git_and_taken_back_goes_together(tmp_path: Path) -> None:
    begun, work = "git init -q && git add . && git commit -qm start", "echo more >> notes.txt"
    files = {"notes.txt": "one\n", "hours.csv": HOURS}
    taught = Taught(tmp_path, files, begun, work, "git stash -q", "git stash pop -q", REPORT)
    taught.find()
    assert taught.kept() == [begun, work, REPORT]


@pytest.mark.parametrize(
    ("undone", "wanted"),
    [
        (("export TZ=Asia/Tokyo", "unset TZ"), "date -d @0 +%H > hour.txt"),
        (("alias sort='sort -r'", "unalias sort"), "sort hours.csv > sorted.txt"),
        (("set -o noclobber", "set +o noclobber"), "echo x > hours.csv"),
    ],
)
def test_what_is_set_in_the_shell_and_taken_back_goes_together(
    tmp_path: Path, undone: tuple[str, ...], wanted: str
) -> None:
    taught = Taught(tmp_path, {"hours.csv": HOURS}, *undone, wanted)
    taught.find()
    assert taught.kept() == [wanted]


def test_what_is_set_in_the_shell_and_used_stays(tmp_path: Path) -> None:
    commands = ("export TZ=Asia/Tokyo", "date -d @0 +%H > hour.txt")
    taught = Taught(tmp_path, {"hours.csv": HOURS}, commands[0], "true", "unset LANG", commands[1])
    taught.find()
    assert taught.kept() == list(commands)


def test_a_change_that_was_changed_back_before_the_right_one_goes_too(tmp_path: Path) -> None:
    swapped, wanted = "sed -i 'y/;,/,;/' hours.csv", "sed -i 's/Lee/Lea/' hours.csv"
    taught = Taught(tmp_path, {"hours.csv": HOURS}, swapped, swapped, wanted)
    evidence = taught.find()
    assert taught.kept() == [wanted]
    assert ["changed back" in one.reason for one in evidence.left_out] == [True, True]


def test_a_change_that_is_used_before_it_is_changed_back_stays(tmp_path: Path) -> None:
    commands = ("sed -i 's/;/,/' hours.csv", "cut -d, -f1 hours.csv > names.txt", "sed -i 's/,/;/' hours.csv")
    taught = Taught(tmp_path, {"hours.csv": HOURS}, *commands)
    taught.find()
    assert taught.kept() == list(commands)


def test_a_file_that_a_later_command_needs_stays_with_its_removal(tmp_path: Path) -> None:
    commands = ("sort in.csv > tmp.txt", "uniq tmp.txt > out.txt", "rm tmp.txt")
    taught = Taught(tmp_path, {"in.csv": TABLE}, *commands)
    taught.find()
    assert taught.kept() == list(commands)


def test_results_that_hold_the_time_are_compared_by_being_there(tmp_path: Path) -> None:
    taught = Taught(
        tmp_path,
        {"docs/a.txt": "a", "docs/b.txt": "b"},
        "ls docs",
        "tar czf docs-$(date +%F).tar.gz docs && date +%s.%N > made.txt",
    )
    evidence = taught.find()
    assert evidence.reproduced
    assert len(taught.kept()) == 1
    assert ConditionKind.MEMBERS_OF in kinds(evidence, "docs-*.tar.gz")
    assert kinds(evidence, "made.txt") == {ConditionKind.NOT_EMPTY}


def test_state_of_git_is_proved_and_commit_ids_are_not_compared(tmp_path: Path) -> None:
    taught = Taught(
        tmp_path,
        {"VERSION": "1\n"},
        "git init -q && git add . && git commit -qm start",
        "git log --oneline",
        "git tag -a v1 -m 'Release 1'",
    )
    evidence = taught.find()
    assert len(taught.kept()) == 2
    tag = taught.proof(ConditionKind.STATE, "git: tag v1")
    assert (tag.condition.argument, tag.told_apart_by) == ("annotated", (1, 2))
    assert not any("commit of" in one.path for one in evidence.conditions)


def test_an_empty_folder_that_the_demonstration_was_in_is_made_again(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, command("sort ../in.csv > out.txt", "empty"))
    assert taught.find().reproduced
    assert len(taught.kept()) == 1


def test_a_folder_that_a_command_makes_is_not_made_for_it(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "mkdir sub", command("sort ../in.csv > out.txt", "sub"))
    taught.find()
    assert len(taught.kept()) == 2


def test_a_kept_command_that_fails_here_alone_is_said(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "no-such-program in.csv > out.txt")
    evidence = taught.find()
    assert not evidence.reproduced
    assert "fails here (exit status 127)" in evidence.note


def test_a_command_that_failed_when_it_was_shown_counts_by_what_it_did(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, command("sort in.csv > out.txt; false", may_fail=True))
    assert taught.find().reproduced
    assert len(taught.kept()) == 1


def test_a_command_that_failed_and_changed_nothing_when_it_was_shown_does_not_count_by_what_it_does_here(
    tmp_path: Path,
) -> None:
    failed = command("sort in.csv > out.txt", may_fail=True), command("uniq out.txt > few.txt", may_fail=True)
    taught = Taught(tmp_path, {"in.csv": TABLE}, *failed, "tail -n +2 in.csv > rows.csv")
    taught.in_vain = frozenset(one.event_id for one in failed)
    evidence = taught.find()
    assert taught.kept() == ["tail -n +2 in.csv > rows.csv"]
    assert {one.path for one in evidence.conditions} == {"rows.csv"}
    assert ["failed when it was shown" in one.reason for one in evidence.left_out] == [True, True]

    taught.commands = failed
    evidence = taught.find()
    assert (evidence.reproduced, evidence.kept, evidence.proofs) == (False, (), ())
    assert "no command changes anything" in evidence.note


def test_a_command_that_failed_beside_its_earlier_result_did_not_make_it(tmp_path: Path) -> None:
    failed = command("cp in.csv out.csv", may_fail=True)
    taught = Taught(tmp_path, {"in.csv": TABLE, "out.csv": TABLE}, failed)
    taught.in_vain = frozenset({failed.event_id})
    assert taught.find().kept == ()


@pytest.mark.parametrize(
    ("failed", "next_one"),
    [
        ("mkdir sub", "sort in.csv > sub/out.txt"),
        ("chmod 600 in.csv missing.csv", "sort in.csv > out.txt"),
    ],
)
def test_a_command_that_failed_may_have_done_what_no_recording_sees(
    tmp_path: Path, failed: str, next_one: str
) -> None:
    first = command(failed, may_fail=True)
    taught = Taught(tmp_path, {"in.csv": TABLE}, first, next_one)
    taught.in_vain = frozenset({first.event_id})
    assert taught.find().reproduced
    assert taught.kept() == [failed, next_one]


def test_a_command_that_ends_the_shell_keeps_the_replay_from_being_evidence(tmp_path: Path) -> None:
    evidence = Taught(tmp_path, {"in.csv": TABLE}, "exec true", "sort in.csv > out.txt").find()
    assert not evidence.reproduced
    assert "“exec true” ended the shell" in evidence.note


def test_the_time_given_bounds_a_command_that_never_ends(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "sort in.csv > out.txt", "while :; do :; done")
    evidence = taught.find(seconds=6.0)
    assert not evidence.reproduced
    assert "did not end within the time allowed" in evidence.note


def test_when_the_time_is_up_commands_that_were_not_left_out_stay_and_prove_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, *(f"sort -r in.csv > out{n}.txt" for n in range(9)))
    hours = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + hours[0])
    monkeypatch.setattr("skills.rehearsal.replay.time", clock)

    def note(label: str) -> None:
        taught.labels.append(label)
        if label == "without command 3 of 9":
            hours[0] = 3600.0

    taught.note = note
    evidence = taught.find()
    assert evidence.reproduced
    assert taught.kept() == [one.command for one in taught.commands]
    begun = taught.labels[taught.labels.index("without command 3 of 9") + 1 :]
    assert len(begun) < EvidenceBounds().at_once
    proven = {
        path for n in range(9) if (path := f"out{n}.txt") in {p.condition.path for p in evidence.proofs}
    }
    assert {"out0.txt", "out1.txt"} <= proven
    assert proven <= {f"out{n}.txt" for n in range(4)}


def test_nothing_is_begun_after_it_was_cancelled_and_no_folder_is_left(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, *(f"sort in.csv > out{n}.txt" for n in range(9)))

    def note(label: str) -> None:
        taught.labels.append(label)
        if label.startswith("without command 2"):
            taught.cancelled.set()

    taught.note = note
    taught.find()
    begun = taught.labels[taught.labels.index("without command 2 of 9") + 1 :]
    assert len(begun) <= EvidenceBounds().at_once


def test_the_folder_of_a_killed_process_is_removed_by_the_next_replay(tmp_path: Path) -> None:
    (tmp_path / "jails/rehearsal-left/work").mkdir(parents=True)
    # That no folder is left is looked at by every test.
    assert Taught(tmp_path, {"in.csv": TABLE}, "sort in.csv > out.txt").find().reproduced


def test_a_command_that_runs_is_ended_by_cancelling(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "while :; do :; done")
    timer = threading.Timer(1.0, taught.cancelled.set)
    timer.start()
    evidence = taught.find()
    timer.join()
    assert (evidence.reproduced, evidence.note) == (False, "it was cancelled")


def test_of_the_lines_typed_at_a_prompt_those_stay_that_the_result_depends_on(tmp_path: Path) -> None:
    typed = "\n".join(
        [
            "python3 -i <<'END_OF_TYPED_LINES'",
            "rows = [line.split(',') for line in open('table.txt')]",
            "rows = [line.split(',') for line in open('table.csv')]",
            "rows[0]",
            "rows.no_such_thing",
            "print(max(int(row[1]) for row in rows[1:]), file=open('max.txt', 'w'))",
            "exit()",
            "END_OF_TYPED_LINES",
        ]
    )
    taught = Taught(tmp_path, {"table.csv": TABLE}, command(typed, may_fail=True))
    evidence = taught.find()
    assert evidence.reproduced
    (repeated,) = evidence.repeated_as
    assert repeated.ends_well
    assert repeated.command == "\n".join(
        [
            "python3 <<'END_OF_TYPED_LINES'",
            "rows = [line.split(',') for line in open('table.csv')]",
            "print(max(int(row[1]) for row in rows[1:]), file=open('max.txt', 'w'))",
            "END_OF_TYPED_LINES",
        ]
    )


def test_a_statement_typed_at_the_prompt_of_a_database_stays_though_the_numbers_of_rows_stay(
    tmp_path: Path,
) -> None:
    table = 'sqlite3 a.db "create table t (k, open); insert into t values (1, 1), (2, 1)"'
    typed = "\n".join(
        [
            "sqlite3 a.db <<'END_OF_TYPED_LINES'",
            "select count(*) from t;",
            "update t set open = 0 where k = 2;",
            "create index by_k on t (k);",
            ".quit",
            "END_OF_TYPED_LINES",
        ]
    )
    evidence = Taught(tmp_path, {}, table, command(typed, may_fail=True)).find()
    (repeated,) = evidence.repeated_as
    assert repeated.command.splitlines()[1:-1] == [
        "update t set open = 0 where k = 2;",
        "create index by_k on t (k);",
    ]


@pytest.mark.parametrize(
    "commands",
    [
        ("printf '\\374,2\\nb,1\\n' > latin.csv", "sed -i s/b/B/ latin.csv"),
        ("seq 300000 > long.txt", "sed -i s/7/8/ long.txt"),
        ("printf 'a\\0b' > picture", "printf 'c' >> picture"),
        ("sed -i s/one/two/ notes.txt", "tar -czf notes.tgz notes.txt", "rm notes.txt"),
        ("sed -i s/one/two/ notes.txt", "zip -q notes.zip notes.txt", "rm notes.txt"),
        ("sed -i s/one/two/ notes.txt", "gzip notes.txt"),
        ("sqlite3 a.db 'create table t (k); insert into t values (1)'", "sqlite3 a.db 'update t set k = 2'"),
    ],
)
def test_what_changes_only_what_a_file_that_is_no_text_holds_stays(
    tmp_path: Path, commands: tuple[str, ...]
) -> None:
    taught = Taught(tmp_path, {"notes.txt": "one\n"}, "ls", *commands)
    taught.find()
    assert taught.kept() == list(commands)


def test_the_time_in_an_archive_or_a_database_is_no_difference(tmp_path: Path) -> None:
    commands = (
        "touch notes.txt && tar -cf notes.tar notes.txt && zip -q notes.zip notes.txt && gzip -k notes.txt",
        "cp notes.tar try.tar",
        "rm try.tar",
    )
    taught = Taught(tmp_path, {"notes.txt": "one\n"}, "file notes.txt", *commands)
    taught.find()
    assert taught.kept() == [commands[0]]


def test_a_commit_that_was_amended_is_made_once_with_its_last_message(tmp_path: Path) -> None:
    begun = "git init -q && git add . && git commit -qm start"
    work = [
        "echo more > new.txt",
        "git add new.txt",
        "git commit -qm 'Ad more'",
        "git commit --amend -qm 'Add more'",
    ]
    taught = Taught(tmp_path, {"notes.txt": "one\n"}, begun, *work, "git branch -m main trunk")
    evidence = taught.find()
    assert taught.kept() == [begun, *work[:2], work[3], "git branch -m main trunk"]
    assert [one.command for one in evidence.repeated_as] == ["git commit -qm 'Add more'"]


def test_a_mistyped_name_that_was_changed_afterwards_is_given_right_at_once(tmp_path: Path) -> None:
    mistyped = 'for f in DSC_*.JPG; do mv "$f" "lisbonn_${f#DSC_}"; done'
    righted = 'for f in lisbonn_*; do mv "$f" "lisbon_${f#lisbonn_}"; done'
    listed = "ls lisbon_* > photos.txt"
    taught = Taught(tmp_path, {"DSC_1.JPG": "a", "DSC_2.JPG": "b"}, mistyped, righted, listed)
    evidence = taught.find()
    assert taught.kept() == [mistyped, listed]
    assert [one.command for one in evidence.repeated_as] == [
        'for f in DSC_*.JPG; do mv "$f" "lisbon_${f#DSC_}"; done'
    ]


def test_a_program_that_was_mended_before_it_worked_is_written_once(tmp_path: Path) -> None:
    written = (
        "cat > sum.py <<'EOF'\nprint(sum(map(int, open('n.txt'))), file=open('s.txt', 'w'), ende='')\nEOF"
    )
    mended, run = "sed -i 's/, ende=..//' sum.py", "python3 sum.py"
    failed = command(run, may_fail=True)
    taught = Taught(tmp_path, {"n.txt": "1\n2\n"}, written, failed, mended, run)
    evidence = taught.find()
    assert taught.kept() == [mended, run]
    (repeated,) = evidence.repeated_as
    assert repeated.command == (
        "cat > sum.py <<'END_OF_TEXT'\nprint(sum(map(int, open('n.txt'))), file=open('s.txt', 'w'))\nEND_OF_TEXT"
    )


def test_a_program_that_was_mended_after_it_was_made_executable_is_written_once(tmp_path: Path) -> None:
    wrote = "printf '#!/bin/sh\\nsort -k1 $1\\n' > sorted.sh"
    work = (wrote, "chmod +x sorted.sh", "sed -i s/-k1/-k2/ sorted.sh", "./sorted.sh in.csv > out.csv")
    taught = Taught(tmp_path, {"in.csv": "a 3\nb 2\nc 1\n"}, *work)
    evidence = taught.find()
    assert taught.kept() == [work[0], work[1], work[3]]
    assert "sort -k2" in evidence.repeated_as[0].command


def test_a_check_that_the_goal_asks_for_is_kept_where_it_fails_on_damaged_files(tmp_path: Path) -> None:
    lines = (
        "sort table.csv > sorted.csv",
        "sha256sum sorted.csv > sums",
        "python3 -c \"print(len(open('sums', 'rb').read()))\"",
        'python3 -c "import hashlib, sys;'
        " sys.exit(hashlib.sha256(open('sorted.csv', 'rb').read()).hexdigest() not in open('sums').read())\"",
    )
    taught = Taught(tmp_path, {"table.csv": TABLE}, *lines)
    taught.find()
    assert taught.kept() == [*lines[:2]]
    taught.asks_for_check = True
    taught.find()
    assert taught.kept() == [*lines[:2], lines[3]]
    proof = taught.proof(ConditionKind.CHECK_PASSES, "sorted.csv")
    assert proof.condition.argument == lines[3]
    assert proof.condition.statement == "The check of sorted.csv by python3 passes"
    assert proof.told_apart_in_words == ("with bytes of sorted.csv changed",)


def test_a_search_that_found_something_before_the_work_and_nothing_after_it_is_a_check(
    tmp_path: Path,
) -> None:
    search = "grep -l $'\\r' *.csv"
    files = {f"{name}.csv": TABLE.replace("\n", "\r\n") for name in ("one", "two")}
    taught = Taught(tmp_path, files, search, "sed -i 's/\\r$//' *.csv", command(search, may_fail=True))
    evidence = taught.find()
    assert taught.kept() == [one.command for one in taught.commands[1:]]
    assert [(one.command, one.ends_well) for one in evidence.repeated_as] == [(f"! {search}", True)]
    proof = taught.proof(ConditionKind.CHECK_PASSES, "*.csv")
    assert proof.condition.statement == "The search by grep finds nothing in *.csv"
    assert proof.holds_for == proof.tried > 0


def test_a_check_by_exit_status_is_kept_though_the_goal_asks_for_none(tmp_path: Path) -> None:
    lines = (
        "jq -s '.[0] * .[1]' base.json over.json > merged.json",
        "jq . merged.json",
        "jq -e '.port and .db.host' merged.json",
    )
    files = {"base.json": '{"port": 1, "db": {"host": "x"}}\n', "over.json": '{"port": 2}\n'}
    taught = Taught(tmp_path, files, *lines)
    taught.find()
    assert taught.kept() == [lines[0], lines[2]]
    proof = taught.proof(ConditionKind.CHECK_PASSES, "merged.json")
    assert proof.told_apart_in_words == ("without the work before it",)
    assert proof.condition.argument == lines[2]


def test_a_check_of_what_only_the_shown_rows_hold_is_none(tmp_path: Path) -> None:
    lines = ("sort in.csv > out.csv", "grep -q 'row 5,' out.csv")
    taught = Taught(tmp_path, {"in.csv": TABLE}, *lines)
    taught.find()
    assert taught.kept() == [lines[0]]


def test_a_report_of_what_is_wrong_may_be_empty(tmp_path: Path) -> None:
    files = {"docs/a.md": "(b.md)\n(gone.md)\n(c.md)\n", "docs/b.md": "(a.md)\n", "docs/c.md": "(b.md)\n"}
    report = (
        "for f in docs/*.md; do tr -d '()' < \"$f\" | while read -r t; do"
        ' [ -e "docs/$t" ] || echo "$f: $t"; done; done > broken.txt'
    )
    taught = Taught(tmp_path, files, report)
    assert kinds(taught.find(), "broken.txt") == {ConditionKind.EXISTS}


def test_a_selection_may_be_empty_and_is_sorted_all_the_same(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "awk -F, 'NR > 1 && $2 > 6' in.csv | sort > out.csv")
    found = kinds(taught.find(), "out.csv")
    assert ConditionKind.NOT_EMPTY not in found
    assert {ConditionKind.EXISTS, ConditionKind.SORTED} <= found


def test_what_is_made_of_all_rows_is_not_empty(tmp_path: Path) -> None:
    taught = Taught(tmp_path, {"in.csv": TABLE}, "sort -t, -k2,2n in.csv > out.csv")
    found = kinds(taught.find(), "out.csv")
    assert ConditionKind.NOT_EMPTY in found
    assert ConditionKind.EXISTS not in found


def test_the_files_that_suffice_are_those_that_the_kept_commands_use_unless_others_count_by_their_names(
    tmp_path: Path,
) -> None:
    files = {"table.csv": TABLE, "log.txt": LOG, "notes/a.txt": "a\n"}
    taught = Taught(tmp_path, files, "cat notes/a.txt", "sort table.csv > sorted.csv")
    taught.find()
    assert taught.needed == {"table.csv"}
    by_name = Taught(tmp_path / "names", files, "sort table.csv > sorted.csv", "ls *.txt > names.list")
    by_name.parent.mkdir()
    by_name.find()
    assert by_name.needed is None
