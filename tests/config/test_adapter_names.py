"""Adapters are taken out of use by their names, and the names survive the way to a child process."""

from pathlib import Path

import pytest

from config.origins import SettingsError
from config.settings import Settings, as_environment, load_settings
from contracts.learning.observation import ObservationAdapterKind as Kind

TWO = (Kind.BROWSER_DOM, Kind.PROCESS_LAUNCH)


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("APPRENTICE_DATA_DIR", str(tmp_path / "data"))


def test_no_adapter_is_disabled_unless_told() -> None:
    settings = load_settings()
    assert settings.disabled_adapters == ()
    assert as_environment(settings)["APPRENTICE_DISABLED_ADAPTERS"] == ""


def test_names_stand_between_commas_and_reach_a_child_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPRENTICE_DISABLED_ADAPTERS", " browser_dom, process_launch,")
    settings = load_settings()
    assert settings.disabled_adapters == TWO
    for name, value in as_environment(settings).items():
        monkeypatch.setenv(name, value)
    assert load_settings().disabled_adapters == TWO


def test_a_file_may_list_them(tmp_path: Path) -> None:
    (tmp_path / "apprentice.toml").write_text('disabled_adapters = ["browser_dom", "process_launch"]\n')
    (tmp_path / "apprentice.toml").chmod(0o600)
    assert load_settings().disabled_adapters == TWO
    assert Settings(disabled_adapters="browser_dom").disabled_adapters == TWO[:1]  # type: ignore[arg-type]


def test_a_name_that_is_none_is_refused_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPRENTICE_DISABLED_ADAPTERS", "browser")
    with pytest.raises(SettingsError, match="APPRENTICE_DISABLED_ADAPTERS"):
        load_settings()
