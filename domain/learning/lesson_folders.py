"""Lessons in several folders: where each lies below the lesson's root, and events and command lines as seen from there.

The root is the nearest folder that holds all of them, so that relative paths between them stay true. Events from before
a further folder was met are relative to the folder that the lesson began in, or to an earlier root.
"""

import posixpath
import re
import shlex
from collections.abc import Sequence

from contracts.base import clipped
from contracts.learning.observation import OUTSIDE_FOLDER, LessonFolder, ObservedActionEvent
from domain.learning.commands.shell_places import Quoting, ValuePlace, value_places

_LONGEST_PATH = 240
_HOME = "~/"
_ASSIGNS = re.compile(r"(?<![\w-])[A-Za-z_]\w*\+?=\Z")
_BELOW = re.compile(r"/[\w*?\[{]")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*=")
_CHANGES_FOLDER = re.compile(r"(?:\A|[\s;&|(])(?:cd|pushd)\s+(?:--\s+)?[\"']?\Z")


def below_root(paths: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The nearest folder that holds all of these absolute ones, and the path of each below it."""
    root = posixpath.commonpath(paths)
    return root, tuple(posixpath.relpath(path, root) for path in paths)


def placed(prefix: str, path: str) -> str:
    """``path``, relative to the folder ``prefix``, as seen from where the prefix is relative to."""
    return posixpath.normpath(posixpath.join(prefix, path))


def is_within(path: str, folder: str) -> bool:
    """Whether a normal relative path is the folder or lies in it."""
    return folder == "." or path == folder or path.startswith(f"{folder}/")


def outermost(folders: Sequence[LessonFolder]) -> tuple[LessonFolder, ...]:
    """The folders that lie in no other one."""
    return tuple(
        one
        for one in folders
        if not any(other.name != one.name and is_within(one.name, other.name) for other in folders)
    )


def lesson_folders(events: Sequence[ObservedActionEvent]) -> tuple[LessonFolder, ...]:
    """The folders of the lesson that these events show; none where it has one only."""
    return next((e.terminal.folders for e in reversed(events) if e.terminal and e.terminal.folders), ())


def re_rooted(events: Sequence[ObservedActionEvent]) -> tuple[ObservedActionEvent, ...]:
    """The events of one demonstration with all paths relative to the lesson's root; as they are in a single folder.

    A path in a command line that names one of the folders from the home folder or from the top is written relative
    to where the command runs, so that it means the copy wherever the root is.
    """
    folders = lesson_folders(events)
    return tuple(_from_root(event, folders) for event in events) if folders else tuple(events)


def _from_root(event: ObservedActionEvent, folders: Sequence[LessonFolder]) -> ObservedActionEvent:
    seen = event.terminal
    if seen is None:
        return event
    prefix = _prefix(seen.folders, folders)
    outside = seen.working_folder == OUTSIDE_FOLDER
    folder = OUTSIDE_FOLDER if outside else placed(prefix, seen.working_folder)
    command = seen.command if outside else from_within(seen.command, folder, folders)
    terminal = seen.changed(
        command=command,
        working_folder=folder,
        produced_files=tuple(
            file.changed(path=placed(prefix, file.path))
            for file in seen.produced_files
            if _fits(prefix, file.path)
        ),
        written=tuple(
            file.changed(path=placed(prefix, file.path)) for file in seen.written if _fits(prefix, file.path)
        ),
        folders=folders,
    )
    is_label = event.action_label == _label(seen.command)
    return event.changed(terminal=terminal, **({"action_label": _label(command)} if is_label else {}))


def _label(command: str) -> str:
    return clipped(" ".join(command.split("\n")), _LONGEST_PATH)


def _prefix(then: Sequence[LessonFolder], now: Sequence[LessonFolder]) -> str:
    """Where what an event's paths are relative to lies below the present root."""
    first = now[0].name
    if not then:
        return first
    return first.removesuffix(then[0].name).rstrip("/") or "."


def _fits(prefix: str, path: str) -> bool:
    return len(placed(prefix, path)) <= _LONGEST_PATH


def from_within(command: str, working_folder: str, folders: Sequence[LessonFolder]) -> str:
    """The command line with each path to one of the folders written relative to where it is used.

    What is put into a variable is used anywhere: it stays, from the home folder where it can be named so.
    """
    names = {place: one for one in folders for place in one.places}
    if not any(place in command for place in names):
        return command
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?:{listed})(?=/|\n|\Z)")
    found = tuple(place for place in value_places(command, pattern) if _is_path(place))
    here = {place.start: working_folder for place in found}
    for number, place in enumerate(found):
        if _CHANGES_FOLDER.search(command[: place.start]):
            there = placed(".", f"{names[place.value].name}{place.word.removeprefix(place.value)}")
            here |= {later.start: there for later in found[number + 1 :]}

    parts: list[str] = []
    end = 0
    for place in found:
        folder = names[place.value]
        if not _ASSIGNS.search(command[: place.start]):
            written = place.spelled(posixpath.relpath(folder.name, here[place.start]))
        else:
            written = _from_home(place, folder)
        parts += [command[end : place.start], written]
        end = place.end
        if written == "." and _BELOW.match(command, end):
            # A name below the folder itself is written as it is.
            parts[-1], end = "", end + 1
    return "".join((*parts, command[end:]))


def _from_home(place: ValuePlace, folder: LessonFolder) -> str:
    from_home = next((one for one in folder.places if one.startswith(_HOME)), None)
    if from_home is None or place.quoting is not Quoting.BARE:
        return place.spelled(place.value)
    return _HOME + shlex.quote(from_home.removeprefix(_HOME))


def _is_path(place: ValuePlace) -> bool:
    """Whether the shell takes the place for a path from its beginning: ``~`` only where it expands it."""
    if place.value.startswith(_HOME):
        return place.begins_word and place.quoting is Quoting.BARE
    if place.quoting not in (Quoting.BARE, Quoting.SINGLE, Quoting.DOUBLE):
        return False
    head = place.word[: place.word.find(place.value)]
    return place.begins_word or not head or _OPTION.fullmatch(head) is not None
