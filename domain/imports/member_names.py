"""Names of the members of an archive: how their bytes are read, which are refused, and which stand for the same file.

A name is refused when some file system or reader would take it for another place or another file than a person sees:
Windows, macOS and Linux alike, since a skill is carried between them.
"""

import re
import unicodedata
from dataclasses import dataclass

from domain.imports.archive_problems import ArchiveCode, ArchiveRefused
from domain.platform.visible_text import visible

MOST_NAME_BYTES, MOST_PATH_CHARACTERS = 255, 240
"""The longest name of a file or folder in UTF-8, and the longest path in an archive."""

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_DRIVE = re.compile(r"[A-Za-z]:")
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\..*)?", re.I
)

# Letters of Cyrillic and Greek that are drawn like a Latin one: names that differ in these alone look equal.
_LOOKALIKES = str.maketrans(
    "\u0430\u0432\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043a\u043c\u043d"
    "\u043e\u0440\u051b\u0455\u0442\u0443\u0445\u0475\u051d\u03b1\u03b2"
    "\u03b3\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abcdehijlkmhopqstyxvwabyeikvoptux",
)


@dataclass(frozen=True)
class MemberName:
    """The path of a member in NFC, whether it is a folder, and whether its encoding had to be guessed."""

    path: str
    folder: bool
    guessed: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The names from the top to the member itself."""
        return tuple(self.path.split("/"))


def member_name(raw: bytes, *, utf8: bool, unicode_path: bytes | None, most_depth: int) -> MemberName:
    """The checked name of a member. ``unicode_path`` is that of Info-ZIP's extra field, where there is one.

    A name without the UTF-8 flag is read as UTF-8 where it is valid UTF-8 (macOS leaves the flag out), else as code
    page 437, which is what the format says; either is a guess, and said so.

    Raises:
        ArchiveRefused: with the code of the first rule that it breaks.
    """
    text, guessed = _decoded(raw, utf8, unicode_path)
    _check_characters(text)
    _check_start(text)
    path = unicodedata.normalize("NFC", text.removeprefix("./").removesuffix("/"))
    if path in ("", "."):
        raise _refused(ArchiveCode.EMPTY_NAME, "a member has no name", text)
    _check_path(path, text, most_depth)
    return MemberName(path, text.endswith("/"), guessed)


def _check_start(text: str) -> None:
    if text.startswith(("//", "\\\\")):
        raise _refused(ArchiveCode.UNC_PATH, "a name starts like a network path", text)
    if _DRIVE.match(text):
        raise _refused(ArchiveCode.DRIVE_LETTER, "a name starts with a drive letter", text)
    if "\\" in text:
        raise _refused(ArchiveCode.BACKSLASH, "a name has a backslash; folders are separated by /", text)
    if text.startswith("/"):
        raise _refused(ArchiveCode.ABSOLUTE, "a name starts at the root of the disk", text)


def _check_path(path: str, text: str, most_depth: int) -> None:
    parts = path.split("/")
    if ".." in parts:
        raise _refused(ArchiveCode.TRAVERSAL, "a name leads out of the archive by ..", text)
    if "" in parts or "." in parts:
        raise _refused(ArchiveCode.UNUSUAL_PATH, "a path has an empty name or a . in it", text)
    if len(parts) > most_depth:
        raise _refused(ArchiveCode.TOO_DEEP, f"a path is deeper than {most_depth} folders", text)
    for part in parts:
        _check_part(part, text)
    if len(path) > MOST_PATH_CHARACTERS:
        raise _refused(
            ArchiveCode.PATH_TOO_LONG, f"a path is longer than {MOST_PATH_CHARACTERS} characters", text
        )


def _decoded(raw: bytes, utf8: bool, unicode_path: bytes | None) -> tuple[str, bool]:
    if not raw:
        raise ArchiveRefused(ArchiveCode.EMPTY_NAME, "a member has no name; write the archive anew")
    try:
        if unicode_path is not None:
            text = unicode_path.decode()
            if utf8 and unicode_path != raw:
                raise _refused(ArchiveCode.NAME_MISMATCH, "a member has two different names", text)
            return text, False
        text = raw.decode()
        return text, not utf8 and not raw.isascii()
    except UnicodeDecodeError as error:
        if utf8 or unicode_path is not None:
            raise _refused(
                ArchiveCode.NAME_NOT_UTF8,
                "a name says that it is UTF-8, and is not",
                raw.decode("utf-8", errors="replace"),
            ) from error
    return raw.decode("cp437"), True


def _check_characters(text: str) -> None:
    if "\0" in text:
        raise _refused(ArchiveCode.NUL_IN_NAME, "a name has a NUL in it", text)
    if _BIDI.search(text):
        raise _refused(ArchiveCode.BIDI_CHARACTER, "a name changes the direction of its letters", text)
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in text):
        raise _refused(ArchiveCode.CONTROL_CHARACTER, "a name has a control character", text)
    other_spaces = any(unicodedata.category(one) == "Zs" and one != " " for one in text)
    if other_spaces or visible(text) != text:
        raise _refused(
            ArchiveCode.UNSEEN_CHARACTER,
            "a name has a character that is not seen, or looks like a space",
            text,
        )


def _check_part(part: str, whole: str) -> None:
    if len(part.encode()) > MOST_NAME_BYTES:
        raise _refused(
            ArchiveCode.NAME_TOO_LONG, f"a name is longer than {MOST_NAME_BYTES} bytes of UTF-8", whole
        )
    if _FORBIDDEN.search(part):
        raise _refused(
            ArchiveCode.FORBIDDEN_CHARACTER, 'a name has one of < > : " | ? *, which Windows refuses', whole
        )
    if part != part.rstrip(". ") or part != part.lstrip(" "):
        raise _refused(
            ArchiveCode.TRAILING_DOT_OR_SPACE,
            "a name ends with a dot or a space, or starts with a space; Windows drops them",
            whole,
        )
    if _RESERVED.fullmatch(part):
        raise _refused(ArchiveCode.RESERVED_NAME, "a name is that of a device of Windows", whole)


def _refused(code: ArchiveCode, what: str, name: str) -> ArchiveRefused:
    return ArchiveRefused(code, f"{what}; rename the file and pack the skill again", name)


class NameTable:
    """The names taken so far, folders that only occur in paths included; refuses what stands for one of them.

    Two names are the same where they differ in capitals, in the form of Unicode, or in letters that look alike.
    """

    def __init__(self) -> None:
        self._taken: dict[str, tuple[str, bool]] = {}

    def take(self, name: MemberName) -> None:
        """Notes a member.

        Raises:
            ArchiveRefused: another member has the name already, or one that looks or behaves like it.
        """
        parts = name.parts
        for count in range(1, len(parts)):
            self._take("/".join(parts[:count]), folder=True, again=True)
        self._take(name.path, folder=name.folder, again=False)

    def _take(self, path: str, *, folder: bool, again: bool) -> None:
        key = _key(path)
        met = self._taken.get(key)
        if met is None:
            # A folder may be named after its files; so may one that a path alone has named.
            self._taken[key] = (path, folder)
            return
        other, other_folder = met
        if other != path:
            raise ArchiveRefused(_kind_of(other, path), _BOTH.format(visible(other)), path)
        if folder != other_folder:
            raise ArchiveRefused(
                ArchiveCode.FILE_AS_FOLDER, "a member is a file and a folder; pack the skill again", path
            )
        if not again and not folder:
            raise ArchiveRefused(
                ArchiveCode.DUPLICATE, "a file is in the archive twice; pack the skill again", path
            )


_BOTH = "the archive has {!r} too, which looks or behaves the same; rename one of them"


def _key(path: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
    return folded.translate(_LOOKALIKES)


def _kind_of(one: str, other: str) -> ArchiveCode:
    if one.lower() == other.lower():
        return ArchiveCode.CASE_COLLISION
    compatible = [unicodedata.normalize("NFKC", text).casefold() for text in (one, other)]
    same = compatible[0] == compatible[1]
    return ArchiveCode.UNICODE_COLLISION if same else ArchiveCode.LOOKALIKE
