"""``apprentice abilities try`` against a whole running service."""

import json
from pathlib import Path

import pytest

from cli.platform.output import ExitCode
from recorders.delivery import IngestTarget
from recorders.terminal.recording import TerminalRecorderOptions, run_scripted
from tests.cli.abilities.test_ability_commands import installed

pytestmark = pytest.mark.thorough

# A skill name has one owner, and each test has a person of its own.
SUBJECTS = iter(("stock", "parcel", "seating"))


@pytest.fixture
def ability_id(person, taught) -> str:
    return installed(person, taught, next(SUBJECTS))


def test_a_method_is_tried_and_the_whole_result_is_put_out(person, ability_id: str, tmp_path: Path) -> None:
    folder, out = tmp_path / "folder", tmp_path / "out"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "away").symlink_to("/etc/hostname")
    before = sorted(path.name for path in folder.rglob("*"))
    arguments = ("abilities", "try", ability_id, "--folder", str(folder), "--out", str(out))
    answer = person.types(*arguments)
    assert answer.exit_code == ExitCode.OK, answer.output
    assert "passed: All commands worked" in answer.stdout
    assert (out / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (out / "away").readlink() == Path("/etc/hostname")
    assert len(list(out.iterdir())) > 2
    assert sorted(path.name for path in folder.rglob("*")) == before

    again = person.types(*arguments)
    assert again.exit_code == ExitCode.USAGE
    assert "is not empty" in again.stderr

    run = person.gets(*arguments[:-1], str(tmp_path / "other"))
    assert run["state"] == "passed"
    assert {one["result"] for one in run["commands"]} == {"worked"}


def test_a_trial_that_cannot_be_is_refused_with_the_reason(person, ability_id: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    arguments = ("abilities", "try", ability_id, "--folder", str(folder), "--out", str(tmp_path / "out"))
    unknown = person.types(*arguments, "--set", "colour=red")
    assert unknown.exit_code == ExitCode.REFUSED
    assert "There is no parameter colour" in unknown.stderr
    assert person.types(*arguments, "--set", "colour").exit_code == ExitCode.USAGE
    assert not (tmp_path / "out").exists()


def test_show_names_the_parameters(person, ability_id: str) -> None:
    answer = person.types("abilities", "show", ability_id, "--json")
    assert isinstance(json.loads(answer.stdout)["parameters"], list)


def two_folders(home: Path, text: str) -> tuple[Path, Path]:
    for name in ("texts", "shelf"):
        (home / name).mkdir(parents=True)
    (home / "texts" / "poem.txt").write_text(text)
    (home / "shelf" / "old.txt").write_text("old\n")
    return home / "texts", home / "shelf"


def test_a_method_of_two_folders_is_tried_on_two(
    person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    texts, _ = two_folders(tmp_path / "home", "b\na\n")

    def taught(subject: str) -> str:
        session_id: str = person.gets("learn", "create", "--only", "terminal")["session"]["learn_session_id"]
        target = IngestTarget(person.state.api_url, person.token)
        options = TerminalRecorderOptions(session_id, target, tmp_path / "spool", texts)
        shown = (f"sort poem.txt > {subject}.txt", f"mv {subject}.txt ~/shelf", "cd ~/shelf", "ls > list.txt")
        assert run_scripted(options, shown).complete
        person.gets("learn", "mark-goal", f"Put the {subject} in order on the shelf")
        person.gets("learn", "stop")
        return session_id

    ability_id = installed(person, taught, "ballad")
    assert (
        "texts (shown: ~/texts) · shelf (shown: ~/shelf)"
        in person.types("abilities", "show", ability_id).stdout
    )

    others = two_folders(tmp_path / "other", "d\nc\n")
    out = tmp_path / "out"
    arguments = ("abilities", "try", ability_id, "--out", str(out), "--folder", str(others[0]))
    one = person.types(*arguments)
    assert one.exit_code == ExitCode.USAGE
    assert "--folder texts=DIR --folder shelf=DIR" in one.stderr
    twice = person.types(*arguments, "--folder", f"texts={others[1]}")
    assert "texts is given twice" in twice.stderr
    nowhere = person.types(*arguments, "--folder", "shelf=/nowhere")
    assert "/nowhere is no folder" in nowhere.stderr
    assert not out.exists()

    both = person.types(*arguments, "--folder", f"shelf={others[1]}")
    assert both.exit_code == ExitCode.OK, both.output
    assert (out / "shelf" / "ballad.txt").read_text() == "c\nd\n"
    assert (out / "shelf" / "list.txt").read_text().split() == ["ballad.txt", "list.txt", "old.txt"]
    assert (out / "texts" / "poem.txt").read_text() == "d\nc\n"
    assert not (others[1] / "ballad.txt").exists()
