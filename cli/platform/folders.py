"""Folders that commands hand in and take out, as archives of the same limits as the service's."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from cli.platform.invocation import NothingToDo
from cli.platform.output import ExitCode, fail
from contracts.learning.trials import (
    MAX_FOLDER_BYTES,
    MAX_FOLDER_FILES,
    MAX_RESULT_BYTES,
    MAX_RESULT_FILES,
)
from host.folder_archive import (
    ArchiveLimits,
    FolderTooLarge,
    Unpacked,
    UnsafeArchive,
    links_of,
    pack_folders,
    unpack_folder,
)

_FOLDER_LIMITS = ArchiveLimits(MAX_FOLDER_FILES, MAX_FOLDER_BYTES)
_RESULT_LIMITS = ArchiveLimits(MAX_RESULT_FILES, MAX_RESULT_BYTES)


def refuse_unfit(out: Path, folders: Iterable[Path] = ()) -> None:
    """Ends the command, before anything is sent, where a result cannot be put into ``out``.

    It has to be a new or an empty folder that may be written to, in none of ``folders``: those are handed in as a
    copy and stay as they are.
    """
    try:
        problem = _problem_of(out, folders)
    except OSError as error:
        problem = f"cannot be used: {error.strerror}"
    if problem is not None:
        raise NothingToDo(f"{out} {problem}. Name a new or an empty folder with --out.")


def _problem_of(out: Path, folders: Iterable[Path]) -> str | None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return "is no folder"
    for folder in folders:
        if out.resolve().is_relative_to(folder.resolve()):
            return f"is in {folder}, which stays as it is"
    if out.is_dir() and any(out.iterdir()):
        return "is not empty"
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not there.is_dir():
        return f"cannot be made: {there} is no folder"
    if not os.access(there, os.W_OK | os.X_OK):
        return "cannot be written to" if there == out else f"cannot be made: {there} cannot be written to"
    return None


def packed(folders: Mapping[str, Path]) -> bytes:
    """The archive of folders that are handed in, by where each lies in it; ends the command where it cannot be made."""
    try:
        return pack_folders(folders, _FOLDER_LIMITS)
    except (FolderTooLarge, UnsafeArchive) as error:
        named = " and ".join(map(str, folders.values()))
        raise NothingToDo(f"{named} cannot be handed in: {error}. Try it on a smaller copy.") from None
    except OSError as error:
        raise NothingToDo(f"{error.filename} cannot be read: {error.strerror}.") from None


def unpacked(archive: bytes, folders: Mapping[str, Path], out: Path) -> Unpacked:
    """Puts a result into ``out``; ``folders`` are what was handed in for it, if that is known."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        # A link that leads out of the result is kept only where the folder itself has the very same.
        links = links_of(folders) if folders else False
        return unpack_folder(archive, out, _RESULT_LIMITS, links_out=links)
    except (FolderTooLarge, UnsafeArchive) as error:
        fail(f"The result cannot be unpacked: {error}.", ExitCode.FAILURE)
    except OSError as error:
        fail(f"The result cannot be written to {out}: {error.strerror}.", ExitCode.FAILURE)
