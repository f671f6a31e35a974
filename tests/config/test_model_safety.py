import pytest

from config.origins import SettingsError
from config.settings import Settings, describe, load_settings

KEY = "sk-" + "canaryKEY" * 4
URL = "https://models.example/v1"


def test_no_model_is_asked_unless_one_is_named() -> None:
    settings = load_settings()
    assert (settings.model_base_url, settings.model_name, settings.model_api_key_ref) == (None, None, None)


@pytest.mark.parametrize(
    "url",
    [
        "https://models.example/v1",
        "https://10.1.2.3:8443/v1",
        "http://127.0.0.1:11434/v1",
        "http://localhost:8080/v1",
        "http://[::1]:8080/v1",
    ],
)
def test_an_address_is_encrypted_or_on_this_machine(url: str) -> None:
    assert load_settings(model_base_url=f"{url}/", model_name="m").model_base_url == url


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://models.example/v1", "unencrypted"),
        ("http://10.1.2.3/v1", "unencrypted"),
        ("http://127.0.0.1.evil.example/v1", "unencrypted"),
        ("http://0.0.0.0:8080/v1", "unencrypted"),
        ("https://169.254.169.254/v1", "link-local"),
        ("https://[::ffff:169.254.169.254]/v1", "link-local"),
        ("https://[fe80::1]/v1", "link-local"),
        ("https://[::]/v1", "unspecified"),
        (f"https://user:{KEY}@models.example/v1", "without user and password"),
        (f"https://models.example/v1?key={KEY}", "without"),
        ("file:///etc/passwd", "write an address"),
        ("gopher://models.example", "write an address"),
        ("models.example", "write an address"),
    ],
)
def test_any_other_address_is_refused(url: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as refused:
        load_settings(model_base_url=url, model_name="m")
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("reference", [KEY, "env:", "env:A B", "env:1A", "file:", "file:a\nb", "vault:x", ""])
def test_a_key_in_place_of_its_reference_is_refused_and_not_repeated(reference: str) -> None:
    with pytest.raises(SettingsError, match="never the key itself") as refused:
        load_settings(model_base_url=URL, model_name="m", model_api_key_ref=reference)
    assert KEY not in str(refused.value)


def test_the_settings_that_are_shown_hold_the_reference_and_not_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WRITER_KEY", KEY)
    settings = load_settings(model_base_url=URL, model_name="m", model_api_key_ref="env:WRITER_KEY")
    shown = {view.name: view.value for view in describe(settings)}
    assert shown["model_api_key_ref"] == "env:WRITER_KEY"
    assert KEY not in str(shown) + repr(settings)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"model_name": "m"}, "set both"),
        ({"model_base_url": URL}, "set both"),
        ({"model_api_key_ref": "env:K"}, "model_base_url is not set"),
        ({"model_timeout": "5m"}, "from 1s to 60s"),
        ({"model_timeout": "0s"}, "model_timeout"),
        ({"find_by_model": True}, "find_by_model: needs a language model"),
        ({"find_model_timeout": "1m"}, "from 100ms to 20s"),
        ({"model_max_output_tokens": 100_000}, "model_max_output_tokens"),
    ],
)
def test_half_a_model_and_times_nobody_waits_are_refused(fields: dict[str, object], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        load_settings(**fields)


def test_the_settings_of_a_model_have_no_field_for_a_key() -> None:
    assert {name for name in Settings.model_fields if "model_" in name and "key" in name} == {
        "model_api_key_ref",
        "skill_model_key_refs",
    }
