"""Helpers which the lessons share: write files and tables, make a repository, read results."""

import csv
import hashlib
import os
import subprocess
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a text file in UTF-8 with the line endings as given, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def write_table(path: Path, rows: Iterable[Sequence[object]], separator: str = ",") -> None:
    """Write rows as a CSV file that ends its lines with a line feed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)


def read(path: Path) -> str:
    """The text of a result; a missing file fails as a wrong result does."""
    assert path.is_file(), f"{path.name} is missing"
    return path.read_text(encoding="utf-8")


def read_table(path: Path, separator: str = ",") -> list[list[str]]:
    """The rows of a CSV file, whatever ends its lines."""
    return [row for row in csv.reader(read(path).splitlines(), delimiter=separator) if row]


def sha256(path: Path) -> str:
    """The checksum of a file as sha256sum prints it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_below(folder: Path) -> dict[str, Path]:
    """Every file below a folder, by its path relative to the folder."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def today() -> tuple[str, str]:
    """The date of today and of yesterday (for a check that runs just after midnight)."""
    now = date.today()
    return now.isoformat(), (now - timedelta(days=1)).isoformat()


def git(folder: Path, *arguments: str, when: str = "2025-01-15T09:00:00+00:00") -> str:
    """Run git in a folder, independent of the settings of the machine, and return what it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "LC_ALL": "C.UTF-8",
    }
    command = ["git", "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr.strip()}"
    return done.stdout.strip()


def make_repository(folder: Path) -> None:
    """Make an empty repository whose own settings name who commits."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Maintenance")
    git(folder, "config", "user.email", "maintenance@example.org")
    git(folder, "config", "commit.gpgsign", "false")
    git(folder, "config", "tag.gpgsign", "false")


def commit(folder: Path, message: str, when: str) -> None:
    """Commit everything in the folder at a fixed time."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message, when=when)
