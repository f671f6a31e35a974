"""The lines that were typed while a command ran, from the keys; nothing of what stayed invisible."""

import pytest

from recorders.terminal.typed_keys import MAX_TYPED_BYTES, TypedKeys, lines_of


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (b"select 1;\r.quit\r", ("select 1;", ".quit")),
        (b"seect\x7f\x7f\x7f\x7flect 1;\n", ("slect 1;",)),
        (b"wrong line\x15right\n", ("right",)),
        (b"one two\x17three\n", ("one three",)),
        (b"ad\x1b[Db\x1b[Cc\n", ("abdc",)),
        (b"bc\x01a\x05d\n", ("abcd",)),
        (b"abc\x1b[H\x1b[3~\n", ("bc",)),
        (b"abc\x1b[D\x0b\n", ("ab",)),
        (b"\x1b[200~a\nb\x1b[201~\n", ("a", "b")),
        ("für\x7f\n".encode(), ("fü",)),
        (b"a\n\x04ls\n", ("a",)),
        (b"a\nunfinished", ("a",)),
    ],
)
def test_keys_that_edit_the_line_have_their_effect(keys: bytes, lines: tuple[str, ...]) -> None:
    assert lines_of(keys) == lines


@pytest.mark.parametrize("keys", [b"a\x1b[A\n", b"\x12sel\n", b"\x03\n", b"a\x1a", b"\xff\n"])
def test_a_line_of_the_history_or_an_unknown_key_makes_all_unknown(keys: bytes) -> None:
    assert lines_of(keys) is None


def test_what_is_typed_ahead_of_the_prompt_belongs_to_the_command_behind_its_own_lines() -> None:
    keys = TypedKeys()
    keys.note(b"ed a.txt\n1d\n", hidden=False, completes=False)
    keys.begin()
    keys.note(b"w\n", hidden=False, completes=False)
    assert keys.take("ed a.txt") == ("1d", "w")
    keys.note(b"ls\n", hidden=False, completes=False)
    keys.begin()
    assert keys.take("ls") == ()


@pytest.mark.parametrize(
    ("typed", "hidden", "completes"),
    [(b"hunter2\n", True, False), (b"sel\t\n", False, True), (b"x" * (MAX_TYPED_BYTES + 1), False, False)],
)
def test_nothing_is_known_of_a_command_with_an_invisible_a_completed_or_too_long_line(
    typed: bytes, hidden: bool, completes: bool
) -> None:
    keys = TypedKeys()
    keys.begin()
    keys.note(b"select 1;\n", hidden=False, completes=True)
    keys.note(typed, hidden=hidden, completes=completes)
    keys.note(b"select 2;\n", hidden=False, completes=True)
    assert keys.take("psql") is None
    keys.begin()
    keys.note(b"select 3;\n", hidden=False, completes=True)
    assert keys.take("psql") == ("select 3;",)
