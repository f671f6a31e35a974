"""Generated trees: files that tools make for themselves, recognised by names and by what a folder holds.

What a folder holds says what made it: a virtual environment has a ``pyvenv.cfg``, whatever it is called. What a build
is for (programs, libraries, packages) is no part of a tree, wherever it lies, nor is what a person put beside it.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from fnmatch import translate
from functools import lru_cache

_NAMES = re.compile(
    r"node_modules|__pycache__|CMakeFiles|.+\.egg-info"
    r"|\.(?:cache|eggs|gradle|hypothesis|mypy_cache|nox|pytest_cache|ruff_cache|tox)"
)
"""Folders that are generated trees by their names: nobody else calls a folder so."""


def _any(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split())))


_ALL = _any("*")
_MARKS = (
    # venv, virtualenv, uv
    (
        _any("pyvenv.cfg"),
        _any("pyvenv.cfg bin etc include lib lib64 man share .gitignore .lock CACHEDIR.TAG"),
    ),
    # conda
    (_any("conda-meta"), _ALL),
    # CMake: each folder of a build has its own
    (
        _any("CMakeFiles"),
        _any(
            "CMakeCache.txt* CMakeFiles *_install.cmake CTestTestfile.cmake CPack*Config.cmake"
            " DartConfiguration.tcl Testing _deps install_manifest.txt Makefile build.ninja .ninja_deps .ninja_log"
        ),
    ),
    # Cargo: the folder of all builds, and that of one profile in it
    (_any(".rustc_info.json"), _any(".rustc_info.json .cargo-lock CACHEDIR.TAG tmp")),
    (_any(".fingerprint"), _any(".fingerprint .cargo-*lock build deps incremental *.d")),
    # setuptools
    (_any("bdist.*"), _any("bdist.* lib lib.* scripts-* temp.*")),
    # The sign of any cache (https://bford.info/cachedir), where none of the others says more.
    (_any("CACHEDIR.TAG"), _ALL),
)
"""By what a folder holds: what tools made of its content."""


def is_tree_by_name(folder: str) -> bool:
    """Whether a folder of this name is a generated tree, wherever it lies."""
    return _NAMES.fullmatch(folder) is not None


def generated_in(names: Collection[str], *, is_root: bool = False) -> frozenset[str]:
    """Those of the names in one folder that tools made, as the others tell.

    The folder that work is done in (``is_root``) is no cache and no environment as a whole, whatever it holds.
    """
    made = _made_by_tools(names, is_root=is_root)
    return frozenset(filter(made.fullmatch, names)) if made is not None else frozenset()


class GeneratedTrees:
    """The generated trees of a folder, found among the paths of what it holds."""

    def __init__(self, paths: Iterable[str]) -> None:
        """``paths`` are relative to the folder."""
        marks: dict[str, set[str]] = {}
        for path in paths:
            for folder, name in _steps(path):
                if _is_mark(name):
                    marks.setdefault(folder, set()).add(name)
        self._made = {folder: _made_by_tools(names, is_root=folder == "") for folder, names in marks.items()}

    def tree_of(self, path: str) -> str | None:
        """The outermost tree that the path lies in, or is; a repository's ``.git`` counts as one.

        What a tool made of the content of the folder itself is a tree of its own.
        """
        for folder, name in _steps(path):
            made = self._made.get(folder)
            is_made = made is not None and made.fullmatch(name) is not None
            if folder and is_made:
                return folder
            if is_made or name == ".git" or is_tree_by_name(name):
                return f"{folder}/{name}" if folder else name
        return None


def _made_by_tools(names: Collection[str], *, is_root: bool) -> re.Pattern[str] | None:
    for mark, made in _MARKS:
        if not (is_root and made is _ALL) and any(map(mark.fullmatch, names)):
            return made
    return None


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Each folder that the path leads through, and the name in it."""
    parts = path.split("/")
    return (("/".join(parts[:n]), part) for n, part in enumerate(parts))


@lru_cache(maxsize=4096)
def _is_mark(name: str) -> bool:
    return any(mark.fullmatch(name) for mark, _ in _MARKS)
