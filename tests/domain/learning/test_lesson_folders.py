"""Lessons in several folders: paths and command lines as seen from the folder that holds all of them."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import ValidationError

from contracts.learning.observation import (
    OUTSIDE_FOLDER,
    ExitClass,
    LessonFolder,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from domain.learning.lesson_folders import below_root, from_within, re_rooted
from domain.learning.proof.trial import ability_folders

PHOTOS = LessonFolder(name="photos", places=("~/photos", "/home/u/photos"))
SITE = LessonFolder(name="site", places=("~/site", "/home/u/site", "~/current"))


def command(line: str, folder: str, made: str, folders: tuple[LessonFolder, ...] = ()) -> ObservedActionEvent:
    return ObservedActionEvent(
        event_id=str(uuid4()),
        learn_session_id=str(uuid4()),
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        action_label=line,
        terminal=TerminalObservation(
            command=line,
            exit_class=ExitClass.OK,
            working_folder=folder,
            produced_files=(ProducedFile(path=made, change="created", size_bytes=1),),
            folders=folders,
        ),
        created_at=datetime(2026, 11, 20, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cp out/*.jpg ~/site/img", "cp out/*.jpg ../site/img"),
        ("cp out/*.jpg ~/current/img", "cp out/*.jpg ../site/img"),
        ('cp a "/home/u/site/my img"', 'cp a "../site/my img"'),
        ("sort --output=/home/u/site/b a > ~/site/log", "sort --output=../site/b a > ../site/log"),
        ("cat ~/photos/a.txt", "cat a.txt"),
        ("ls ~/photos/ ~/photos", "ls ./ ."),
        ("cd ~/site && cp ~/photos/a . && cat ~/site/b", "cd ../site && cp ../photos/a . && cat b"),
        # A variable is used in other folders too.
        ("SITE=/home/u/site; cp a $SITE", "SITE=~/site; cp a $SITE"),
        ("export SITE=~/site", "export SITE=~/site"),
        # What only looks like one of them.
        ("ls '~/site' ~/sites /home/u/site-old /x/home/u/site", None),
        ("cat > x <<'END'\ncd /home/u/site\nEND", None),
    ],
)
def test_a_path_to_a_folder_of_the_lesson_is_written_from_where_it_is_used(
    typed: str, meant: str | None
) -> None:
    assert from_within(typed, "photos", (PHOTOS, SITE)) == (meant or typed)


def test_a_path_from_deeper_in_a_folder_leads_up_first() -> None:
    assert from_within("cp ~/site/a .", "photos/raw/old", (PHOTOS, SITE)) == "cp ../../../site/a ."


def test_events_from_before_a_further_folder_was_met_are_seen_from_the_same_root() -> None:
    higher = (
        LessonFolder(name="desk/photos", places=("~/desk/photos",)),
        LessonFolder(name="desk/site", places=("~/desk/site",)),
        LessonFolder(name="docs", places=("~/docs",)),
    )
    lower = tuple(
        one.changed(name=one.name.removeprefix("desk/")) for one in higher if one.name.startswith("desk/")
    )
    events = re_rooted(
        (
            command("cp a ~/desk/site/b", ".", "a"),
            command("touch b", "site", "site/b", lower),
            command("touch d", OUTSIDE_FOLDER, "photos/x", lower),
            command("touch c", "docs/x", "docs/x/c", higher),
        )
    )
    seen = [event.terminal for event in events if event.terminal]
    assert [one.working_folder for one in seen] == ["desk/photos", "desk/site", OUTSIDE_FOLDER, "docs/x"]
    assert [one.produced_files[0].path for one in seen] == [
        "desk/photos/a",
        "desk/site/b",
        "desk/photos/x",
        "docs/x/c",
    ]
    assert seen[0].command == events[0].action_label == "cp a ../site/b"
    assert re_rooted(events) == events


def test_a_lesson_in_one_folder_stays_as_it_was_recorded() -> None:
    events = (command("cp a ~/site/b", ".", "a"), command("touch b", "sub", "sub/b"))
    assert re_rooted(events) == events


def test_the_root_is_the_nearest_folder_that_holds_all_of_them() -> None:
    assert below_root(["/home/u/photos", "/home/u/w/site"]) == ("/home/u", ("photos", "w/site"))
    assert below_root(["/home/u/books/2024", "/home/u/books"]) == ("/home/u/books", ("2024", "."))


@pytest.mark.parametrize("name", ["..", "a/../b", "/a", "a//b", "", "./a"])
def test_a_folder_lies_below_the_root(name: str) -> None:
    with pytest.raises(ValidationError):
        LessonFolder(name=name, places=("~/a",))


def test_a_trial_needs_the_folders_that_the_lesson_did_not_make_or_find_in_another() -> None:
    made = LessonFolder(name="backup", places=("~/backup",), made=True)
    inside = LessonFolder(name="site/img", places=("~/site/img",))
    elsewhere = LessonFolder(name="srv/www", places=("/srv/www",))
    found = ability_folders((PHOTOS, inside, SITE, made, elsewhere))
    assert [(one.name, one.path, one.shown) for one in found] == [
        ("photos", "photos", "~/photos"),
        ("site", "site", "~/site"),
        ("www", "srv/www", "www"),
    ]
    two = ability_folders(
        (LessonFolder(name="a/x", places=("~/a/x",)), LessonFolder(name="b/x", places=("~/b/x",)))
    )
    assert [one.name for one in two] == ["a/x", "b/x"]
