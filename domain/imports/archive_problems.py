"""Why an archive of skills is refused: one code for each kind of defect, and what the uploader can do about it.

The rules are those of trust in archives from strangers: nothing that two readers could understand differently, nothing
that names a place outside, nothing larger than what was announced and allowed (OWASP ASVS 5.0 V5).
"""

from enum import StrEnum

from contracts.base import clipped
from domain.platform.visible_text import visible


class ArchiveCode(StrEnum):
    """What is wrong with an archive."""

    # Structure
    NOT_A_ZIP = "ARCHIVE_NOT_A_ZIP"
    EMPTY = "ARCHIVE_EMPTY"
    TRUNCATED = "ARCHIVE_TRUNCATED"
    DATA_BEFORE = "ARCHIVE_DATA_BEFORE"
    DATA_AFTER = "ARCHIVE_DATA_AFTER"
    HIDDEN_DATA = "ARCHIVE_HIDDEN_DATA"
    OVERLAP = "ARCHIVE_OVERLAPPING_MEMBERS"
    POLYGLOT = "ARCHIVE_POLYGLOT"
    SPLIT = "ARCHIVE_SPLIT"
    ZIP64 = "ARCHIVE_ZIP64"
    COMMENT = "ARCHIVE_COMMENT"
    MALFORMED_EXTRA = "ARCHIVE_MALFORMED_EXTRA"
    COUNT_MISMATCH = "ARCHIVE_COUNT_MISMATCH"
    BROKEN_DIRECTORY = "ARCHIVE_BROKEN_DIRECTORY"
    BROKEN_MEMBER = "ARCHIVE_BROKEN_MEMBER"
    # What the two headers of a member say
    NAME_MISMATCH = "ARCHIVE_NAME_MISMATCH"
    SIZE_MISMATCH = "ARCHIVE_SIZE_MISMATCH"
    METHOD_MISMATCH = "ARCHIVE_METHOD_MISMATCH"
    FLAG_MISMATCH = "ARCHIVE_FLAG_MISMATCH"
    CRC_MISMATCH = "ARCHIVE_CRC_MISMATCH"
    DESCRIPTOR = "ARCHIVE_DATA_DESCRIPTOR"
    # What a member is
    ENCRYPTED = "ARCHIVE_ENCRYPTED"
    UNKNOWN_METHOD = "ARCHIVE_UNKNOWN_METHOD"
    UNKNOWN_FLAGS = "ARCHIVE_UNKNOWN_FLAGS"
    LINK = "ARCHIVE_LINK"
    SPECIAL_FILE = "ARCHIVE_SPECIAL_FILE"
    KIND_MISMATCH = "ARCHIVE_KIND_MISMATCH"
    FOLDER_WITH_DATA = "ARCHIVE_FOLDER_WITH_DATA"
    # Names
    TRAVERSAL = "ARCHIVE_PATH_TRAVERSAL"
    ABSOLUTE = "ARCHIVE_ABSOLUTE_PATH"
    DRIVE_LETTER = "ARCHIVE_DRIVE_LETTER"
    UNC_PATH = "ARCHIVE_UNC_PATH"
    BACKSLASH = "ARCHIVE_BACKSLASH"
    EMPTY_NAME = "ARCHIVE_EMPTY_NAME"
    UNUSUAL_PATH = "ARCHIVE_UNUSUAL_PATH"
    NUL_IN_NAME = "ARCHIVE_NUL_IN_NAME"
    CONTROL_CHARACTER = "ARCHIVE_CONTROL_CHARACTER"
    BIDI_CHARACTER = "ARCHIVE_BIDI_CHARACTER"
    UNSEEN_CHARACTER = "ARCHIVE_UNSEEN_CHARACTER"
    FORBIDDEN_CHARACTER = "ARCHIVE_FORBIDDEN_CHARACTER"
    RESERVED_NAME = "ARCHIVE_RESERVED_NAME"
    TRAILING_DOT_OR_SPACE = "ARCHIVE_TRAILING_DOT_OR_SPACE"
    NAME_TOO_LONG = "ARCHIVE_NAME_TOO_LONG"
    PATH_TOO_LONG = "ARCHIVE_PATH_TOO_LONG"
    TOO_DEEP = "ARCHIVE_TOO_DEEP"
    NAME_NOT_UTF8 = "ARCHIVE_NAME_NOT_UTF8"
    # Names together
    DUPLICATE = "ARCHIVE_DUPLICATE_NAME"
    CASE_COLLISION = "ARCHIVE_CASE_COLLISION"
    UNICODE_COLLISION = "ARCHIVE_UNICODE_COLLISION"
    LOOKALIKE = "ARCHIVE_LOOKALIKE_NAMES"
    FILE_AS_FOLDER = "ARCHIVE_FILE_AS_FOLDER"
    # Sizes
    ARCHIVE_TOO_LARGE = "ARCHIVE_TOO_LARGE"
    TOO_MANY_FILES = "ARCHIVE_TOO_MANY_FILES"
    DIRECTORY_TOO_LARGE = "ARCHIVE_DIRECTORY_TOO_LARGE"
    FILE_TOO_LARGE = "ARCHIVE_FILE_TOO_LARGE"
    TOTAL_TOO_LARGE = "ARCHIVE_TOTAL_TOO_LARGE"
    RATIO = "ARCHIVE_COMPRESSION_RATIO"
    NESTED_TOO_DEEP = "ARCHIVE_NESTED_TOO_DEEP"


class ArchiveRefused(Exception):
    """The archive is not taken; nothing of it is left behind.

    ``message`` says what is wrong and what to do, ``path_hint`` which member, with unseen characters spelled out.
    """

    def __init__(self, code: ArchiveCode, message: str, path_hint: str | None = None) -> None:
        super().__init__(code, message, path_hint)
        self.code = code
        self.message = clipped(message, 1000)
        self.path_hint = clipped(visible(path_hint), 240) if path_hint is not None else None

    def __str__(self) -> str:
        place = f" ({self.path_hint})" if self.path_hint else ""
        return f"{self.code}: {self.message}{place}"
