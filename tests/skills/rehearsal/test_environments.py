"""A lesson that makes an environment and installs a package has one goal of it in SKILL.md, whatever it is called."""

import re
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.learning.observation import ObservedActionEvent
from domain.learning.comparison.demonstrations import shown_demonstrations
from domain.learning.drafting.drafting import draft_skill
from domain.learning.interpretation.interpretation import interpret
from domain.learning.proof.wording import proven_files, proven_statements
from host.folder_snapshot import produced_between, take_snapshot
from tests.domain.conftest import Teaching
from tests.skills.rehearsal.test_evidence import Taught

pytestmark = pytest.mark.thorough

T = Teaching()
PIP = "python3 -m pip --disable-pip-version-check --no-cache-dir -q"
REPORT = "from tabulate import table\n\nprint(table(open('hours.csv').read()))\n"
TABULATE = "from widths import wide\n\ndef table(text):\n    return wide(text.replace(',', '\\t'))\n"
FILES = {"hours.csv": "Ada,3\nBen,12\n", "report.py": REPORT}


def wheel(folder: Path, name: str, code: str, *needs: str) -> None:
    """A package of one module, as an index would give it."""
    folder.mkdir(exist_ok=True)
    about = "\n".join(f"Requires-Dist: {one}" for one in needs)
    inside = {
        f"{name}.py": code,
        f"{name}-0.9.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.9.0\n{about}",
        f"{name}-0.9.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-0.9.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-0.9.0-py3-none-any.whl", "w") as archive:
        for path, text in inside.items():
            archive.writestr(path, text)


class WithWheels(Taught):
    """A lesson whose folder holds packages to install."""

    def place(self, work: Path) -> None:
        super().place(work)
        wheel(work / "wheels", "widths", "def wide(text):\n    return text.expandtabs(9)\n")
        wheel(work / "wheels", "tabulate", TABULATE, "widths")


def recorded(taught: Taught, folder: Path) -> Sequence[ObservedActionEvent]:
    """The commands carried out in the folder, each with the files that a recorder sees it make."""
    folder.mkdir()
    taught.place(folder)
    events: list[ObservedActionEvent] = []
    for at, one in enumerate(taught.commands):
        before = take_snapshot(folder)
        subprocess.run(["bash", "-c", one.command], cwd=folder, check=True)
        made = produced_between(before, take_snapshot(folder))
        event = T.command(at, one.command)
        assert event.terminal is not None
        terminal = event.terminal.changed(produced_files=made)
        events.append(event.changed(event_id=one.event_id, terminal=terminal))
    return events


def skill_of(taught: Taught, events: Sequence[ObservedActionEvent]) -> str:
    """SKILL.md as it is drafted from the events and what their replay proves."""
    evidence = taught.find()
    steps = shown_demonstrations(events, [], evidence)[0]
    known = {"proven": proven_statements(evidence), "proven_files": proven_files(evidence)}
    interpretation = interpret(T.source(events, steps=steps, **known))
    draft = draft_skill(interpretation, steps, T.session(), evidence=evidence)
    return next(file.content for file in draft.files if file.path == "SKILL.md")


def test_an_environment_with_a_package_is_one_goal(tmp_path: Path) -> None:
    taught = WithWheels(
        tmp_path,
        FILES,
        "python3 -m venv --without-pip tools",
        f"{PIP} --python tools install --no-index --find-links wheels tabulate",
        "tools/bin/python report.py > report.txt",
    )
    events = recorded(taught, tmp_path / "lesson")
    assert [one.path for event in events if event.terminal for one in event.terminal.produced_files] == [
        "report.txt"
    ]
    skill = skill_of(taught, events)
    assert taught.kept() == [one.command for one in taught.commands]
    assert re.findall(r"(?m)^- (.*)$", skill.split("## Done when")[1].split("##")[0]) == [
        "The environment tools has the package tabulate.",
        "The file `report.txt` has been made and is not empty.",
    ]
    assert re.search("site-packages|pyvenv|widths|lib64|tools/(?!bin/python report)", skill) is None
