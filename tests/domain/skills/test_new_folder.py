"""The folder that ``apprentice skills new`` makes: valid for each runner, and no name or address that is not."""

from typing import Any

import pytest

from contracts.skills.manifest import SkillBackend
from domain.skills.manifest_reading import read_manifest
from domain.skills.new_folder import NoSkillName, new_folder

URL = "https://example.com/greet"


def files_of(name: str, backend: SkillBackend) -> dict[str, str]:
    return new_folder(name, backend, URL if backend is SkillBackend.HTTP else None)


def manifest_of(name: str, files: dict[str, str]) -> Any:
    return read_manifest(name, files["SKILL.md"], files.get("manifest.json"), files)


@pytest.mark.parametrize("backend", SkillBackend)
def test_the_folder_of_each_runner_is_valid_as_it_is(backend: SkillBackend) -> None:
    found = manifest_of("greet-guests", files_of("greet-guests", backend))
    assert (found.function_name, found.tools[0].backend) == ("greet_guests", backend)
    assert not found.confirmation_required
    assert found.input_schema["required"] == ["name"]


@pytest.mark.parametrize(
    "name", ["on", "no", "null", "true", "1e5", "40", "0x1f", "a-", "a" * 64, "2026-11-23"]
)
@pytest.mark.parametrize("backend", [SkillBackend.PYTHON, SkillBackend.OS_COMMAND])
def test_names_that_yaml_reads_as_something_else_make_a_valid_folder(
    name: str, backend: SkillBackend
) -> None:
    assert manifest_of(name, files_of(name, backend)).name == name


@pytest.mark.parametrize(
    "name",
    ["", "a", "A", "-a", "a_b", "a b", "a/b", "../a", ".a", "a" * 65, "grüße", "ask-openclaw", "a\n", "a@2"],
)
def test_a_name_that_no_skill_may_have_is_refused(name: str) -> None:
    with pytest.raises(NoSkillName):
        new_folder(name, SkillBackend.PYTHON)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com",
        "https://",
        "https://u:p@example.com/",
        "https://[",
        "http://a:0/",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(NoSkillName):
        new_folder("greet", SkillBackend.HTTP, url)
