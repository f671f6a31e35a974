from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ONE_SHOT = {
    dependency
    for service in SERVICES.values()
    for dependency, how in service.get("depends_on", {}).items()
    if how["condition"] == "service_completed_successfully"
}


@pytest.mark.parametrize("name", SERVICES)
def test_every_image_is_pinned_to_a_release(name: str) -> None:
    image, _, tag = SERVICES[name]["image"].rpartition(":")
    assert image
    assert tag.count(".") >= 1


@pytest.mark.parametrize("name", sorted(SERVICES.keys() - ONE_SHOT))
def test_every_part_that_stays_up_has_a_health_check(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_opened_on_the_loopback_interface_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


@pytest.mark.parametrize("name", SERVICES)
def test_no_password_is_written_in_the_file(name: str) -> None:
    environment = SERVICES[name].get("environment", {})
    named = {key for key in environment if "PASSWORD" in key or key.endswith(("_PWD", "_TOKEN", "_KEY"))}
    assert all(environment[key].startswith("/run/secrets/") for key in named)


def test_every_secret_comes_from_a_file_that_is_made_and_never_committed() -> None:
    made = (ROOT / "docker" / "make-secrets.sh").read_text(encoding="utf-8")
    for name, secret in COMPOSE["secrets"].items():
        assert secret == {"file": f"docker/secrets/{name}"}
        assert name in made
    assert "/docker/secrets/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_every_mounted_script_is_there() -> None:
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", [])]
    files = [ROOT / mount.split(":")[0] for mount in mounts if mount.startswith("./")]
    assert files
    assert all(file.is_file() for file in files)
