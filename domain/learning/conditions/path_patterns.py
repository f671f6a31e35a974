"""Path patterns (globs): files that belong together under one pattern such as ``photos/*/IMG_*.jpg``.

``*`` stands for any characters of one name, never for a slash; ``**/`` for any folders, or none. A path without stars
is no pattern.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

FEWEST_MEMBERS = 2
"""Files of one kind from which on they are taken together."""

_STARS = re.compile(r"\*\*/|\*")
_WORD = re.compile(r"[^\W\d_]|\d")


@dataclass(frozen=True)
class Family:
    """Files that are named alike, and the pattern that names them all."""

    pattern: str
    members: tuple[str, ...]


def is_pattern(path: str) -> bool:
    """Whether the path stands for several files."""
    return "*" in path


def captured(pattern: str, path: str) -> tuple[str, ...] | None:
    """What the stars of the pattern stand for in the path; ``None`` where it does not match."""
    found = _compiled(pattern).fullmatch(path)
    return found.groups() if found else None


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that the pattern names, sorted."""
    return sorted(path for path in paths if captured(pattern, path) is not None)


def filled(pattern: str, captures: Sequence[str]) -> str | None:
    """The pattern with its stars replaced in order; ``None`` where their numbers differ."""
    parts = _STARS.split(pattern)
    if len(parts) != len(captures) + 1:
        return None
    return "".join(part + capture for part, capture in zip(parts, (*captures, ""), strict=True))


def families(paths: Collection[str]) -> tuple[Family, ...]:
    """Paths of one extension and depth, at least two each: first those in one top folder, then of any.

    What is left in one folder, whatever its extension, goes together as well; not in the outermost one, where ``*``
    would be everything.
    """
    found: list[Family] = []
    left = list(paths)
    for key in (_near, _far, _beside):
        groups: dict[tuple[object, ...], list[str]] = {}
        for path in left:
            groups.setdefault(key(path), []).append(path)
        for members in groups.values():
            if len(members) >= FEWEST_MEMBERS and (key is not _beside or "/" in members[0]):
                found.append(Family(pattern_of(members), tuple(sorted(members))))
                left = [path for path in left if path not in members]
    return tuple(sorted(found, key=lambda family: family.pattern))


def families_at_any_depth(paths: Collection[str]) -> tuple[Family, ...]:
    """Paths of the same extension, at least two each, wherever they lie."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(posixpath.splitext(path)[1], []).append(path)
    found: list[Family] = []
    for extension, members in groups.items():
        if len(members) < FEWEST_MEMBERS or not extension:
            found += families(members)
        elif len({path.count("/") for path in members}) == 1:
            found.append(Family(pattern_of(members), tuple(sorted(members))))
        else:
            root = posixpath.commonpath([posixpath.dirname(path) for path in members])
            pattern = f"{root}/**/*{extension}" if root else f"**/*{extension}"
            found.append(Family(pattern, tuple(sorted(members))))
    return tuple(sorted(found, key=lambda family: family.pattern))


def is_named(path: str, commands: str) -> bool:
    """Whether the text of commands names the path as it is."""
    return re.search(rf"(?<![\w*]){re.escape(path)}(?!\w)", commands) is not None


def pattern_of(paths: Sequence[str]) -> str:
    """The narrowest pattern of whole words that names all the paths, which have the same depth."""
    split = [path.split("/") for path in paths]
    return "/".join(
        _name_of([parts[n] for parts in split], n == len(split[0]) - 1) for n in range(len(split[0]))
    )


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    texts = [re.escape(text) for text in _STARS.split(pattern)]
    stars = ["((?:[^/]+/)*)" if star == "**/" else "([^/]*)" for star in _STARS.findall(pattern)]
    return re.compile("".join(text + star for text, star in zip(texts, (*stars, ""), strict=True)))


def _near(path: str) -> tuple[object, ...]:
    return (*_far(path), path.split("/")[0] if "/" in path else "")


def _far(path: str) -> tuple[object, ...]:
    return posixpath.splitext(path)[1], path.count("/")


def _beside(path: str) -> tuple[object, ...]:
    return (posixpath.dirname(path),)


def _name_of(names: Sequence[str], is_last: bool) -> str:
    first = names[0]
    if all(name == first for name in names):
        return first
    extension = posixpath.splitext(first)[1] if is_last else ""
    if not all(name.endswith(extension) for name in names):
        extension = ""
    stems = [name.removesuffix(extension) for name in names]
    begin = _whole_words(stems)
    rest = [stem[len(begin) :] for stem in stems]
    end = _whole_words([stem[::-1] for stem in rest])[::-1]
    return f"{begin}*{end}{extension}"


def _whole_words(texts: Sequence[str]) -> str:
    """The common beginning, cut back so that no word and no number is divided."""
    common = posixpath.commonprefix(list(texts))
    while (
        common
        and _WORD.match(common[-1])
        and any(len(text) > len(common) and _is_one_word(common[-1], text[len(common)]) for text in texts)
    ):
        common = common[:-1]
    return common


def _is_one_word(left: str, right: str) -> bool:
    return left.isdigit() == right.isdigit() and left.isalnum() and right.isalnum()
