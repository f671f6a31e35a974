"""``apprentice import`` against a whole running service: add a bundle, review it, decide."""

from pathlib import Path
from typing import Any

from cli.platform.output import ExitCode
from tests.fixtures.importing import good_bundle, zipped


def test_a_bundle_is_added_staged_and_installed_by_what_each_answer_says(person: Any, tmp_path: Path) -> None:
    bundle = tmp_path / "tidy-tables.zip"
    bundle.write_bytes(good_bundle())
    added = person.types("import", "add", str(bundle))
    assert added.exit_code == ExitCode.OK, added.stderr
    assert "compatible; findings: 1" in added.stdout
    assert "PORTABILITY_GRADE: direct" in added.stdout
    listed = person.gets("import", "list")["items"]
    import_id = listed[0]["import_id"]
    assert f"apprentice import stage {import_id}" in " ".join(added.stdout.split())
    staged = person.types("import", "stage", import_id).stdout
    assert f"apprentice import install {import_id}" in " ".join(staged.split())
    assert "approve it, which installs nothing" in " ".join(staged.split())
    put = person.types("packs", "put", "tables", "--title", "Tables", "--skill", "tidy-tables")
    assert put.exit_code == ExitCode.OK, put.stderr
    assert "ready" in put.stdout
    assert [one["pack_id"] for one in person.gets("packs", "list")["packs"]] == ["tables"]
    assert person.gets("packs", "show", "tables")["members"][0]["import_id"] == import_id
    refused = person.types("import", "install", import_id)
    assert refused.exit_code == ExitCode.REFUSED
    assert "UNPROVED_NOT_ACCEPTED" in refused.stderr
    assert "SKILL.md" in refused.stdout
    refused = person.types("packs", "install", "tables")
    assert refused.exit_code == ExitCode.REFUSED
    assert "UNPROVED_NOT_ACCEPTED" in refused.stderr
    done = person.types("packs", "install", "tables", "--accept-unproved")
    assert done.exit_code == ExitCode.OK, done.stderr
    pack_install_id = person.gets("packs", "show", "tables")["last_install_id"]
    assert person.gets("packs", "status", pack_install_id)["install"]["state"] == "installed"
    assert person.types("packs", "cancel", pack_install_id).exit_code == ExitCode.REFUSED
    assert "apprentice abilities show imported.tidy-tables" in " ".join(
        person.types("import", "show", import_id).stdout.split()
    )
    shown = person.types("abilities", "show", "imported.tidy-tables").stdout
    assert "tidy-tables.zip" in shown
    assert "installed_private" in person.types("import", "show", import_id).stdout
    again = person.types("import", "discard", import_id)
    assert again.exit_code == ExitCode.REFUSED
    assert person.gets("packs", "show", "tables")["members"][0]["state"] == "installed"
    assert person.types("packs", "delete", "tables").exit_code == ExitCode.OK
    assert person.types("packs", "show", "tables").exit_code == ExitCode.REFUSED


def test_a_bundle_that_is_none_says_what_is_wrong_with_it(person: Any, tmp_path: Path) -> None:
    bundle = tmp_path / "notes.zip"
    bundle.write_bytes(zipped({"notes.txt": "hello"}))
    added = person.types("import", "add", str(bundle))
    assert added.exit_code == ExitCode.FAILURE, "a script has to see that nothing came of it"
    assert "SKILL_MD_MISSING" in added.stdout
    import_id = person.gets("import", "list", "--state", "scan_failed")["items"][0]["import_id"]
    assert person.types("import", "retry", import_id, "scan").exit_code == ExitCode.FAILURE
    shown = person.types("import", "show", import_id)
    assert "no SKILL.md" in shown.stdout
    dropped = person.types("import", "discard", import_id)
    assert dropped.exit_code == ExitCode.OK, dropped.stderr
    assert person.gets("import", "list")["items"] == []
    missing = person.types("import", "add", str(tmp_path / "nowhere.zip"))
    assert missing.exit_code == ExitCode.USAGE
    bundle.rename(tmp_path / "notes.txt")
    wrong = person.types("import", "upload", str(tmp_path / "notes.txt"))
    assert "SKILL_IMPORT_UNSUPPORTED_EXTENSION" in wrong.stderr
