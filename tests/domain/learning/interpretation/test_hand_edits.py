"""What a person wrote in an editor is repeated by its outcome."""

import subprocess
from pathlib import Path

from contracts.learning.observation import ExitClass, TerminalObservation, WrittenText
from domain.learning.interpretation.hand_edits import replayed_line


def observed(command: str, *written: WrittenText, folder: str = ".") -> TerminalObservation:
    return TerminalObservation(
        command=command, exit_class=ExitClass.OK, working_folder=folder, written=written
    )


def run(line: str, folder: Path) -> None:
    subprocess.run(["bash", "-c", line], cwd=folder, check=True)


def test_a_new_file_is_written_again(tmp_path: Path) -> None:
    line = replayed_line(
        observed("nano notes.md", WrittenText(path="notes.md", text="END_OF_TEXT\n$x `y`\n"))
    )
    assert line is not None
    run(line, tmp_path)
    assert (tmp_path / "notes.md").read_text() == "END_OF_TEXT\n$x `y`\n"


def test_a_change_is_repeated_as_a_patch_from_the_folder_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/a.ini").write_text("port = 1\nname = b\n")
    patch = "--- a.ini\n+++ a.ini\n@@ -1,2 +1,2 @@\n-port = 1\n+port = 2\n name = b\n"
    written = WrittenText(path="conf/a.ini", text="port = 2\nname = b\n", patch=patch)
    line = replayed_line(observed("ed a.ini", written, folder="conf"))
    assert line is not None
    run(line, tmp_path / "conf")
    assert (tmp_path / "conf/a.ini").read_text() == "port = 2\nname = b\n"


def test_what_is_masked_or_not_known_is_not_repeated() -> None:
    assert replayed_line(observed("vim .netrc", WrittenText(path=".netrc", masked=True))) is None
    assert replayed_line(observed("vim notes.md")) is None


def test_a_command_is_repeated_as_it_is_and_the_result_of_an_interpreter_is_no_method() -> None:
    assert replayed_line(observed("sort a > b")) == "sort a > b"
    assert replayed_line(observed("ed -s a <<< 'wq'")) == "ed -s a <<< 'wq'"
    assert replayed_line(observed("python3", WrittenText(path="median.txt", text="3\n"))) == "python3"
