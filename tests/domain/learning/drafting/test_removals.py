"""The safety section says what a method removes: what its commands find, not the files of the day."""

from typing import Any

import pytest

from domain.learning.drafting.removals import moved_away, removals
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.steps import DemonstratedStep


@pytest.mark.parametrize(
    ("command", "gone", "said", "moved"),
    [
        ("rm a.log b.log", ("a.log", "b.log"), ["a.log", "b.log"], []),
        ("rm logs/*.log", ("logs/a.log", "logs/b.log"), ["logs/*.log"], []),
        ("rm -r logs", ("logs/a.log", "logs/deep/b.log"), ["everything in logs"], []),
        (
            "find logs -type f -name '*.log' -exec rm {} +",
            ("logs/a.log",),
            ["every file that find gives (only files, named *.log, looks in logs)"],
            [],
        ),
        ("find logs -name '*.log' -delete", ("logs/a.log",), ["every file that find gives (named *.log"], []),
        ("python3 clean.py", ("a.log",), ["a.log"], []),
        ("mv a.JPG a.jpg", ("a.JPG",), [], ["a.JPG"]),
        ("gzip a.txt", ("a.txt",), [], ["a.txt"]),
    ],
)
def test_what_goes_is_said_as_the_command_says_it(
    teach: Any, command: str, gone: tuple[str, ...], said: list[str], moved: list[str]
) -> None:
    event = teach.command(1, command, *(f"-{path}" for path in gone))
    steps = (DemonstratedStep("Clear", (event,)),)
    found = removals(steps, gone, LastingNames())
    assert len(found) == len(said)
    assert all(one.startswith(begin) for one, begin in zip(found, said, strict=True))
    assert moved_away(steps, gone, LastingNames()) == moved
