from pathlib import Path

import pytest

from clients.platform.key_reference import KeyUnavailable, read_api_key


def test_a_key_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRITER_KEY", "sk-1\n")
    assert read_api_key("env:WRITER_KEY") == "sk-1"


def test_a_key_is_read_from_a_private_file_at_each_use(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    for key in ("sk-old", "sk-new"):
        file.write_text(f"{key}\n")
        assert read_api_key(f"file:{file}") == key


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-1")
    file.chmod(0o640)
    with pytest.raises(KeyUnavailable, match=r"mode 0640.*chmod 600") as refused:
        read_api_key(f"file:{file}")
    assert "sk-1" not in str(refused.value)


@pytest.mark.parametrize("content", ["", "two words", "a\nb", "café", "k" * 5000, "\x00"])
def test_what_is_no_key_is_refused_without_repeating_it(tmp_path: Path, content: str) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_text(content)
    with pytest.raises(KeyUnavailable) as refused:
        read_api_key(f"file:{file}")
    assert not content.strip() or content not in str(refused.value)


def test_a_key_that_is_not_there_is_named_by_its_place(tmp_path: Path) -> None:
    with pytest.raises(KeyUnavailable, match="WRITER_KEY holds no key"):
        read_api_key("env:WRITER_KEY")
    with pytest.raises(KeyUnavailable, match="cannot be read"):
        read_api_key(f"file:{tmp_path / 'missing'}")
    with pytest.raises(KeyUnavailable, match="cannot be read"):
        read_api_key(f"file:{tmp_path}")
