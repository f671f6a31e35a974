"""Starting state of a demonstration: what its folder held before the first command, and text that was written by hand.

Our addition to DOC3 §0C.22: a rehearsal needs the files that the task works on. Kept privately beside the
observations, under the same retention and deletion; never what holds a secret by its name or content.
"""

from enum import StrEnum

from pydantic import Field

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text400,
    UtcTime,
    Uuid,
    VersionedContract,
)

MAX_FILES = 5_000
"""The most files, folders and links of one starting state."""

MAX_FILE_BYTES = 1024 * 1024
"""The largest file whose content is kept, by default."""

MAX_HEAD_BYTES = 256 * 1024
"""What is kept of a file of rows that is larger than one file may be: its first lines, up to so many bytes."""

MAX_TOTAL_BYTES = 64 * 1024 * 1024
"""The most content that one starting state keeps, by default."""


MAX_DEPTH = 12
"""Folder levels below the demonstration's folder."""

MAX_STATES = 20
"""The most starting states of one session: one for each demonstration, or start of a recorder."""

STATE_NAME = "state.json"
CONTENTS_FOLDER = "contents/"
"""The members of an archive in which a recorder sends a state: the state first, then each content by its digest."""

ARCHIVE_TYPE = "application/gzip"


class InputLimits(Contract):
    """How much of a folder a starting state may keep."""

    max_files: int = Field(
        default=MAX_FILES, ge=0, le=MAX_FILES, description="Files, folders and links in the list."
    )
    max_file_bytes: int = Field(default=MAX_FILE_BYTES, ge=0, description="Of one file that is kept.")
    max_total_bytes: int = Field(default=MAX_TOTAL_BYTES, ge=0, description="Of all that is kept.")


class EntryKind(StrEnum):
    """What stands at a path."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


class StartingEntry(Contract):
    """One path of the folder as it was before the first command."""

    path: Text400 = Field(description="Relative to the demonstration's folder, with slashes.")
    kind: EntryKind
    size_bytes: int = Field(default=0, ge=0, description="Of what is kept, where only the beginning is.")
    whole_size_bytes: int | None = Field(
        default=None, ge=1, description="Of the whole file, where only its first lines are kept."
    )
    whole_sha256: Sha256 | None = Field(
        default=None,
        description="Of a file that is not kept, or of which only the first lines are; absent where there was no"
        " time, or where it may hold a secret.",
    )
    mode: int = Field(default=0o644, ge=0, le=0o7777)
    modified_at: UtcTime
    sha256: Sha256 | None = Field(
        default=None, description="Of a file's content; absent where it was not read."
    )
    link_target: Text400 | None = Field(default=None, description="Where a link points, as it is written.")
    kept: bool = Field(default=False, description="Whether the file's content is kept.")
    left_out: Text120 | None = Field(default=None, description="Why the content is not kept.")


class StartingState(VersionedContract):
    """A folder before the first command of a demonstration; the contents are kept apart, by their digests.

    Of a lesson with several folders the one that holds them all, with nothing else of it than they.
    """

    state_id: Uuid
    learn_session_id: Uuid
    folder_name: Text160 = Field(description="The folder's own name, without where it lies.")
    entries: tuple[StartingEntry, ...] = Field(default=(), max_length=MAX_FILES)
    replaces: tuple[Uuid, ...] = Field(
        default=(),
        max_length=MAX_STATES,
        description="Earlier states of the same demonstration, from before a further folder was one of the lesson's.",
    )
    partial: bool = Field(default=False, description="Whether a limit ended the list early.")
    locale: Text80 = "C.UTF-8"
    time_zone: Text80 = "UTC"
    taken_at: UtcTime


class StartingStateReceived(VersionedContract):
    """What became of a starting state that a recorder sent."""

    state_id: Uuid
    entries: int = Field(ge=0, description="Files, folders and links.")
    kept_files: int = Field(ge=0, description="Files whose content is kept.")
    kept_bytes: int = Field(ge=0)
    left_out: int = Field(ge=0, description="Files whose content is not kept; each entry says why.")


class StartingStateListResponse(VersionedContract):
    """The starting states of a session without their contents, oldest first."""

    starting_states: tuple[StartingState, ...]
    total: int = Field(ge=0)
    page: int = Field(ge=1)
    page_size: int = Field(ge=1, le=100)
