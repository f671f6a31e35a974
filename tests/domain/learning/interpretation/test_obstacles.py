"""What keeps a sandbox from carrying out a command, and what would help."""

import pytest

from contracts.learning.observation import OUTSIDE_FOLDER
from domain.learning.interpretation.obstacles import rehearsal_obstacle
from domain.learning.redaction.secret_names import MASK


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("nano clean.py", "nano waits for what a person types"),
        ("sqlite3 shop.db", "sqlite3 waits"),
        ("python3", "python3 waits"),
        ("ed Makefile", "ed waits"),
        ("curl -o data.csv https://data.example/q3.csv", "network"),
        ("git push origin main", "network"),
        ("sudo cp a /etc/b", "rights of another user"),
        ("xdg-open report.pdf", "window"),
        (f"mysql -p{MASK} shop", "secret was cut out"),
        ("sha256:0f3a", "digest only"),
    ],
)
def test_it_is_named_with_what_would_help(command: str, named: str) -> None:
    found = rehearsal_obstacle(command)
    assert found is not None
    assert named in found


def test_a_command_that_ran_outside_of_the_folder_is_not_run_elsewhere() -> None:
    found = rehearsal_obstacle("sort a.csv > b.csv", OUTSIDE_FOLDER)
    assert found is not None
    assert "outside the lesson's folder" in found
    assert rehearsal_obstacle("sort a.csv > b.csv", "data") is None


@pytest.mark.parametrize(
    "command",
    [
        "sort -k2 a.csv > b.csv",
        "sqlite3 shop.db 'select 1' > out",
        "sqlite3 shop.db < load.sql",
        "ed -s a.txt <<'EOF'\n1d\nw\nEOF",
        "echo 1d | ed a.txt",
        "python3 -c 'print(1)'",
        "python3 report.py",
        "python3 -m venv .venv",
        "git commit -m done",
        "less a.txt",
    ],
)
def test_what_a_sandbox_can_do_has_none(command: str) -> None:
    assert rehearsal_obstacle(command) is None
