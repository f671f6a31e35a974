"""What the lessons share: filling a folder, reading a result, and a git repository with fixed dates."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path


def write(path: Path, text: str, mode: int | None = None) -> None:
    """Write a text file, with the folders above it, and give it the mode if one is named."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    if mode is not None:
        path.chmod(mode)


def table(rows: Iterable[Sequence[str | int]], separator: str = ",") -> str:
    """The rows as lines, with the separator between the values."""
    return "".join(separator.join(str(value) for value in row) + "\n" for row in rows)


def text_of(path: Path) -> str:
    """The contents of a file that must be there."""
    assert path.is_file(), f"{path.name} is missing"
    return path.read_text(encoding="utf-8")


def files_below(folder: Path) -> list[str]:
    """The relative paths of all files below a folder that must be there, in order."""
    assert folder.is_dir(), f"{folder.name} is missing"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def numbers(seed: int, count: int, low: int, high: int) -> list[int]:
    """Numbers between low and high (both possible) that look irregular and are always the same ones."""
    state = seed
    found: list[int] = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        found.append(low + (state >> 8) % (high - low + 1))
    return found


def git(folder: Path, *words: str, day: str = "2025-01-15") -> str:
    """Run git in the folder as of the given day, without personal settings, and return what it prints."""
    moment = f"{day}T09:00:00+00:00"
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": moment,
        "GIT_COMMITTER_DATE": moment,
    }
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *words],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
    return done.stdout


def repository(folder: Path) -> None:
    """Make the folder a git repository with the branch main and its own author."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Shop Office")
    git(folder, "config", "user.email", "office@shop.example")
    git(folder, "config", "commit.gpgsign", "false")


def commit(folder: Path, message: str, day: str) -> None:
    """Commit everything in the folder."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message, day=day)
