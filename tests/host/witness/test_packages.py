"""The state of installed packages, read from their metadata."""

import json
import subprocess
import sys
from pathlib import Path

from host.witness.witness import observe_all
from tests.host.witness.folders import facts_of


def distribution(folder: Path, name: str, metadata: str | None) -> None:
    inner = folder / "lib/python3.11/site-packages" / name
    inner.mkdir(parents=True)
    if metadata is not None:
        (inner / "METADATA").write_text(metadata, encoding="utf-8")


def environment(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    return folder


def test_a_virtual_environment_has_its_distributions_and_no_files(tmp_path: Path) -> None:
    made = environment(tmp_path / ".venv")
    distribution(
        made, "tabulate-0.9.0.dist-info", "Metadata-Version: 2.1\nName: tabulate\nVersion: 0.9.0\n\nText"
    )
    distribution(
        made, "Ruamel.Yaml-0.18.dist-info", "Name: ruamel.yaml\r\nVersion: 0.18.1\r\n\r\nName: other\r\n"
    )
    distribution(made, "odd-1.0.dist-info", "no headers")
    distribution(made, "none-1.0.dist-info", None)
    assert facts_of(tmp_path, ".venv") == {
        "environment": "Python",
        "package tabulate": "0.9.0",
        "package ruamel-yaml": "0.18.1",
        "package odd": "1.0",
    }
    assert not [f for f in observe_all(tmp_path).facts if f.subject.startswith(".venv/")]


def test_a_real_virtual_environment_is_recognised(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    assert facts_of(tmp_path, "env")["environment"] == "Python"


def test_metadata_behind_a_link_is_not_read(tmp_path: Path) -> None:
    made = environment(tmp_path / "folder" / "env")
    outside = tmp_path / "METADATA"
    outside.write_text("Name: secret\nVersion: 1\n\n", encoding="utf-8")
    distribution(made, "x-1.dist-info", None)
    (made / "lib/python3.11/site-packages/x-1.dist-info/METADATA").symlink_to(outside)
    (made / "lib/python3.12").symlink_to(made / "lib/python3.11")
    assert not [aspect for aspect in facts_of(tmp_path / "folder", "env") if aspect.startswith("package")]


def test_dependencies_and_installed_modules_of_node_are_listed(tmp_path: Path) -> None:
    manifest = {
        "dependencies": {"left-pad": "^1.3.0"},
        "devDependencies": {"jest": "29"},
        "optionalDependencies": 3,
    }
    (tmp_path / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    for name, version in (("left-pad", "1.3.0"), ("@scope/inner", "2.0.0")):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        (tmp_path / "node_modules" / name / "package.json").write_text(json.dumps({"version": version}))
    facts = facts_of(tmp_path, "package.json")
    assert facts["dependency left-pad"] == "^1.3.0"
    assert facts["development dependency jest"] == "29"
    installed = facts_of(tmp_path, "node_modules")
    assert (installed["package left-pad"], installed["package @scope/inner"]) == ("1.3.0", "2.0.0")


def test_a_manifest_that_is_no_json_or_too_deep_is_not_readable(tmp_path: Path) -> None:
    for number, text in enumerate(["{", "[]", "[" * 100_000, '{"dependencies": [1]}', "\0"]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "package.json").write_text(text, encoding="utf-8")
        facts = facts_of(folder, "package.json")
        assert facts.get("manifest") == (None if number == 3 else "not readable")
