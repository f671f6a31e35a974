"""Checkpoints, description and triggers name files so that it is true on another day, and say what was proven."""

from typing import Any

from contracts.learning.observation import ObservedActionEvent
from domain.learning.checkpoints.checkpoint_lint import lint
from domain.learning.interpretation.inference import operations_in
from domain.learning.interpretation.interpretation import interpret
from domain.learning.interpretation.lasting_names import LastingNames, ProvenFiles
from domain.learning.interpretation.steps import captured_steps

ARCHIVED = "The file backup/all-*.tar.gz is a readable archive that holds every file of data"


def states(teach: Any, *events: ObservedActionEvent, proven: ProvenFiles | None = None) -> list[str]:
    found = interpret(teach.source(list(events), proven_files=proven))
    return [one.success_condition for one in found.checkpoints]


def test_a_date_that_a_command_makes_stands_in_no_text(teach: Any) -> None:
    name = "backup/all-2026-11-27.tar.gz"
    archived = teach.command(1, "tar -czf backup/all-$(date +%F).tar.gz data", f"+{name}")
    learned = teach.learn([archived], [teach.mark("mark_goal", 0.5, "Archive the data")])
    assert lint(learned.interpretation, learned.draft).findings == ()
    skill = learned.file("SKILL.md").split("## Inputs")
    assert "2026-11-27" not in skill[0] + learned.draft.description + " ".join(learned.draft.trigger_phrases)
    (checkpoint,) = learned.interpretation.checkpoints
    assert "backup/all-*.tar.gz" in checkpoint.success_condition


def test_a_date_that_was_typed_stays(teach: Any) -> None:
    assert states(teach, teach.command(1, "cp a b-2026-11-27.txt; date", "+b-2026-11-27.txt")) == [
        "The file b-2026-11-27.txt exists and has the same content as a"
    ]


def test_a_checkpoint_says_what_was_proven_of_the_files_of_a_pattern(teach: Any) -> None:
    renamed = teach.command(
        1, 'for f in *.JPG; do mv "$f" "$(stamp "$f").jpg"; done', "+07.jpg", "+09.jpg", "-A.JPG", "-B.JPG"
    )
    said = "Every file *.jpg has the content that one of the files *.JPG had before, and none of them is lost"
    assert states(teach, renamed, proven=ProvenFiles({"*.jpg": said})) == [said]


def test_files_that_were_there_before_are_said_to_have_been_changed(teach: Any) -> None:
    edited = teach.command(1, "sed -i s/a/b/ *.csv", "~one.csv", "~two.csv")
    assert states(teach, edited) == ["The files one.csv and two.csv have been changed"]
    said = "No file *.csv holds “a”"
    assert states(teach, edited, proven=ProvenFiles({"*.csv": said})) == [said]


def test_a_file_that_ended_as_it_began_is_no_checkpoint(teach: Any) -> None:
    """It only changed while an older state of the repository was looked at."""
    looked = teach.command(1, "git checkout -q HEAD~3", "~count.txt")
    made = teach.command(2, "git bisect log > found.txt", "+found.txt")
    proven = ProvenFiles(
        {"found.txt": "The file found.txt has been made and is not empty"}, replayed=[looked.event_id]
    )
    assert states(teach, looked, made, proven=proven) == ["The file found.txt has been made and is not empty"]


def test_a_change_that_no_replay_could_carry_out_stays_a_checkpoint(teach: Any) -> None:
    by_hand = teach.command(1, "frob --edit settings.ini", "~settings.ini")
    made = teach.command(2, "sort a > b", "+b")
    proven = ProvenFiles({"b": "The lines of b are sorted"}, replayed=[made.event_id])
    assert states(teach, by_hand, made, proven=proven) == [
        "The file settings.ini has been changed",
        "The lines of b are sorted",
    ]


def test_after_a_replay_a_checkpoint_claims_nothing_that_was_not_proven(teach: Any) -> None:
    made = teach.command(1, "sort a > b", "+b")
    assert states(teach, made, proven=ProvenFiles()) == ["The file b exists"]
    assert states(teach, made) == ["The file b exists and is in sorted order"]


def test_what_was_removed_is_named_by_its_pattern(teach: Any) -> None:
    removed = teach.command(1, "rm *.tmp", "-a.tmp", "-b.tmp")
    said = "No file *.tmp is left"
    assert states(teach, removed, proven=ProvenFiles(gone={"*.tmp": said})) == [said]


def test_a_check_is_a_checkpoint_of_its_own_and_says_nothing_of_what_the_task_is(teach: Any) -> None:
    edited = teach.command(1, "dos2unix *.csv", "~one.csv", "~two.csv")
    check = teach.command(2, "! grep -l x *.csv")
    passed = "The search by grep finds nothing in *.csv"
    changed = "At least one file *.csv has been changed, and none is empty"
    proven = ProvenFiles({"*.csv": changed}, checks={"! grep -l x *.csv": passed})
    steps = captured_steps([edited, check], (), [edited.event_id, check.event_id])
    found = interpret(teach.source([edited, check], steps=steps, proven_files=proven))
    assert [one.success_condition for one in found.checkpoints] == [changed, passed]
    assert [one.key for one in operations_in(steps)] == ["convert"]


def test_files_in_several_folders_are_named_by_their_folders(teach: Any) -> None:
    """A person asks for what is in the letters and the reports, not for files of one extension."""
    edited = teach.command(1, "sed -i s/a/b/ */*.md", "~letters/a.md", "~letters/b.md", "~reports/c.md")
    said = "No file **/*.md holds “a”"
    found = interpret(teach.source([edited], proven_files=ProvenFiles({"**/*.md": said})))
    assert [one.success_condition for one in found.checkpoints] == [said]
    names = LastingNames(captured_steps([edited], ()), ProvenFiles({"**/*.md": said}))
    assert names.spoken_of(["letters/a.md", "letters/b.md", "top.md"]) == ["the files in letters"]
    assert not any("missing" in one for one in found.use_conditions), "what was there before is an input"
    copied = teach.command(
        1, "for f in */*.md; do cp $f ${f%md}txt; done", "+letters/a.txt", "+letters/b.txt", "+reports/c.txt"
    )
    made = interpret(
        teach.source([copied], proven_files=ProvenFiles({"**/*.txt": "Files **/*.txt have been made"}))
    )
    assert (
        made.use_conditions[-1] == "One of the files letters/*.txt or reports/*.txt is missing or out of date"
    )
