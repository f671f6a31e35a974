"""Compares the ends of two replays: equal but for what each run makes anew (times, digests of archives, commit ids)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from domain.learning.conditions.conditions import FolderContents

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Volatile:
    """What differs between two equal runs, and is therefore compared by its existence only."""

    paths: frozenset[str] = frozenset()
    """Files whose content differs; of files whose names differ, the names with each number masked."""
    facts: frozenset[str] = frozenset()
    """State behind files that differs, by subject."""


NOTHING_VOLATILE = Volatile()


def compared_paths(contents: FolderContents) -> set[str]:
    """The files that count: those of generated trees and git's own do not."""
    return {path for path in contents.paths() if contents.tree_of(path) is None}


def same_outcome(one: FolderContents, other: FolderContents, volatile: Volatile = NOTHING_VOLATILE) -> bool:
    """Whether two replays ended alike: the same files, permissions and state.

    Archives, compressed files and databases may differ in bytes and be the same in essence: they hold the time they
    were made.
    """
    paths = _compared(compared_paths(one), volatile)
    if paths != _compared(compared_paths(other), volatile):
        return False
    if _stable(one, volatile) != _stable(other, volatile):
        return False
    return all(_same_file(path, one, other) for path in paths - volatile.paths)


def same_changes(
    one: tuple[FolderContents, FolderContents],
    other: tuple[FolderContents, FolderContents],
    volatile: Volatile = NOTHING_VOLATILE,
) -> bool:
    """Whether two replays changed the same, each given before and after: one may have had fewer files to begin with."""
    mine, theirs = (_compared(changed_paths(*each) - trees_in(*each), volatile) for each in (one, other))
    if mine != theirs or _stable(one[1], volatile) != _stable(other[1], volatile):
        return False
    paths = mine & {*one[1].paths()} & {*other[1].paths()}
    return all(_same_file(path, one[1], other[1]) for path in paths - volatile.paths)


def differences(one: FolderContents, other: FolderContents) -> Volatile:
    """What differs between the ends of two equal runs."""
    mine, theirs = compared_paths(one), compared_paths(other)
    renamed = {masked(path) for path in mine ^ theirs}
    changed = {path for path in mine & theirs if not _same_file(path, one, other)}
    facts = {
        subject
        for subject in {*one.facts(), *other.facts()}
        if one.facts().get(subject) != other.facts().get(subject)
    }
    return Volatile(frozenset(renamed | changed), frozenset(facts))


def changed_paths(before: FolderContents, after: FolderContents) -> set[str]:
    """The paths whose content, permissions or state behind them differ, of a generated tree its folder."""
    was, now = before.facts(), after.facts()
    subjects = {key.split(": ")[0] for key in {*was, *now} if was.get(key) != now.get(key)}
    return subjects | {
        after.tree_of(path) or before.tree_of(path) or path
        for path in {*before.paths(), *after.paths()}
        if before.digest(path) != after.digest(path) or before.mode(path) != after.mode(path)
    }


def trees_in(*contents: FolderContents) -> set[str]:
    """The generated trees and repositories of folders."""
    return {tree for one in contents for path in one.paths() if (tree := one.tree_of(path)) is not None}


def masked(path: str) -> str:
    """The path with each number replaced, so that names that hold the time are alike."""
    return _DIGITS.sub("0", path)


def _compared(paths: Iterable[str], volatile: Volatile) -> set[str]:
    return {
        masked(path) if path not in volatile.paths and masked(path) in volatile.paths else path
        for path in paths
    }


def _stable(contents: FolderContents, volatile: Volatile) -> dict[str, str]:
    return {subject: value for subject, value in contents.facts().items() if subject not in volatile.facts}


def _same_file(path: str, one: FolderContents, other: FolderContents) -> bool:
    return one.essence(path) == other.essence(path) and one.mode(path) == other.mode(path)
