"""What was put right by a later command is tried as one command that does it right at once."""

from uuid import UUID

import pytest

from contracts.learning.evidence import CommandUse
from contracts.learning.proposal import RehearsalCommand
from domain.learning.interpretation.put_right import put_right

SCRIPT = "print(1)\n"


def found(*typed: tuple[str, str]) -> list[tuple[int, str, tuple[int, ...]]]:
    """What is tried for commands, each with the files that it writes."""
    commands = [
        RehearsalCommand(event_id=str(UUID(int=n)), command=line, working_folder=".")
        for n, (line, _) in enumerate(typed)
    ]
    uses = [
        CommandUse(event_id=str(UUID(int=n)), succeeded=True, written=tuple(written.split()))
        for n, (_, written) in enumerate(typed)
    ]
    return [(one.place, one.command, one.left_out) for one in put_right(commands, uses, {"a.py": SCRIPT}.get)]


@pytest.mark.parametrize(
    ("first", "second", "tried"),
    [
        ("git commit -qm 'Ad neu'", "git commit --amend -qm 'Add neu'", ["git commit -qm 'Add neu'"]),
        ("git commit -m x", "git commit -m 'no --amended' --amend", ["git commit -m 'no --amended'"]),
        ("git commit -m x", "git commit --amend --no-edit", ["git commit -m x"]),
        ("git commit -am x", "git commit --amend -m y", ["git commit -m y", "git commit -m y --all"]),
        ("git commit -m x", "git commit --amend", []),
        ("git commit -m x", "git commit -m y", []),
        ("git add .", "git commit --amend -m y", []),
    ],
)
def test_an_amended_commit_is_tried_as_one(first: str, second: str, tried: list[str]) -> None:
    assert found((first, ".git"), ("git add more", ".git"), (second, ".git")) == [
        (2, line, (0,)) for line in tried
    ]


def test_a_program_that_was_mended_before_it_ran_is_tried_as_one_text() -> None:
    wrote, mended, ran = (
        ("cat > a.py <<E\nx\nE", "a.py"),
        ("sed -i s/x/y/ a.py", "a.py"),
        ("python3 a.py", "o"),
    )
    line = "cat > a.py <<'END_OF_TEXT'\nprint(1)\nEND_OF_TEXT"
    assert found(wrote, mended, ran) == [(1, line, (0,)), (0, line, (1,))]
    assert found(wrote, ("chmod +x a.py", "a.py"), mended, ("./a.py", "o")) == [
        (2, line, (0,)),
        (0, line, (2,)),
    ]
    assert found(wrote, ran, mended, ran) == []
    assert found(wrote, ("sed -i s/x/y/ *.py", "a.py b.py"), ran) == []
    assert found(wrote, ran) == []


@pytest.mark.parametrize(
    ("first", "made", "second", "renamed", "tried"),
    [
        ("sort a > totls.txt", "totls.txt", "mv totls.txt totals.txt", "totals.txt", "sort a > totals.txt"),
        ("cp -r in bakup", "bakup/a bakup/b", "mv bakup backup", "backup/a backup/b", "cp -r in backup"),
        (
            'for f in *.JPG; do mv "$f" "lisbonn_${f%.JPG}.jpg"; done',
            "lisbonn_1.jpg lisbonn_2.jpg",
            'for f in lisbonn_*; do mv "$f" "lisbon_${f#lisbonn_}"; done',
            "lisbon_1.jpg lisbon_2.jpg",
            'for f in *.JPG; do mv "$f" "lisbon_${f%.JPG}.jpg"; done',
        ),
        (
            "git mv a.md reprot.md",
            "reprot.md",
            "git mv reprot.md report.md",
            "report.md",
            "git mv a.md report.md",
        ),
        ("cat a > tmp", "tmp", "mv tmp totals.txt", "totals.txt", None),
        ("cat a > t-2023", "t-2023", "mv t-2023 t-2024", "t-2024", None),
        ("split a totls_", "totls_a totls_b", "mv totls_a totals_a", "totals_a", None),
        ("./make.sh", "totls.txt", "mv totls.txt totals.txt", "totals.txt", None),
        ("sort a > totls.txt", "totls.txt", "sort totls.txt > totals.txt; rm totls.txt", "totals.txt", None),
    ],
)
def test_a_name_that_was_mistyped_and_changed_afterwards_is_tried_at_once(
    first: str, made: str, second: str, renamed: str, tried: str | None
) -> None:
    commands = [
        RehearsalCommand(event_id=str(UUID(int=n)), command=one, working_folder=".")
        for n, one in enumerate((first, second))
    ]
    uses = [
        CommandUse(event_id=str(UUID(int=0)), succeeded=True, written=tuple(made.split())),
        CommandUse(
            event_id=str(UUID(int=1)),
            succeeded=True,
            written=tuple(renamed.split()),
            removed=tuple(made.split())[: len(renamed.split())],
        ),
    ]
    shown = [(one.place, one.command, one.left_out) for one in put_right(commands, uses, lambda _: None)]
    assert shown == ([] if tried is None else [(0, tried, (1,))])
