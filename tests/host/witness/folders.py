"""Folders to be observed, made with the real git."""

import os
import subprocess
from pathlib import Path

from contracts.learning.witness import StateValue
from host.witness.bounded_folder import Limits
from host.witness.witness import observe_all

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_DATE": "2024-05-01T12:00:00Z",
    "GIT_COMMITTER_DATE": "2024-05-01T12:00:00Z",
}


def git(folder: Path, *arguments: str, may_fail: bool = False) -> str:
    """Runs the real git in ``folder`` and returns what it says."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **_IDENTITY},
        capture_output=True,
        text=True,
        check=not may_fail,
    )
    return done.stdout.strip()


def repository(folder: Path, *options: str) -> Path:
    """A repository with one commit of ``a.txt`` on the branch ``main``."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main", *options)
    commit(folder, "a.txt", "one\n", "First")
    return folder


def commit(folder: Path, name: str, content: str, message: str) -> None:
    """Commits a file with that content."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    git(folder, "add", name)
    git(folder, "commit", "-q", "-m", message)


def facts_of(folder: Path, subject: str, limits: Limits | None = None) -> dict[str, StateValue]:
    """The facts of one subject, by aspect."""
    observed = observe_all(folder, limits)
    return {fact.aspect: fact.value for fact in observed.facts if fact.subject == subject}
