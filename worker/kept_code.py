"""Compiled code of modules that the workflow sandbox executes anew for each workflow, kept once in a process.

The sandbox imports a workflow's module for every run, so that runs share no state. Python would read and decode its
compiled code each time, 30 KiB for as long as the run is in memory. Code objects never change, so they may be shared.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


class _KeepsCode(SourceFileLoader):
    """Loads a module from its source file; decodes its code the first time only."""

    kept: dict[str, CodeType] = {}  # noqa: RUF012 - of the whole process, on purpose

    def get_code(self, fullname: str) -> CodeType | None:
        """The compiled code of the module."""
        if fullname not in self.kept:
            code = super().get_code(fullname)
            if code is None:
                return None
            self.kept[fullname] = code
        return self.kept[fullname]


class CodeKeeper:
    """Finds the modules of one package as Python does; their code is kept. A finder of ``sys.meta_path``."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module of the package comes from; None of any other, which other finders find."""
        if name.partition(".")[0] != self._package:
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _KeepsCode(found.loader.name, found.loader.path)
        return found


def keep_code_of(package: str) -> None:
    """Keeps the code of the package's modules from now on; said twice, it counts once."""
    if not any(isinstance(one, CodeKeeper) for one in sys.meta_path):
        sys.meta_path.insert(0, CodeKeeper(package))
