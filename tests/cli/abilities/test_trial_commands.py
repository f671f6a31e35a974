"""``apprentice abilities try`` against a whole running service."""

import json
from pathlib import Path

import pytest

from cli.platform.output import ExitCode
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
