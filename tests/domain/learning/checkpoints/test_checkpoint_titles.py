"""Titles of checkpoints say what the commands do and make, and else which files are there."""

import pytest

from domain.learning.checkpoints.checkpoint_titles import title_of
from domain.learning.commands.operations import NetChange, NetEffect, operation_of

MADE, CHANGED, GONE = NetChange.CREATED, NetChange.MODIFIED, NetChange.DELETED


@pytest.mark.parametrize(
    ("command", "change", "title"),
    [
        ("grep x a > f", MADE, "The selected records are ready"),
        ("comm -13 a b > f", MADE, "The selected records are ready"),
        ("sed '/x/d' a > f", MADE, "The selected records are ready"),
        ("cut -f1 a > f", MADE, "The selected part is ready"),
        ("awk '$2 < 20 {print $1}' a > f", MADE, "The selected records are ready"),
        ("awk '{print $2, $1}' a > f", MADE, "The file f is ready"),
        ("sort a > f", MADE, "The sorted list is ready"),
        ("sed -i 's/1.4/1.5/' f", CHANGED, "The file f is up to date"),
        ("sed -i 's/nam/name/' f", MADE, "The file f is ready"),
        ("sed 's/a/b/' a > f", MADE, "The file f is ready"),
        ("cat > f <<EOF\nLines: $(wc -l < a) $(sed 's/^/- /' a)\nEOF", MADE, "The file f is ready"),
        ("echo done >> f", MADE, "The file f is ready"),
        ("python3 make.py a f", MADE, "The file f is ready"),
        ("chmod 600 f", CHANGED, "The permissions are set"),
        ("ln -s a f", MADE, "The link is in place"),
        ("rm f", GONE, "The unwanted files are gone"),
        ("mv f g", GONE, "The file is no longer under its old name"),
        ('for x in *; do mv "$x" "y$x"; done', GONE, "The file is no longer under its old name"),
        ("mv f g; rm h", GONE, "The unwanted files are gone"),
    ],
)
def test_a_title_follows_from_what_is_done(command: str, change: NetChange, title: str) -> None:
    effect = NetEffect("f", change, "e1")
    assert title_of([("e1", command)], operation_of(command), [effect], "The file f") == title
