import json
from pathlib import Path

import pytest
from sqlalchemy import update
from typer.testing import CliRunner, Result

from cli.platform.memory_commands import app
from cli.platform.output import ExitCode
from config.settings import Settings, load_settings
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, append
from stores.platform.projection.documents import put_document
from stores.platform.projection.projector import Projector
from stores.platform.tables import journal
from tests.fixtures.databases import migrated

ENTRY = JournalDraft("system/learning/receipts", "session/1", "olga", "c-1", "2026-11-01T00:00:00Z", {"n": 1})


@pytest.fixture
def installation(tmp_path: Path) -> Settings:
    """An installation with one document and one receipt, both projected."""
    (tmp_path / "data").mkdir()
    settings = load_settings(data_dir=tmp_path / "data")
    migrated(settings.database_url)
    database = Database(settings.database_url)
    with database.write() as connection:
        put_document(connection, "memory", "system/current.json", b"{}\n")
        append(connection, [ENTRY])
    Projector(database, settings.memory_root, settings.workspace).catch_up()
    database.close()
    return settings


def _run(settings: Settings, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--data-dir", str(settings.data_dir)])


def test_an_intact_tree_is_verified(installation: Settings) -> None:
    result = _run(installation, "verify")
    assert result.exit_code == ExitCode.OK
    assert "2 files and 1 journal entries checked" in result.stdout
    assert "as it was written" in result.stdout


def test_a_changed_file_is_named_with_the_remedy_and_the_remedy_works(installation: Settings) -> None:
    current = installation.memory_root / "system/current.json"
    current.write_bytes(b"[]\n")
    found = _run(installation, "verify")
    assert found.exit_code == ExitCode.FAILURE
    assert "system/current.json" in found.stderr
    assert "apprentice memory rebuild" in found.stderr
    assert "as it was written" not in found.stdout
    assert _run(installation, "rebuild").exit_code == ExitCode.OK
    assert current.read_bytes() == b"{}\n"
    assert _run(installation, "verify").exit_code == ExitCode.OK


def test_programs_read_the_same_as_json(installation: Settings) -> None:
    (installation.memory_root / "stranger").write_bytes(b"?")
    found = _run(installation, "verify", "--json")
    assert found.exit_code == ExitCode.FAILURE
    answer = json.loads(found.stdout)
    assert answer["intact"] is False
    assert [difference["path"] for difference in answer["report"]["differences"]] == ["stranger"]
    rebuilt = json.loads(_run(installation, "rebuild", "--json").stdout)
    assert rebuilt["report"]["unexplained_removed"] == 1


def test_a_journal_that_was_tampered_with_is_reported(installation: Settings) -> None:
    database = Database(installation.database_url)
    with database.write() as connection:
        connection.execute(update(journal).values(owner="mallory"))
    database.close()
    found = _run(installation, "verify")
    assert found.exit_code == ExitCode.FAILURE
    assert "entry 1 (session/1 number 1) was changed" in found.stderr


def test_without_an_installation_nothing_is_made_and_the_next_step_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["verify", "--data-dir", str(tmp_path)])
    assert result.exit_code == ExitCode.NOT_READY
    assert "apprentice up" in result.stderr
    assert list(tmp_path.iterdir()) == []
