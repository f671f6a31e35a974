import io
import json

import pytest
from rich.table import Table
from rich.text import Text

from cli.platform.output import TerminalConsole, harmless, warn, write_line

COMMANDS = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\x7f\u202ereversed\u2066\U000e0041"


def test_other_peoples_words_are_shown_and_not_obeyed() -> None:
    printed = io.StringIO()
    console = TerminalConsole(file=printed, width=300, force_terminal=True, color_system="standard")
    table = Table("name")
    table.add_row(COMMANDS)
    console.print(table)
    console.print(Text(COMMANDS))
    console.print(f"[green]{COMMANDS}[/]".replace("[2J", "").replace("[31m", ""))
    found = printed.getvalue()
    assert "\x1b[2J" not in found
    assert not set("\x07\r\x9b\x7f\u202e\u2066\U000e0041") & set(found)
    assert "\\u001b[2J" in found
    assert "\x1b[32m" in found  # the command's own colour


def test_lines_and_warnings_are_harmless_too(capsys: pytest.CaptureFixture[str]) -> None:
    write_line(COMMANDS)
    warn(COMMANDS)
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert not set("\x1b\x07\r\x9b\u202e") & set(text)


def test_what_is_printed_for_programs_means_the_same() -> None:
    body = json.dumps({"said": COMMANDS, "plain": "é 👩‍💻 \n"}, ensure_ascii=False)
    assert json.loads(harmless(body)) == json.loads(body)
    assert not set("\x9b\u202e\U000e0041") & set(harmless(body))
