"""Commands in which a person writes by hand are told from those that only run."""

import pytest

from domain.learning.interpretation.by_hand import written_by_hand


@pytest.mark.parametrize(
    "command",
    [
        "nano clean.py",
        "sudo vim /etc/hosts",
        "ed notes.txt",
        "cd src && emacs main.c",
        "python3",
        "python3 -i",
        "ipython",
        "sqlite3 sales.db",
        "node",
        "psql -U ann sales",
        "mysql",
        "bc -l",
        "irb",
        "cat > notes.txt",
        "cat > notes.txt <<EOF\nhello\nEOF",
        "tee -a notes.txt <<-'END' > /dev/null\nhello\nEND",
    ],
)
def test_what_waits_for_typing(command: str) -> None:
    assert written_by_hand(command)


@pytest.mark.parametrize(
    "command",
    [
        "python3 clean.py sales.csv",
        "python3 -c 'print(1)' > out.txt",
        "python3 -m venv env",
        "python3 < script.py",
        "sqlite3 sales.db 'select 1'",
        "sqlite3 sales.db < schema.sql",
        "psql -c 'select 1' sales",
        "node build.js",
        "cat a b > c",
        "cat < a > b",
        "sort sales.csv > sorted.csv",
        "cp a b",
        "echo $((1 << 2)) > n",
    ],
)
def test_what_only_runs(command: str) -> None:
    assert not written_by_hand(command)
