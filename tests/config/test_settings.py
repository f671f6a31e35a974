import os
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from config.origins import SettingsError, unknown_variables
from config.settings import (
    Settings,
    as_environment,
    describe,
    load_settings,
    names_a_cluster,
    prepare_data_dir,
    temporal_connect_kwargs,
)


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("APPRENTICE_DATA_DIR", str(folder))
    return folder


def write_config(data_dir: Path, text: str, mode: int = 0o600) -> Path:
    file = data_dir / "apprentice.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_everything_lives_under_the_data_directory_unless_told_otherwise(data_dir: Path) -> None:
    settings = load_settings()
    assert settings.database_url == f"sqlite:///{data_dir}/apprentice.db"
    assert settings.memory_root == data_dir / "ELNOR_MEMORY"
    assert settings.workspace == data_dir / "openclaw-workspace"


def test_of_a_folder_five_thousand_files_of_a_mebibyte_and_sixty_four_in_all_are_kept() -> None:
    kept = Settings().input_limits
    assert (kept.max_files, kept.max_file_bytes, kept.max_total_bytes) == (5_000, 2**20, 64 * 2**20)


def test_an_argument_wins_over_the_environment_which_wins_over_the_file(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(data_dir, 'api_port = 1001\ntemporal_port = 1002\ntimezone = "Europe/Berlin"\n')
    monkeypatch.setenv("APPRENTICE_API_PORT", "2001")
    monkeypatch.setenv("APPRENTICE_TEMPORAL_PORT", "2002")
    settings = load_settings(api_port=3001)
    assert (settings.api_port, settings.temporal_port, settings.timezone) == (3001, 2002, "Europe/Berlin")


def test_every_setting_is_shown_with_its_source(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_config(data_dir, 'timezone = "Europe/Berlin"\n')
    monkeypatch.setenv("APPRENTICE_TEMPORAL_PORT", "2002")
    views = {view.name: view for view in describe(load_settings(api_port=3001))}
    assert set(views) == set(Settings.model_fields)
    assert views["api_port"].source == "argument"
    assert views["temporal_port"].source == "APPRENTICE_TEMPORAL_PORT"
    assert views["timezone"].source == str(file)
    assert views["log_level"].source == "default"


def test_a_file_named_by_the_environment_is_read_in_place_of_the_others(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(data_dir, "api_port = 1\n")
    named = tmp_path / "named.toml"
    named.write_text("api_port = 2\n", encoding="utf-8")
    monkeypatch.setenv("APPRENTICE_CONFIG", str(named))
    assert load_settings().api_port == 2


def test_a_named_file_that_is_missing_is_refused(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_CONFIG", str(tmp_path / "missing.toml"))
    with pytest.raises(SettingsError, match=r"APPRENTICE_CONFIG names .*missing\.toml"):
        load_settings()


def test_an_unknown_key_of_the_file_is_refused_with_the_likely_one(data_dir: Path) -> None:
    file = write_config(data_dir, "api_prt = 1\n")
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert str(refused.value) == f"api_prt (from {file}) is no setting: did you mean api_port?"


def test_a_file_that_is_no_toml_is_refused_by_name(data_dir: Path) -> None:
    file = write_config(data_dir, "api_port = = 1\n")
    with pytest.raises(SettingsError, match=str(file)):
        load_settings()


def test_every_wrong_setting_is_named_with_its_source_at_once(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(data_dir, 'timezone = "Middle/Earth"\n')
    monkeypatch.setenv("APPRENTICE_API_PORT", "70000")
    with pytest.raises(SettingsError) as refused:
        load_settings()
    first, second = str(refused.value).splitlines()
    assert first.startswith("api_port (from APPRENTICE_API_PORT): ")
    assert second.startswith("timezone (from ")
    assert "'Middle/Earth' is no time zone" in second


def test_an_address_that_other_machines_reach_is_refused_unless_it_is_meant(data_dir: Path) -> None:
    with pytest.raises(SettingsError, match="allow_insecure_bind = true"):
        load_settings(api_host="0.0.0.0")
    assert (
        load_settings(api_host="0.0.0.0", allow_insecure_bind=True).local_api_url == "http://127.0.0.1:8040"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_a_loopback_address_is_always_accepted(data_dir: Path, host: str) -> None:
    assert load_settings(api_host=host).api_host == host


def test_an_ipv6_address_is_put_in_brackets(data_dir: Path) -> None:
    assert load_settings(api_host="::1", api_port=8).api_url == "http://[::1]:8"


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_data_directory_that_others_can_write_is_refused(data_dir: Path, mode: int) -> None:
    data_dir.chmod(mode)
    with pytest.raises(SettingsError, match="chmod go-w"):
        load_settings()


@pytest.mark.parametrize(("memory", "workspace"), [("a", "a/b"), ("a/b", "a"), ("a", "a"), ("a", "b/../a/c")])
def test_memory_and_workspace_inside_one_another_are_refused(
    data_dir: Path, memory: str, workspace: str
) -> None:
    with pytest.raises(SettingsError, match="two separate folders"):
        load_settings(memory_root=data_dir / memory, workspace=data_dir / workspace)


def test_the_same_port_twice_is_refused_but_two_free_ones_are_not(data_dir: Path) -> None:
    with pytest.raises(SettingsError, match="api_port and temporal_port are both 7000"):
        load_settings(api_port=7000, temporal_port=7000)
    assert load_settings(api_port=0, temporal_port=0).api_port == 0


def test_a_database_this_service_does_not_speak_to_is_refused(data_dir: Path) -> None:
    with pytest.raises(SettingsError, match="begins with 'mysql'"):
        load_settings(database_url="mysql://host/name")


def test_a_password_in_a_file_that_others_can_read_is_refused(data_dir: Path) -> None:
    text = 'database_url = "postgresql+psycopg://me:hunter2@host/name"\n'
    write_config(data_dir, text, mode=0o644)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert "chmod 600" in str(refused.value)
    assert "hunter2" not in str(refused.value)
    write_config(data_dir, text, mode=0o600)
    assert "hunter2" in load_settings().database_url


def test_a_database_password_is_never_shown(data_dir: Path) -> None:
    settings = load_settings(database_url="postgresql+psycopg://me:hunter2@host/name")
    shown = {view.name: view.value for view in describe(settings)}
    assert shown["database_url"] == "postgresql+psycopg://me:***@host/name"
    assert "hunter2" not in repr(settings)


def test_a_password_file_completes_the_database_url(data_dir: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("p@ss/word\n", encoding="utf-8")
    settings = load_settings(
        database_url="postgresql+psycopg://me@host:5432/name", database_password_file=secret
    )
    assert settings.database_url == "postgresql+psycopg://me:p%40ss%2Fword@host:5432/name"


def test_a_child_process_given_the_environment_has_the_same_settings(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("word", encoding="utf-8")
    parent = load_settings(
        api_port=12,
        database_url="postgresql+psycopg://me@host/name",
        database_password_file=secret,
        arm_timeout=timedelta(minutes=90),
        allow_insecure_bind=True,
        agent_display_name="Ada",
    )
    for name, value in as_environment(parent).items():
        monkeypatch.setenv(name, value)
    assert load_settings().model_dump() == parent.model_dump()


def test_settings_cannot_be_changed(data_dir: Path) -> None:
    settings = load_settings()
    with pytest.raises(ValidationError, match="frozen"):
        settings.api_port = 1


@pytest.mark.parametrize("url", ["ftp://host", "host:80", "https://host/?a=b", "https://"])
def test_a_public_address_must_be_one_that_browsers_open(data_dir: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="public_url"):
        load_settings(public_url=url)


def test_the_public_address_is_where_clients_go(data_dir: Path) -> None:
    settings = load_settings(public_url="https://apprentice.example/")
    assert settings.api_url == "https://apprentice.example"
    assert settings.console_url.startswith("https://apprentice.example/")
    assert settings.local_api_url == "http://127.0.0.1:8040"


def test_the_embedded_server_is_used_unless_the_environment_names_another(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(temporal_port=7001)
    assert temporal_connect_kwargs(settings) == {"target_host": "127.0.0.1:7001", "namespace": "default"}
    monkeypatch.setenv("TEMPORAL_ADDRESS", "temporal.example:7233")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "team")
    assert names_a_cluster(os.environ)
    arguments = temporal_connect_kwargs(settings)
    assert (arguments["target_host"], arguments["namespace"]) == ("temporal.example:7233", "team")


def test_variables_that_name_no_setting_are_found() -> None:
    environment = {
        "APPRENTICE_API_PORT": "1",
        "APPRENTICE_CONFIG": "x",
        "APPRENTICE_APIPORT": "1",
        "HOME": "h",
    }
    assert unknown_variables(Settings, environment) == ["APPRENTICE_APIPORT"]


def test_the_folders_are_made_for_their_owner_only(data_dir: Path) -> None:
    settings = load_settings(data_dir=data_dir / "new")
    prepare_data_dir(settings)
    prepare_data_dir(settings)
    assert [
        folder.stat().st_mode & 0o777
        for folder in (settings.data_dir, settings.log_dir, settings.temporal_dir)
    ] == [0o700] * 3
