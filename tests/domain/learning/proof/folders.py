"""Folders as conditions look at them, made of texts."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from contracts.generated_trees import GeneratedTrees
from contracts.learning.evidence import ConditionKind, ProofCondition


@dataclass(frozen=True)
class Folder:
    """The files of a folder by their texts; permissions, archive members and facts where they matter."""

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    modes: Mapping[str, int] = field(default_factory=dict[str, int])
    archives: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    state: Mapping[str, str] = field(default_factory=dict[str, str])
    written: Collection[str] = ()

    def paths(self) -> Collection[str]:
        return {**self.texts, **dict.fromkeys(self.archives, "")}.keys()

    def tree_of(self, path: str) -> str | None:
        return GeneratedTrees(self.paths()).tree_of(path)

    def text(self, path: str) -> str | None:
        return self.texts.get(path)

    def digest(self, path: str) -> str | None:
        if path in self.archives:
            return hashlib.sha256(repr(sorted(self.archives[path])).encode()).hexdigest()
        text = self.texts.get(path)
        return None if text is None else hashlib.sha256(text.encode()).hexdigest()

    def essence(self, path: str) -> str | None:
        return self.digest(path)

    def mode(self, path: str) -> int | None:
        return self.modes.get(path, 0o644) if path in self.paths() else None

    def members(self, path: str) -> Collection[str] | None:
        return self.archives.get(path)

    def facts(self) -> Mapping[str, str]:
        return self.state

    def was_written(self, path: str) -> bool:
        return path in self.written


def stating(
    kind: ConditionKind, path: str, *, other: str | None = None, argument: str = ""
) -> ProofCondition:
    """A condition; its sentence does not matter."""
    return ProofCondition(kind=kind, path=path, other=other, argument=argument, statement="a condition")
